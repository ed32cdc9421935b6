"""Takes a model into the Studio's own folder: hard links, shared blocks or a copy that goes on.

Everything happens in a work folder beside; the model appears in one rename. What a kill left there
is taken up by the same call again, as long as the source has not changed.
"""

import contextlib
import errno
import os
import re
import shutil
import stat
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import msgspec

from studio.domain.errors import BadInput, Busy, Damaged, NotFound, StudioError
from studio.domain.library import ImportWay, RootKind, RootState
from studio.host import sharing
from studio.host.documents import read_json, write_json
from studio.host.files import exclusive, from_copy_error, named, not_readable, require_space
from studio.models import library
from studio.models.finding import IMPORTING, File, Found, walk
from studio.models.roots import Root

_LIST = "import.json"
_FILES = "files"
_CHUNK = 16 << 20
_STEP = 1 << 20
_NAME = re.compile(r"[^\W_][\w.+-]{0,127}")
_LINK_REASONS = {
    errno.EXDEV: "it lies on another file system, where a hard link cannot lead",
    errno.EPERM: "this file system, or a rule of this system, allows no hard links to it",
    errno.EACCES: "the rights of that folder allow no hard link",
    errno.EMLINK: "the file has as many names already as its file system allows",
    errno.ENOTSUP: "this file system has no hard links",
    errno.ENOSYS: "this file system has no hard links",
}
OnBytes = Callable[[int, int], None]


class Taken(NamedTuple):
    """What came of it."""

    folder: Path
    by: ImportWay
    reason: str | None
    linked: int
    cloned: int
    copied: int
    written_bytes: int


class _Listed(msgspec.Struct, frozen=True, kw_only=True):
    folder: str
    by: ImportWay
    files: tuple[tuple[str, int, int], ...]


def source(path: Path) -> Found:
    """Return the one model at `path`: a folder, a GGUF, or a repository of a hub's cache.

    Raises: NotFound (`model-missing`, `model-none-here`), BadInput (`model-several`), Damaged
    (`model-incomplete`), HostLacks (`not-readable`).
    """
    if not os.path.lexists(path):
        raise NotFound(
            "model-missing",
            f"There is no {path}.",
            hint="Name a folder with weights in it, or a GGUF file.",
        )
    walked = walk(Root(path=str(path), kind=RootKind.REFERENCE))
    if walked.state is RootState.UNREADABLE:
        raise not_readable(OSError(walked.note or "it is refused"), path)
    models = walked.models
    if len(models) > 1:
        plain = [one for one in models if one.repository is not None and "@" not in one.name]
        models = tuple(plain) if len(plain) == 1 else models
    if not models:
        raise NotFound(
            "model-none-here",
            f"{path} holds no model: no config.json, no safetensors and no GGUF.",
            hint="Name the folder that the weights lie in.",
        )
    if len(models) > 1:
        names = ", ".join(sorted(one.name for one in models)[:5])
        raise BadInput(
            "model-several",
            f"{path} holds {len(models)} models: {names}.",
            hint="Name one of them, or add the whole folder: `weir models roots add`.",
        )
    found = models[0]
    broken = [file.name for file in found.files if file.size is None]
    if broken or not found.files:
        raise Damaged(
            "model-incomplete",
            f"{path} is not whole: {', '.join(broken[:3]) or 'it has no files'}.",
            hint="Let its download end first.",
        )
    return found


def name_for(found: Found, wanted: str | None) -> str:
    """Return what a model is called in our folder. Raises: BadInput (`model-name`)."""
    given = wanted if wanted is not None else found.name.partition("@")[0].replace("/", "--")
    name = given.removesuffix(".gguf") if found.is_loose and wanted is None else given
    name = name if wanted is not None else re.sub(r"[^\w.+-]+", "-", name).lstrip("-._")[:128]
    if not _NAME.fullmatch(name) or len(name.encode()) > 200:
        raise BadInput(
            "model-name",
            f"`{name[:100]}` cannot be the name of a model.",
            hint="Letters, digits, `.`, `-`, `_` and `+`; it begins with a letter or digit.",
        )
    return name


def require_inside(found: Found) -> None:
    """Raise BadInput (`import-link-outside`) where a link leads out of the model's own folder."""
    homes = [Path(found.folder).resolve()]
    if found.cache_folder is not None:
        homes.append(Path(found.cache_folder).resolve())
    for file in found.files:
        real = Path(file.path).resolve()
        if not any(real.is_relative_to(home) for home in homes):
            raise BadInput(
                "import-link-outside",
                f"{file.path} is a link that leads out of the model, to {real}.",
                hint="Import it by reference, which leaves everything where it is.",
            )


def take(found: Found, models: Path, name: str, by: ImportWay, on_bytes: OnBytes) -> Taken:
    """Bring a model into `models` as `name`. Blocks; `on_bytes` gets done and total bytes, and may
    raise to stop it.

    Raises: Busy (`import-running`), BadInput (`model-exists`, `import-link-outside`), HostLacks
    (`disk-space`, `disk-full`, `not-writable`, `not-readable`), Damaged (`import-changed`).
    """
    require_inside(found)
    models.mkdir(parents=True, exist_ok=True)
    lock = models / f"{IMPORTING}{name}.lock"
    with exclusive(lock) as is_ours:
        if not is_ours:
            raise Busy(
                "import-running",
                f"`{name}` is being imported by another process of the Studio.",
                hint="Wait until it is done.",
            )
        try:
            return _Taking(found, models, name, by, on_bytes).run()
        except OSError as error:
            raise from_copy_error(error, models / name, _read_from(found, error)) from error
        finally:
            lock.unlink(missing_ok=True)


def _read_from(found: Found, error: OSError) -> Path:
    """Return the folder that the model is read from; a cache's links lead to its blobs."""
    blobs = Path(found.cache_folder) if found.cache_folder is not None else None
    is_blob = blobs is not None and isinstance(error.filename, str)
    if blobs is not None and is_blob and Path(error.filename).is_relative_to(blobs):
        return blobs
    return Path(found.folder)


class _Taking:
    def __init__(
        self, found: Found, models: Path, name: str, by: ImportWay, on_bytes: OnBytes
    ) -> None:
        self._found = found
        self._target = models / name
        self._work = models / f"{IMPORTING}{name}"
        self._by = by
        self._on_bytes = on_bytes
        self._total = sum(file.size or 0 for file in found.files)
        self._done = 0
        self._written = 0
        self._ways = dict.fromkeys(sharing.Way, 0)
        self._reason: str | None = None

    def run(self) -> Taken:
        """Take it in."""
        if os.path.lexists(self._target):
            raise BadInput(
                "model-exists",
                f"There is a model `{self._target.name}` already.",
                hint="Choose another name with --name, or remove that one first.",
            )
        self._begin()
        files = self._work / _FILES
        for file in self._found.files:
            target = files.joinpath(*PurePosixPath(file.name).parts)
            target.parent.mkdir(parents=True, exist_ok=True)
            self._bring(file, target)
        self._require_unchanged()
        self._carry_record(files)
        files.rename(self._target)
        shutil.rmtree(self._work, ignore_errors=True)
        ways = self._ways
        is_linked = ways[sharing.Way.LINK] > 0
        return Taken(
            folder=self._target,
            by=ImportWay.LINK if is_linked else ImportWay.COPY,
            reason=self._reason,
            linked=ways[sharing.Way.LINK],
            cloned=ways[sharing.Way.CLONE],
            copied=ways[sharing.Way.COPY],
            written_bytes=self._written,
        )

    def _begin(self) -> None:
        """Go on with what a kill left, unless it was of something else."""
        listed = _Listed(
            folder=self._found.folder,
            by=self._by,
            files=tuple((file.name, file.size or 0, file.mtime_ns) for file in self._found.files),
        )
        if _listed(self._work / _LIST) != listed:
            shutil.rmtree(self._work, ignore_errors=True)
        (self._work / _FILES).mkdir(parents=True, exist_ok=True)
        write_json(self._work / _LIST, listed)
        if self._by is ImportWay.COPY and not self._can_clone():
            here = sum(_size(path) for path in (self._work / _FILES).rglob("*"))
            require_space(self._work, max(0, self._total - here), f"A copy of {self._found.name}")

    def _can_clone(self) -> bool:
        is_same = Path(self._found.folder).stat().st_dev == self._work.stat().st_dev
        return is_same and sharing.can_clone(self._work)

    def _bring(self, file: File, target: Path) -> None:
        size = file.size or 0
        if not (target.exists() and target.stat().st_size == size):
            way = self._link(file, target) or self._copied(file, target)
        else:
            is_link = target.samefile(file.path)
            way = sharing.Way.LINK if is_link else sharing.Way.COPY
        self._ways[way] += 1
        self._done += size
        self._on_bytes(self._done, self._total)

    def _link(self, file: File, target: Path) -> sharing.Way | None:
        if self._by is not ImportWay.LINK or self._reason is not None:
            return None
        try:
            Path(target).hardlink_to(Path(file.path).resolve())
        except OSError as error:
            reason = _LINK_REASONS.get(error.errno or 0)
            if error.errno == errno.ENOENT:  # it names both, and only the old one can be gone
                raise named(error, Path(file.path)) from error
            if reason is None:
                raise
            self._reason = f"{reason}; it was copied instead"
            require_space(self._work, self._total - self._done, f"A copy of {self._found.name}")
            return None
        return sharing.Way.LINK

    def _copied(self, file: File, target: Path) -> sharing.Way:
        part = target.with_name(f".{target.name[:200]}.part")
        source = Path(file.path)
        if not part.exists() and sharing.clone(source, part):
            way = sharing.Way.CLONE
        else:
            self._copy(source, part, file.size or 0)
            way = sharing.Way.COPY
            self._written += file.size or 0
        shutil.copystat(source, part)
        part.replace(target)
        return way

    def _copy(self, source: Path, part: Path, size: int) -> None:
        """Copy a file from where an earlier run was cut off."""
        part.touch()
        with source.open("rb") as old, part.open("r+b", buffering=0) as new:
            done = min(part.stat().st_size, size) // _STEP * _STEP
            new.truncate(done)
            while done < size:
                count = _some(source, old.fileno(), new.fileno(), done, min(_CHUNK, size - done))
                if count == 0:
                    break
                done += count
                self._on_bytes(self._done + done, self._total)
            os.fsync(new.fileno())
        if done != size:
            raise _changed(source)

    def _carry_record(self, files: Path) -> None:
        """Lay what the folder was made from beside its files: by that a preset knows them again."""
        is_whole_folder = not self._found.is_loose and self._found.cache_folder is None
        record = library.record_to_carry(Path(self._found.folder)) if is_whole_folder else None
        if record is not None:
            write_json(files / library.PREPARED_FILE, record)

    def _require_unchanged(self) -> None:
        for file in self._found.files:
            about = Path(file.path).stat()
            if (about.st_size, about.st_mtime_ns) != (file.size, file.mtime_ns):
                raise _changed(Path(file.path))


def _some(source: Path, old: int, new: int, at: int, count: int) -> int:
    """Copy a piece, in the kernel where it can do that."""
    if hasattr(os, "copy_file_range"):
        with contextlib.suppress(OSError):
            os.lseek(new, at, os.SEEK_SET)
            copied = os.copy_file_range(old, new, count, at)
            if copied:
                return copied
    try:
        data = os.pread(old, count, at)
    except OSError as error:
        raise named(error, source) from error
    written = 0
    while written < len(data):
        written += os.write(new, data[written:])
    return written


def _changed(path: Path) -> StudioError:
    return Damaged(
        "import-changed",
        f"{path} was written while it was copied.",
        hint="Let whoever writes it finish; then import it again.",
    )


def _listed(path: Path) -> _Listed | None:
    try:
        return read_json(path, _Listed)
    except StudioError:
        return None


def _size(path: Path) -> int:
    try:
        about = path.lstat()
    except OSError:
        return 0
    return about.st_size if stat.S_ISREG(about.st_mode) else 0
