"""When a step of a preparation is done, what it is known by, and its changes of small files."""

import copy
import json
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from studio.domain.errors import BadInput, Damaged
from studio.domain.manifests import ModelSpec
from studio.domain.preparing import Change, DoneWhen, PreparationStep
from studio.host.files import sha256_bytes, sha256_file
from studio.models import weight_map

_TEXT_LIMIT_BYTES = 16 << 20


def is_done(folder: Path, when: DoneWhen) -> bool:
    """Tell whether a folder holds what a step leaves behind; without a condition it never does.

    Raises: Damaged, BadInput, HostLacks about an index or header that cannot be read; OSError.
    """
    if not (when.files or when.tensors or when.digests):
        return False
    if not all((folder / name).is_file() for name in (*when.files, *when.digests)):
        return False
    if when.tensors and not weight_map.all_match(weight_map.where(folder), when.tensors):
        return False
    return all(sha256_file(folder / name) == digest for name, digest in when.digests.items())


def undone(folder: Path, spec: ModelSpec) -> tuple[PreparationStep, ...]:
    """Return the steps that a folder needs and does not show to be done.

    Of a step without a condition nothing can be seen, so it does not count. Raises: as `is_done`.
    """
    needed = (step for step in spec.preparation if not step.optional)
    return tuple(
        step for step in needed if step.done != DoneWhen() and not is_done(folder, step.done)
    )


def digest(step: PreparationStep, script: bytes) -> str:
    """Return what a step is known by: all that it says of what is done, and its script."""
    said = msgspec.structs.replace(
        step, what="", effect=None, open=None, memory_bytes=None, disk_bytes=None, takes_s=None
    )
    return sha256_bytes(msgspec.json.encode(said, order="deterministic") + b"\0" + script)


def changed_files(
    folder: Path, changes: Iterable[Change], newer: Path | None = None
) -> dict[str, bytes]:
    """Return the files that the changes come to, by name; writes nothing.

    A file that lies in `newer` too is taken from there.

    Raises: Damaged (`prepare-change`) when a file is not what the change expects; BadInput.
    """
    texts: dict[str, str] = {}
    for change in changes:
        if Path(change.file).name != change.file:
            raise BadInput(
                "prepare-step", f"A preparation step changes {change.file}, which is no plain name."
            )
        before = texts.get(change.file)
        place = folder if newer is None or not (newer / change.file).is_file() else newer
        texts[change.file] = _changed(place / change.file, before, change)
    return {name: text.encode() for name, text in texts.items()}


def json_text(document: object) -> str:
    """Return a JSON file's text, as models' own files are written."""
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _changed(path: Path, before: str | None, change: Change) -> str:
    text = _text(path) if before is None else before
    if change.prepend is not None and not change.path:
        return text if text.startswith(change.prepend) else change.prepend + text
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _unexpected(path, "it is not JSON") from error
    made = _put(document, change, path)
    return json_text(made)


def _put(document: object, change: Change, path: Path) -> object:
    made = copy.deepcopy(document)
    place: object = made
    for key in change.path[:-1]:
        if not isinstance(place, dict):
            raise _unexpected(path, f"there is no object at {'.'.join(change.path)}")
        place = place.setdefault(key, {})
    if not isinstance(place, dict) or not change.path:
        raise _unexpected(path, f"there is no object at {'.'.join(change.path)}")
    last = change.path[-1]
    place[last] = _value(place.get(last), change, lambda why: _unexpected(path, why))
    return made


def _value(now: object, change: Change, refuse: Callable[[str], Damaged]) -> object:
    where = ".".join(change.path)
    if change.without:
        if now is not None and not isinstance(now, list):
            raise refuse(f"{where} is no list")
        return [one for one in now or [] if not weight_map.matching([str(one)], change.without)]
    if change.prepend is not None:
        if not isinstance(now, str):
            raise refuse(f"{where} is no text")
        return now if now.startswith(change.prepend) else change.prepend + now
    return change.value


def _text(path: Path) -> str:
    try:
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise _unexpected(path, "it is missing") from error
    if len(data) > _TEXT_LIMIT_BYTES:
        raise _unexpected(path, "it is too large to be one")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _unexpected(path, "it is no text") from error


def _unexpected(path: Path, why: str) -> Damaged:
    return Damaged(
        "prepare-change",
        f"{path.name} is not as the preset expects, so that it cannot be changed: {why}.",
        hint="The repository holds something else than the preset was written for; "
        "`weir presets show` names the revision.",
    )
