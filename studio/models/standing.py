"""What a preset's models still need: files by name, from where, steps, and how much room.

`look` reads the disk and nothing of any network; `judge` decides and is pure. What a hub lists is
handed in where somebody asked it; without that, names and sizes are those that the preset knows.
"""

import dataclasses
import fnmatch
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from studio.domain.downloads import FetchedFile
from studio.domain.errors import BadInput, StudioError
from studio.domain.manifests import ModelSource, ModelSpec
from studio.domain.preparing import (
    DoneWhen,
    ModelStanding,
    PreparationStep,
    PresetStanding,
    SourceStanding,
    StepStanding,
    StepState,
    WantedFile,
)
from studio.domain.proofs import ModelState
from studio.domain.units import bytes_text
from studio.host.paths import Paths
from studio.models import library, lost, places, proof, steps

Listings = Mapping[str, Sequence[FetchedFile]]
"""Repository to what its hub lists at the wanted revision."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class HeldSource:
    """What of a repository lies in a hub's cache."""

    folder: Path | None
    """Its snapshot, whole or not."""
    is_whole: bool
    files: Mapping[str, int]
    """Name to size."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What lies on the disk of one model."""

    place: Path
    """Where it is, or will be."""
    is_usable: bool
    state: ModelState
    missing: tuple[str, ...]
    """Of the files that it must hold."""
    done: frozenset[str]
    """Names of steps that are seen to be done."""
    sources: tuple[HeldSource, ...]
    cache: Path
    """Where a hub's files go."""
    is_apart: bool
    """Whether that is another disk than the models folder's, so that nothing can be linked."""
    lay_in: Path | None = None
    """Where it lay until somebody else removed or moved it."""


def look(paths: Paths, spec: ModelSpec, environ: Mapping[str, str] = os.environ) -> Look:
    """Read from the disk what is here of a model. Blocks."""
    found = library.find(paths, spec)
    place = found or library.model_folder(paths, spec)
    cache = places.caches(paths, environ)[0]
    return Look(
        place=place,
        is_usable=found is not None,
        state=_state(paths, found, place),
        missing=tuple(n for n in spec.files if places.size_of(place / n) is None),
        done=frozenset(_done(place, spec) if found is not None else ()),
        sources=tuple(_held(paths, spec, one, environ) for one in spec.sources),
        cache=cache,
        is_apart=_device(cache) != _device(paths.models),
        lay_in=lost.was_at(paths.models, spec.id) if found is None else None,
    )


def _state(paths: Paths, found: Path | None, place: Path) -> ModelState:
    if found is None:
        return ModelState.INCOMPLETE
    try:
        record = proof.read_proof(place, paths.models)
    except StudioError:
        return ModelState.UNPROVEN
    return proof.standing(place, record).state


def _done(place: Path, spec: ModelSpec) -> list[str]:
    try:
        record = library.read_prepared(place)
        kept = {one.name for one in record.steps if one.skipped is None} if record else set()
        return [
            step.name
            for step in spec.preparation
            if step.name in kept or (step.done != DoneWhen() and steps.is_done(place, step.done))
        ]
    except (StudioError, OSError):
        return []


def _held(
    paths: Paths, spec: ModelSpec, source: ModelSource, environ: Mapping[str, str]
) -> HeldSource:
    best = HeldSource(folder=None, is_whole=False, files={})
    for folder in places.snapshots(paths, source, environ):
        files = places.files_of(folder)
        if places.is_whole(folder, source, spec):
            return HeldSource(folder=folder, is_whole=True, files=files)
        best = HeldSource(folder=folder, is_whole=False, files=files)
    return best


def _device(folder: Path) -> int | None:
    for place in (folder, *folder.parents):
        try:
            return place.stat().st_dev
        except OSError:
            continue
    return None


def judge(spec: ModelSpec, held: Look, listings: Listings | None = None) -> ModelStanding:
    """Return what a model needs, given what lies on the disk. Pure."""
    if held.is_usable:
        return _usable(spec, held)
    sources = tuple(
        _source(spec, one, here, held, (listings or {}).get(one.repository))
        for one, here in zip(spec.sources, held.sources, strict=True)
    )
    downloads = _sum(one.download_bytes for one in sources)
    if spec.wheel is not None:
        downloads = spec.wheel.bytes
    can_get = library.can_get(spec)
    return ModelStanding(
        id=spec.id,
        title=spec.title,
        state=held.state,
        is_usable=False,
        folder=str(held.place if not places.is_plain(spec) else held.cache),
        sources=sources,
        package=None if spec.wheel is None else f"{spec.wheel.package} {spec.wheel.version}",
        base=spec.base.id if isinstance(spec.base, ModelSpec) else None,
        missing=held.missing,
        steps=tuple(_step(step, is_done=False) for step in spec.preparation),
        download_bytes=downloads,
        disk_bytes=_disk(spec, held, downloads),
        can_get=can_get,
        advice=None if can_get else library.advice(spec, held.place),
        lay_in=str(held.lay_in) if held.lay_in is not None else None,
    )


def _usable(spec: ModelSpec, held: Look) -> ModelStanding:
    return ModelStanding(
        id=spec.id,
        title=spec.title,
        state=held.state,
        is_usable=True,
        folder=str(held.place),
        base=spec.base.id if isinstance(spec.base, ModelSpec) else None,
        steps=tuple(_step(step, is_done=step.name in held.done) for step in spec.preparation),
        can_get=library.can_get(spec),
    )


def _step(step: PreparationStep, *, is_done: bool) -> StepStanding:
    if is_done:
        state = StepState.DONE
    elif step.is_runnable:
        state = StepState.DUE
    else:
        state = StepState.LEFT_OUT if step.optional else StepState.OPEN
    return StepStanding(
        name=step.name,
        what=step.what,
        state=state,
        effect=step.effect,
        optional=step.optional,
        open=step.open,
        memory_bytes=step.memory_bytes,
        disk_bytes=step.disk_bytes,
        takes_s=step.takes_s,
    )


def _source(
    spec: ModelSpec,
    source: ModelSource,
    here: HeldSource,
    held: Look,
    listed: Sequence[FetchedFile] | None,
) -> SourceStanding:
    if listed is not None:
        missing = tuple(
            WantedFile(name=one.path, size_bytes=one.bytes)
            for one in listed
            if here.files.get(one.path) != one.bytes
        )
        size: int | None = sum(one.size_bytes or 0 for one in missing)
    elif here.is_whole:
        missing, size = (), 0
    else:
        missing = tuple(_known(spec, source, here))
        size = _expected(spec, source, here)
    return SourceStanding(
        repository=source.repository,
        hub=source.hub,
        revision=source.revision,
        is_here=not missing and (here.is_whole or listed is not None),
        folder=str(here.folder or held.cache),
        missing=missing,
        download_bytes=size,
        is_listed=listed is not None,
    )


def _known(spec: ModelSpec, source: ModelSource, here: HeldSource) -> Iterable[WantedFile]:
    """Yield the names that the preset knows: plain ones with their sizes, else patterns."""
    names = source.files or (spec.files if places.is_plain(spec) else ())
    for name in names:
        if not any(fnmatch.fnmatchcase(one, name) for one in here.files):
            yield WantedFile(name=name, size_bytes=spec.sizes.get(name))


def _expected(spec: ModelSpec, source: ModelSource, here: HeldSource) -> int | None:
    """Return about how much is still to come: what is here is taken off."""
    whole = source.download_bytes
    if whole is None and places.is_plain(spec):
        whole = spec.disk_bytes
    return None if whole is None else max(0, whole - sum(here.files.values()))


def _disk(spec: ModelSpec, held: Look, downloads: int | None) -> int:
    """Return the room that it takes beside what is here: new files, and copies of unlinkable ones.

    Files that a step writes anew leave room again at its end; the sum is what must be free.
    """
    if spec.wheel is not None:
        return spec.disk_bytes + 2 * spec.wheel.bytes  # as models/fetch asks for
    if downloads is None or not spec.sources:
        return spec.disk_bytes
    if places.is_plain(spec):
        return downloads
    made = sum(step.disk_bytes or 0 for step in spec.preparation if step.is_runnable)
    return downloads + made + (spec.disk_bytes if held.is_apart else 0)


def _sum(sizes: Iterable[int | None]) -> int | None:
    total = 0
    for size in sizes:
        if size is None:
            return None
        total += size
    return total


def with_bases(specs: Iterable[ModelSpec]) -> tuple[ModelSpec, ...]:
    """Return models with those that they are laid over, each once, what is below first.

    Raises: BadInput (`model-base`) for a base that nobody has looked up.
    """
    found: dict[str, ModelSpec] = {}
    for spec in specs:
        if isinstance(spec.base, str):
            raise BadInput("model-base", f"`{spec.id}` is laid over `{spec.base}`, not looked up.")
        below = with_bases([spec.base]) if spec.base is not None else ()
        found |= {one.id: one for one in (*below, spec)}
    return tuple(found.values())


def of_all(
    paths: Paths,
    preset: str | None,
    specs: Iterable[ModelSpec],
    *,
    environ: Mapping[str, str] = os.environ,
    listings: Listings | None = None,
    note: str | None = None,
) -> PresetStanding:
    """Return what the models of a preset still need. Blocks.

    What a usable model is laid over does not count: nothing of it is needed any more.
    """
    wanted = tuple(specs)
    needed = with_bases(one for one in wanted if library.find(paths, one) is None)
    shown = {one.id: one for one in (*needed, *wanted)}
    models = tuple(judge(one, look(paths, one, environ), listings) for one in shown.values())
    return PresetStanding(
        preset=preset,
        models=models,
        download_bytes=_sum(one.download_bytes for one in models),
        disk_bytes=sum(one.disk_bytes for one in models),
        is_usable=all(one.is_usable for one in models),
        note=note,
    )


def in_words(found: PresetStanding) -> str:
    """Return what has to be fetched and from where, as sentences after a blank; may be empty."""
    said = [
        f" {model.title} lay in {model.lay_in} until somebody removed or moved it."
        for model in found.models
        if model.lay_in is not None
    ]
    said += [
        f" {one.repository} ({_size(one)}) goes to {one.folder}."
        for model in found.models
        for one in model.sources
        if not one.is_here
    ]
    return "".join(said)


def _size(source: SourceStanding) -> str:
    size = source.download_bytes
    return "size not known" if size is None else bytes_text(size)
