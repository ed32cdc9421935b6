"""A client's own file: read, changed as a whole, backed up beside, and put back.

The order makes a kill harmless: the backup is written first, then what will be written is noted,
then the file takes its new form. Whoever comes later can tell from the digests how far it got.
"""

import contextlib
import difflib
import hashlib
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from studio.clients import env_text, json_text, toml_text, yaml_text
from studio.clients.catalogue import FileSpec, Filling
from studio.clients.splices import Json, Step
from studio.domain.clients import ClientState
from studio.domain.errors import BadInput, Busy, Damaged, HostLacks, NotFound, StudioError
from studio.host.documents import read_json, write_json
from studio.host.files import exclusive, make_private, write_atomic

_SCHEMA = 1
_MOST_BYTES = 8 << 20
_BACKUP = "{name}.weir-backup"
_NEW_MODE = 0o600
"""A file that holds a key is nobody else's to read."""
_BOM = "\ufeff"
_CHANGED: dict[str, Callable[[str, tuple[Step, ...], Json], str]] = {
    "json": json_text.changed,
    "toml": toml_text.changed,
    "yaml": yaml_text.changed,
    "env": env_text.changed,
}
_READ: dict[str, Callable[[str], Json]] = {
    "json": json_text.read,
    "toml": toml_text.read,
    "yaml": yaml_text.read,
    "env": env_text.read,
}


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """What the Studio wrote into a client's file, so that it can be taken back."""

    schema_version: int = _SCHEMA
    client: str
    path: str
    before: str | None
    """SHA-256 of the file as it was; None: there was none."""
    after: tuple[str, ...]
    """SHA-256 of each form that the Studio gave it since, the newest last."""
    backup: str | None = None
    key_id: str | None = None
    key_name: str | None = None


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """A file as it is."""

    path: Path
    """Behind all links."""
    data: bytes | None
    """None: there is none."""
    mode: int = _NEW_MODE

    @property
    def digest(self) -> str | None:
        """Return its SHA-256."""
        return None if self.data is None else hashlib.sha256(self.data).hexdigest()


def look(path: Path) -> Seen:
    """Return a file as it is.

    Raises: HostLacks (`client-file-unreadable`), BadInput (`client-file-large`,
    `client-file-no-file`).
    """
    try:
        real = path.resolve()
        with real.open("rb") as file:
            status = os.fstat(file.fileno())
            data = file.read(_MOST_BYTES + 1)
    except FileNotFoundError:
        return Seen(path=path.resolve(), data=None)
    except IsADirectoryError as error:
        raise BadInput(
            "client-file-no-file",
            f"{path} is a folder.",
            hint="Name the file in it with `--file`.",
        ) from error
    except (OSError, RuntimeError) as error:  # a ring of links is a RuntimeError in Python 3.11
        why = getattr(error, "strerror", None) or "its links go round in a circle"
        raise HostLacks(
            "client-file-unreadable",
            f"{path} cannot be read: {why}.",
            hint="Check the file's owner and permissions, or name another one with `--file`.",
        ) from error
    if len(data) > _MOST_BYTES:
        raise BadInput(
            "client-file-large",
            f"{path} is larger than 8 MiB, so it is no configuration of that client.",
            hint="Name the right file with `--file`.",
        )
    return Seen(path=real, data=data, mode=stat.S_IMODE(status.st_mode))


def rewritten(seen: Seen, spec: FileSpec, filling: Filling) -> bytes:
    """Return a file with everything set that a client needs.

    Raises: BadInput (`client-file-broken`, `client-file-odd`), each with the file's name.
    """
    try:
        text = (seen.data or b"").decode("utf-8")
    except UnicodeDecodeError as error:
        line = (seen.data or b"").count(b"\n", 0, error.start) + 1
        raise BadInput(
            "client-file-broken",
            f"{seen.path}, line {line}: it is not UTF-8 text.",
            hint="Save it as UTF-8 in an editor; nothing was changed.",
            data={"line": line},
        ) from error
    mark = _BOM if text.startswith(_BOM) else ""
    text = text.removeprefix(_BOM)
    changed = _CHANGED[spec.format]
    try:
        says = _READ[spec.format](text)
        for at, value in filling.edits(spec.default):
            if not _has(says, at):
                text = changed(text, at, value)
        for at, value in filling.edits(spec.set):
            text = changed(text, at, value)
    except BadInput as error:
        raise BadInput(
            error.code, f"{seen.path}: {error.message}", hint=error.hint, data=error.data
        ) from error
    return (mark + text).encode()


def _has(document: Json, at: tuple[Step, ...]) -> bool:
    for step in at:
        if not isinstance(document, dict) or not isinstance(step, str) or step not in document:
            return False
        document = document[step]
    return True


def diff(seen: Seen, data: bytes) -> str:
    """Return the difference as unified text; empty when there is none."""
    old = (seen.data or b"").decode("utf-8", "replace").splitlines()
    new = data.decode("utf-8", "replace").splitlines()
    name = str(seen.path)
    was = name if seen.data is not None else os.devnull
    return "\n".join(difflib.unified_diff(old, new, was, name, lineterm=""))


class Notes:
    """One note a client, in a folder of the Studio."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, client: str) -> Note | None:
        """Return what was written for a client; a note that cannot be read counts as none."""
        try:
            found = read_json(self._folder / f"{client}.json", Note)
        except (Damaged, HostLacks):
            return None
        return found if found is not None and found.schema_version == _SCHEMA else None

    def put(self, note: Note) -> None:
        """Keep a note. Raises: HostLacks."""
        write_json(self._folder / f"{note.client}.json", note, mode=0o600)

    def drop(self, client: str) -> None:
        """Forget a client."""
        (self._folder / f"{client}.json").unlink(missing_ok=True)

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Let nobody else write meanwhile. Raises: Busy (`clients-busy`), HostLacks."""
        make_private(self._folder)
        with exclusive(self._folder / "lock") as is_held:
            if not is_held:
                raise Busy(
                    "clients-busy",
                    "Another `weir connect` is writing at this moment.",
                    hint="Run it again; nothing was changed.",
                )
            yield


def state(note: Note | None, seen: Seen | None) -> ClientState:
    """Return how a file stands to what was written into it."""
    if note is None or seen is None or str(seen.path) != note.path:
        return ClientState.UNTOUCHED
    if seen.digest in note.after:
        return ClientState.CONNECTED
    return ClientState.UNTOUCHED if seen.digest == note.before else ClientState.CHANGED


def write(
    notes: Notes, client: str, seen: Seen, data: bytes, *, key: tuple[str, str] | None
) -> Note:
    """Give a file its new form; `key` is the id and the name of the key in it.

    Raises: BadInput (`client-file-changed`), HostLacks (`client-file-read-only`, `disk-full`).
    """
    if seen.data is not None and not seen.mode & stat.S_IWUSR:
        raise _read_only(seen.path, "it is marked read-only")
    old = notes.get(client)
    digest = hashlib.sha256(data).hexdigest()
    goes_on = old is not None and old.path == str(seen.path) and seen.digest in old.after
    if goes_on and old is not None:
        note = msgspec.structs.replace(old, after=(*old.after, digest))
    else:
        backup = None if seen.data is None else _back_up(seen)
        note = Note(
            client=client, path=str(seen.path), before=seen.digest, after=(digest,), backup=backup
        )
    if key is not None:
        note = msgspec.structs.replace(note, key_id=key[0], key_name=key[1])
    if look(seen.path).digest != seen.digest:
        raise changed_meanwhile(seen.path)
    notes.put(note)
    _put(seen.path, data, seen.mode)
    return note


def undo(notes: Notes, client: str, title: str) -> tuple[Note, bool]:
    """Put a file back as it was; returns what was written, and whether the file went away.

    Raises: NotFound (`client-not-connected`), BadInput (`client-file-changed`), Damaged
    (`client-backup-damaged`), HostLacks.
    """
    note = notes.get(client)
    if note is None:
        raise NotFound(
            "client-not-connected",
            f"The Studio has written nothing for {title} that could be undone.",
            hint="`weir connect` lists what is connected.",
        )
    path = Path(note.path)
    seen = look(path)
    if seen.digest != note.before:
        if seen.digest not in note.after:
            kept = f" It was kept as {note.backup}." if note.backup else ""
            raise BadInput(
                "client-file-changed",
                f"{path} was changed after the Studio wrote it, so it is not put back.",
                hint=f"Take out the entries named Weir by hand.{kept}",
                data={"path": note.path, "backup": note.backup},
            )
        _restore(note, path, seen.mode)
    notes.drop(client)
    if note.backup is not None:
        with contextlib.suppress(OSError):
            Path(note.backup).unlink(missing_ok=True)
    return note, note.before is None


def changed_meanwhile(path: Path) -> BadInput:
    """Return the error for a file that is other than it was shown."""
    return BadInput(
        "client-file-changed",
        f"{path} has changed since it was shown; nothing was written.",
        hint="Look at the difference again, then write it.",
    )


def _restore(note: Note, path: Path, mode: int) -> None:
    if note.before is None:
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise _read_only(path, error.strerror or "it cannot be removed") from error
        return
    kept = look(Path(note.backup or path))
    if kept.data is None or kept.digest != note.before:
        raise Damaged(
            "client-backup-damaged",
            f"The backup {note.backup} is gone or was changed, so {path} is not put back.",
            hint="Take out the entries named Weir by hand.",
        )
    _put(path, kept.data, mode)


def _back_up(seen: Seen) -> str:
    """Keep a file beside itself, under a name that is free or that already holds the same."""
    assert seen.data is not None
    base = _BACKUP.format(name=seen.path.name)
    for number in range(1, 100):
        path = seen.path.with_name(base if number == 1 else f"{base}-{number}")
        if not path.exists():
            _put(path, seen.data, seen.mode)
            return str(path)
        if not path.is_symlink() and path.read_bytes() == seen.data:
            return str(path)
    raise HostLacks(
        "client-backups-many",
        f"{seen.path.parent} holds a hundred backups of {seen.path.name}.",
        hint="Remove those that nobody needs, then run it again.",
    )


def _put(path: Path, data: bytes, mode: int) -> None:
    try:
        write_atomic(path, data, mode=mode)
    except StudioError as error:
        if error.code == "disk-full":
            raise
        cause = error.__cause__
        why = getattr(cause, "strerror", None) or error.message
        raise _read_only(path, why) from error


def _read_only(path: Path, why: str) -> HostLacks:
    return HostLacks(
        "client-file-read-only",
        f"{path} cannot be written: {why}.",
        hint="Make the file and its folder writable, or name another one with `--file`.",
    )
