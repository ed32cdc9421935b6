"""A model folder put together from folders that lie here: linked where links are possible.

Files of a later layer win. Weights are linked, small files are copied, so that a person's change of
one is not a change of the other; the index comes last, so that a folder without it is unfinished.
"""

import dataclasses
import fnmatch
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath

import msgspec

from studio.domain.errors import Damaged
from studio.host import hashing, sharing
from studio.host.sharing import Way
from studio.models import places
from studio.models.library import PREPARED_FILE, RECORD_FILE
from studio.models.weight_map import INDEX

_LINKED_FROM_BYTES = 1 << 20
_OURS = (RECORD_FILE, PREPARED_FILE)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class LayerFile:
    """One file that goes into a model."""

    name: str
    """Relative to the model's folder, with forward slashes."""
    path: Path
    size_bytes: int
    modified_ns: int
    sha256: str | None = None
    """What its source says it is."""
    is_proven: bool = False
    """Whether these very bytes were hashed before."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """One folder that goes into a model."""

    title: str
    files: tuple[LayerFile, ...]


class Held(msgspec.Struct, frozen=True, kw_only=True):
    """A file of the model as it was when it was hashed."""

    size_bytes: int
    sha256: str
    modified_ns: int


def layer(
    folder: Path,
    title: str,
    *,
    patterns: Sequence[str] = (),
    said: Mapping[str, str] | None = None,
    proven: Mapping[str, Held] | None = None,
) -> Layer:
    """Return what of a folder goes into a model; `said` is file to sha256 by its source.

    Raises: OSError.
    """
    files = []
    for name, size in places.files_of(folder).items():
        if name in _OURS or name.startswith(".") or not _is_wanted(name, patterns):
            continue
        path = (folder / name).resolve()
        modified = path.stat().st_mtime_ns
        held = (proven or {}).get(name)
        is_same = held is not None and (held.size_bytes, held.modified_ns) == (size, modified)
        files.append(
            LayerFile(
                name=name,
                path=path,
                size_bytes=size,
                modified_ns=modified,
                sha256=held.sha256 if held is not None and is_same else (said or {}).get(name),
                is_proven=is_same,
            )
        )
    return Layer(title=title, files=tuple(files))


def _is_wanted(name: str, patterns: Sequence[str]) -> bool:
    return not patterns or any(fnmatch.fnmatchcase(name, one) for one in patterns)


def merged(layers: Iterable[Layer]) -> tuple[LayerFile, ...]:
    """Return the files of a model, the index last."""
    chosen = {file.name: file for one in layers for file in one.files}
    return tuple(sorted(chosen.values(), key=lambda file: (file.name == INDEX, file.name)))


def bring(file: LayerFile, folder: Path, title: str) -> tuple[Held, Way]:
    """Give a file its place in a model, proven. Blocks.

    Raises: Damaged (`model-weights`) when it is not what its source says, OSError.
    """
    target = folder.joinpath(*PurePosixPath(file.name).parts)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    if file.size_bytes >= _LINKED_FROM_BYTES:
        way = sharing.share(file.path, target)
    else:
        shutil.copyfile(file.path, target)
        way = Way.LINK  # nothing to speak of
    if file.is_proven and file.sha256 is not None and way is not Way.COPY:
        found = target.stat()
        return Held(
            size_bytes=found.st_size, sha256=file.sha256, modified_ns=found.st_mtime_ns
        ), way
    held = hashed(target)
    if file.sha256 is not None and held.sha256 != file.sha256:
        target.unlink(missing_ok=True)
        raise Damaged(
            "model-weights",
            f"{file.path} is not what {title} says. Expected sha256 {file.sha256[:12]}…, found "
            f"{held.sha256[:12]}….",
            hint="Remove that file and run it again: it is fetched anew.",
        )
    return held, way


def hashed(path: Path) -> Held:
    """Return what a file is now. Blocks. Raises: OSError."""
    found = hashing.hash_file(str(path))
    if found is None or found.sha256 is None:
        raise FileNotFoundError(2, "no file that can be read", str(path))
    return Held(size_bytes=found.size, sha256=found.sha256.hex(), modified_ns=found.mtime_ns)
