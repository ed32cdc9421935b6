"""One scan: every root walked, every model described and judged. Reads config and headers only.

What was read of a model's files is kept in the cache by their names, sizes and times, so that only
what is new or was written costs more than a look at the folders.
"""

import hashlib
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from studio.domain.errors import StudioError
from studio.domain.library import Library, ModelEntry, RootInfo, RootState
from studio.domain.manifests import ModelSpec
from studio.domain.proofs import ProofRecord
from studio.host.bounded import Bounded, Overdue
from studio.host.files import write_atomic
from studio.models import doubles, proof
from studio.models.checked import read_checked
from studio.models.digests import DigestBook
from studio.models.facts import Described, describe, read_files
from studio.models.finding import File, Found, Walked, walk
from studio.models.known import Known, is_served_as, kept, known_of
from studio.models.roots import Root
from studio.models.state import Checked, verdict

_WALK_S = 60.0
"""A network disk that does not answer for so long is said to be missing."""
_CACHE_LIMIT_BYTES = 64 << 20
_CACHE_FORMAT = 1


class _Kept(msgspec.Struct, frozen=True, array_like=True):
    signature: str
    described: Described


class _Cache(msgspec.Struct):
    format: int = _CACHE_FORMAT
    models: dict[str, _Kept] = {}


class Model(msgspec.Struct, frozen=True, kw_only=True):
    """A model with all that was found out about it."""

    entry: ModelEntry
    found: Found
    known: Known | None = None
    proof: ProofRecord | None = None

    @property
    def place(self) -> Path:
        """Return what names its records: its folder, or the file of a loose GGUF."""
        return Path(self.found.path)


class Scan(msgspec.Struct, frozen=True, kw_only=True):
    """What was found."""

    library: Library
    models: tuple[Model, ...] = ()
    to_hash: tuple[File, ...] = ()
    """Files that may be doubles; their digests are not known."""
    folders: dict[str, int] = {}
    """Every folder that was looked at, with its time of change."""


class Shelf:
    """Scans the roots of one home. Its methods block."""

    def __init__(self, models: Path, cache: Path, digests: DigestBook) -> None:
        self._models = models
        self._file = cache / "model-facts.msgpack"
        self._digests = digests
        self._kept: dict[str, _Kept] | None = None

    def scan(self, roots: Sequence[Root], specs: Sequence[ModelSpec] = ()) -> Scan:
        """Return every model in `roots`. Raises nothing about what lies there."""
        began, at = time.perf_counter(), time.time()
        walked = [_walk(root) for root in roots]
        before = self._cache()
        fresh: dict[str, _Kept] = {}
        models: list[Model] = []
        names: set[str] = set()
        places: set[str] = set()
        for found in (one for each in walked for one in each.models):
            if found.path in places:  # a root inside another one
                continue
            places.add(found.path)
            signature = _signature(found)
            read = before.get(found.path)
            if read is None or read.signature != signature:
                read = _Kept(signature, describe(found))
            fresh[found.path] = read
            models.append(self._model(found, read.described, specs, names))
        self._keep(before, fresh, walked)
        twice = doubles.find([self._weights(one) for one in models])
        library = Library(
            models=tuple(_with_doubles(one.entry, twice) for one in models),
            roots=tuple(_root_info(one, models) for one in walked),
            doubles=twice.groups,
            size_bytes=size_of(file for one in models for file in one.found.files),
            not_compared_bytes=sum(file.size or 0 for file in twice.to_hash),
            took_s=time.perf_counter() - began,
            at_s=at,
        )
        return Scan(
            library=library,
            models=tuple(
                msgspec.structs.replace(one, entry=entry)
                for one, entry in zip(models, library.models, strict=True)
            ),
            to_hash=twice.to_hash,
            folders={path: at for one in walked for path, at in one.folders.items()},
        )

    def _model(
        self, found: Found, described: Described, specs: Sequence[ModelSpec], names: set[str]
    ) -> Model:
        place = Path(found.path)
        problems = [*found.problems, *described.problems]
        record = None
        try:
            record = proof.read_proof(place, self._models)
        except StudioError as error:
            problems.append(error.message)
        checked = read_checked(place, self._models)
        told = known_of(found, kept(place, self._models), specs)
        judged = verdict(found, described, told, record, checked)
        if found.unfinished_bytes and record is None and not found.problems:
            problems.append("A download of it has begun and not ended.")
        entry = _entry(found, described, checked, record)
        entry = msgspec.structs.replace(
            entry,
            name=_unique(found, names),
            state=judged.state,
            missing=judged.missing,
            damaged=judged.damaged,
            changed=judged.changed,
            problems=tuple(problems),
            uses=tuple(spec.id for spec in specs if is_served_as(found, spec)),
        )
        return Model(entry=entry, found=found, known=told, proof=record)

    def _weights(self, model: Model) -> doubles.Weights:
        expected = model.known.by_name() if model.known is not None else {}
        proven = {one.name: one.sha256 for one in model.proof.files} if model.proof else {}
        files = []
        for file in doubles.counted(model.found.files):
            digest = proven.get(file.name)
            if digest is None and file.name in expected:
                digest = expected[file.name].sha256
            if digest is None:
                computed = self._digests.get(file)
                digest = computed.sha256 if computed is not None else None
            files.append((file, digest))
        return doubles.Weights(model.entry.name, files)

    def _cache(self) -> dict[str, _Kept]:
        if self._kept is None:
            self._kept = _read_cache(self._file)
        return self._kept

    def _keep(
        self, before: dict[str, _Kept], fresh: dict[str, _Kept], walked: Sequence[Walked]
    ) -> None:
        """Write what was read, with what is known of disks that are not there now."""
        absent = [one.root.path for one in walked if one.state is not RootState.PRESENT]
        for path, read in before.items():
            if path not in fresh and any(_is_below(path, root) for root in absent):
                fresh[path] = read
        self._kept = fresh
        if fresh != before:
            try:
                data = msgspec.msgpack.encode(_Cache(models=fresh))
                write_atomic(self._file, data, is_durable=False)
            except StudioError:
                return  # a full disk, a folder that is read-only: the next scan reads again


def size_of(files: Iterable[File]) -> int:
    """Return the bytes of files, each inode counted once."""
    sizes = {(file.device, file.inode): file.size for file in files if file.size is not None}
    return sum(sizes.values())


def _walk(root: Root) -> Walked:
    try:
        return Bounded(lambda: walk(root), name="model folder", within_s=_WALK_S).call()
    except Overdue:
        note = f"it has not answered for {_WALK_S:.0f} seconds"
        return Walked(root=root, state=RootState.UNREADABLE, note=note)


def _signature(found: Found) -> str:
    told = [(file.name, file.size, file.mtime_ns) for file in read_files(found)]
    return hashlib.sha256(msgspec.msgpack.encode(told), usedforsecurity=False).hexdigest()[:24]


def _entry(
    found: Found, described: Described, checked: Checked | None, record: ProofRecord | None
) -> ModelEntry:
    newest = max((file.mtime_ns for file in found.files), default=None)
    return ModelEntry(
        name=found.name,
        path=found.path,
        root=found.root.path,
        root_kind=found.root.kind,
        facts=described.facts,
        repository=found.repository or (record.repository if record is not None else None),
        revision=found.revision or (record.revision if record is not None else None),
        refs=found.refs,
        files=sum(file.size is not None for file in found.files),
        size_bytes=size_of(found.files) + found.unfinished_bytes,
        changed_at_s=newest / 1e9 if newest else None,
        state=verdict(found, described, None, None, None).state,
        proven_at_s=record.proven_at_s if record is not None else None,
        proven_by=record.source if record is not None else None,
        last_check=checked.result if checked is not None else None,
    )


def _unique(found: Found, names: set[str]) -> str:
    """Return a name that no other model has: where two roots hold the same, with its root."""
    name = found.name if found.name not in names else f"{found.name}@{found.root.path}"
    while name in names:
        name = f"{name}+"
    names.add(name)
    return name


def _root_info(walked: Walked, models: Sequence[Model]) -> RootInfo:
    here = [one.found for one in models if one.found.root == walked.root]
    return RootInfo(
        path=walked.root.path,
        kind=walked.root.kind,
        state=walked.state,
        models=len(here),
        size_bytes=size_of(file for one in here for file in one.files),
        note=walked.note,
    )


def _with_doubles(entry: ModelEntry, twice: doubles.Doubles) -> ModelEntry:
    return msgspec.structs.replace(entry, same_as=twice.same_as.get(entry.name, ()))


def _is_below(path: str, root: str) -> bool:
    return path == root or path.startswith(f"{root.rstrip('/')}/")


def _read_cache(path: Path) -> dict[str, _Kept]:
    try:
        if path.stat().st_size > _CACHE_LIMIT_BYTES:
            return {}
        cache = msgspec.msgpack.decode(path.read_bytes(), type=_Cache)
    except (OSError, ValueError, RecursionError):
        return {}
    return cache.models if cache.format == _CACHE_FORMAT else {}
