"""Where a model's published files lie on this machine: used as they lie, without a second copy.

The caches of hubs are looked at by repository and revision; folders of the person's own count when
a proof or the preset's digests say that they are the same files. What was found once, or fetched,
is written down as <models>/.places/<id>.json with names and sizes, which later looks compare.

Source of the caches' form: huggingface_hub 2.4, docs "Understand caching".
"""

import contextlib
import fnmatch
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from studio.domain.errors import BadInput, Damaged, HostLacks
from studio.domain.manifests import ModelSource, ModelSpec
from studio.domain.proofs import ModelState, ProofRecord
from studio.host import hf_folders
from studio.host.documents import read_json, write_json
from studio.host.files import sha256_file
from studio.host.paths import Paths
from studio.models import inspect, proof

FOLDER = ".places"
_MAIN = ("main", "master")
"""The branch without a name: of Hugging Face, and of ModelScope."""
_SHA256_DIGITS = 64
_WEIGHTS = ("*.safetensors", "*.gguf", "*.bin", "*.pt")
_MOST_FOLDERS = 5_000


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Where a model was found or fetched to, and which files belong to it."""

    folder: str
    repository: str
    revision: str | None = None
    """As the preset names it."""
    files: dict[str, int]
    """Name to size in bytes."""


def is_plain(spec: ModelSpec) -> bool:
    """Tell whether a model is served as its one repository has it: nothing is put together."""
    return len(spec.sources) == 1 and not spec.preparation and spec.base is None


def find(paths: Paths, spec: ModelSpec, environ: Mapping[str, str] = os.environ) -> Path | None:
    """Return where a plain model lies outside the Studio's own folder of it, or None.

    Looks at names and sizes, and at the names of the caches' blobs, which are digests.
    """
    if not is_plain(spec):
        return None
    found = _noted(paths, spec)
    if found is not None:
        return found
    source = spec.sources[0]
    for folder in snapshots(paths, source, environ):
        if is_whole(folder, source, spec):
            return folder
    return None


def note(paths: Paths, spec: ModelSpec, folder: Path, files: Mapping[str, int]) -> None:
    """Write down where a model lies outside the Studio's own folder of it. Raises: HostLacks."""
    source = spec.sources[0] if is_plain(spec) else None
    place = Place(
        folder=str(folder),
        repository=source.repository if source is not None else "",
        revision=source.revision if source is not None else None,
        files=dict(files),
    )
    write_json(_file(paths, spec), place)


def shared_root(folder: Path) -> Path:
    """Return what has to be seen for a model's files to be: links of a cache lead to its blobs."""
    kept = folder.parent.parent
    return kept if folder.parent.name == "snapshots" and (kept / "blobs").is_dir() else folder


def is_noted(paths: Paths, spec: ModelSpec) -> bool:
    """Tell whether it is written down where a plain model lies, and it lies there unchanged."""
    return _noted(paths, spec) is not None


def noted_folder(paths: Paths, spec: ModelSpec) -> Path | None:
    """Return where a model is written down to lie, whatever is there now; None: nowhere."""
    try:
        place = read_json(_file(paths, spec), Place)
    except (Damaged, HostLacks):  # it is found anew
        return None
    return None if place is None else Path(place.folder)


def forget(paths: Paths, spec: ModelSpec) -> None:
    """Forget where a model lay."""
    with contextlib.suppress(OSError):
        _file(paths, spec).unlink(missing_ok=True)


def _file(paths: Paths, spec: ModelSpec) -> Path:
    return paths.models / FOLDER / f"{spec.id}.json"


def _noted(paths: Paths, spec: ModelSpec) -> Path | None:
    try:
        place = read_json(_file(paths, spec), Place)
    except (Damaged, HostLacks):  # it is found anew
        return None
    source = spec.sources[0]
    if place is None or (place.repository, place.revision) != (source.repository, source.revision):
        return None
    folder = Path(place.folder)
    sizes = {**place.files, **spec.sizes}
    if not place.files or any(size_of(folder / name) != sizes[name] for name in place.files):
        return None
    return folder


def caches(paths: Paths, environ: Mapping[str, str] = os.environ) -> tuple[Path, ...]:
    """Return the folders in which hubs keep repositories, as huggingface_hub finds its own."""
    return (hf_folders.cache(environ), paths.models / "modelscope")


def snapshots(
    paths: Paths, source: ModelSource, environ: Mapping[str, str] = os.environ
) -> Iterator[Path]:
    """Yield the folders in which caches hold a repository at the wanted revision."""
    for cache in caches(paths, environ):
        kept = cache / f"models--{source.repository.replace('/', '--')}"
        for name in (source.revision,) if source.revision else _MAIN:
            commit = _commit(kept, name)
            if commit is not None and (kept / "snapshots" / commit).is_dir():
                yield kept / "snapshots" / commit


def _commit(kept: Path, revision: str) -> str | None:
    if (kept / "snapshots" / revision).is_dir():
        return revision
    try:
        text = (kept / "refs" / revision).read_text("ascii").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return text if text.isalnum() else None


def is_whole(folder: Path, source: ModelSource, spec: ModelSpec) -> bool:
    """Tell whether a repository's folder holds all that can be known of it without its hub."""
    names = files_of(folder)
    if not _has_named(names, source):
        return False
    wanted = spec.files if is_plain(spec) else ()
    if any(size_of(folder / name) is None for name in wanted):
        return False
    if any(names.get(name, size) != size for name, size in spec.sizes.items()):
        return False
    if not source.files and not any(_matches(name, _WEIGHTS) for name in names):
        return False
    # The index of files that are laid over others names theirs too.
    is_alone = len(spec.sources) == 1 and spec.base is None
    return (not is_alone or _index_is_whole(folder)) and _digests_agree(folder, spec, names)


def _index_is_whole(folder: Path) -> bool:
    try:
        return not inspect.missing_files(folder)
    except (Damaged, BadInput, HostLacks):
        return False


def _has_named(names: Mapping[str, int], source: ModelSource) -> bool:
    return all(any(fnmatch.fnmatchcase(name, one) for name in names) for one in source.files)


def _digests_agree(folder: Path, spec: ModelSpec, names: Mapping[str, int]) -> bool:
    """Compare the preset's digests with the names of blobs; small files are read."""
    if not is_plain(spec):
        return True
    for name, digest in spec.digests.items():
        path = folder / name
        blob = path.resolve().name
        if len(blob) == _SHA256_DIGITS:
            if blob != digest:
                return False
        elif names.get(name, 0) <= 1 << 20 and sha256_file(path) != digest:
            return False
    return True


def in_folders(paths: Paths, spec: ModelSpec, roots: Iterable[Path]) -> Path | None:
    """Return a plain model's folder below any of the roots, proven by digests; None without one.

    A proof that is kept decides by repository and revision; else the preset's digests have to
    cover the weights, and the files are read. Blocks.
    """
    if not is_plain(spec):
        return None
    for folder in candidates(roots):
        if all(size_of(folder / name) is not None for name in spec.files) and _is_same(
            paths, spec, folder
        ):
            return folder
    return None


def _is_same(paths: Paths, spec: ModelSpec, folder: Path) -> bool:
    source = spec.sources[0]
    try:
        record = proof.read_proof(folder, paths.models)
    except (Damaged, HostLacks):
        record = None
    if record is not None and _is_of(record, source, spec):
        return proof.standing(folder, record).state is ModelState.READY
    weights = [name for name in files_of(folder) if _matches(name, _WEIGHTS)]
    if not weights or any(name not in spec.digests for name in weights):
        return False
    if any(size_of(folder / name) != size for name, size in spec.sizes.items()):
        return False
    try:
        return all(sha256_file(folder / name) == one for name, one in spec.digests.items())
    except OSError:
        return False


def _is_of(record: ProofRecord, source: ModelSource, spec: ModelSpec) -> bool:
    known = {file.name: file.sha256 for file in record.files}
    if any(known.get(name, digest) != digest for name, digest in spec.digests.items()):
        return False
    return (
        record.repository == source.repository
        and source.revision is not None
        and record.revision == source.revision
        and all(name in known for name in spec.files)
    )


def candidates(roots: Iterable[Path]) -> Iterator[Path]:
    """Yield folders that hold a config or weights, at most three below a root."""
    seen = 0
    for root in roots:
        level = [root]
        for _depth in range(3):
            below = []
            for folder in level:
                seen += 1
                if seen > _MOST_FOLDERS:
                    return
                yield folder
                below += _folders(folder)
            level = below


def _folders(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return sorted(
                Path(one.path)
                for one in entries
                if one.is_dir(follow_symlinks=False) and not one.name.startswith(".")
            )
    except OSError:
        return []


def files_of(folder: Path) -> dict[str, int]:
    """Return the files below a folder with their sizes; links count as what they lead to."""
    found = {}
    for root, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = Path(root, name)
            size = size_of(path)
            if size is not None:
                found[path.relative_to(folder).as_posix()] = size
    return found


def size_of(path: Path) -> int | None:
    """Return the size of a file, or None where there is none."""
    try:
        return path.stat().st_size if path.is_file() else None
    except OSError:
        return None


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatch.fnmatchcase(name, one) for one in patterns)
