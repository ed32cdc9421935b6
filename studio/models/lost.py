"""Models that presets serve and that are not where they were: somebody else removed or moved them.

What was seen is kept as <models>/.served.json. A model is missed until one that serves the same
presets lies here again, until no preset needs it, or until the Studio itself removes it.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from studio.domain.errors import StudioError
from studio.domain.library import LostModel, ModelEntry, RootInfo, RootState
from studio.domain.manifests import ModelSpec
from studio.domain.proofs import ModelState
from studio.host.documents import read_json, write_json

FILE = ".served.json"
_FRESH_S = 86_400.0
"""When a model was last seen is written down once a day: the file is no log."""


class Served(msgspec.Struct, frozen=True, kw_only=True):
    """A model that presets serve, as it was last seen."""

    name: str
    path: str
    root: str
    models: tuple[str, ...]
    """Ids of the models of presets that it is."""
    size_bytes: int | None
    """None: it was served, and never looked at."""
    seen_at_s: float
    is_whole: bool = True
    """As it was last seen; what never was is a download that was given up."""

    @classmethod
    def of(cls, entry: ModelEntry, models: Iterable[str]) -> "Served":
        """Return what is kept of a model that lies here."""
        return cls(
            name=entry.name,
            path=entry.path,
            root=entry.root,
            models=tuple(sorted(models)),
            size_bytes=entry.size_bytes,
            seen_at_s=time.time(),
            is_whole=entry.state not in (ModelState.INCOMPLETE, ModelState.DAMAGED),
        )


class _Book(msgspec.Struct, frozen=True, kw_only=True):
    served: tuple[Served, ...] = ()


class Lost:
    """The models that one home has served. Its methods block."""

    def __init__(self, models: Path) -> None:
        self._file = models / FILE

    def after(
        self,
        here: Sequence[Served],
        roots: Sequence[RootInfo],
        uses: Mapping[str, tuple[str, ...]],
    ) -> tuple[LostModel, ...]:
        """Return what is missed, given what a scan found, and keep what it found.

        `uses` are the presets of each model's id.
        """
        before = _read(self._file)
        missed = still_missed(before, here, uses)
        known = {one.path for one in before}
        kept = [one for one in here if one.is_whole or one.path in known]
        after = (*_dated(before, kept), *missed)
        if after != before:
            _write(self._file, after)
        searched = {root.path for root in roots}
        unseen = {root.path for root in roots if root.state is not RootState.PRESENT}
        return tuple(
            LostModel(
                name=one.name,
                path=one.path,
                uses=tuple(sorted({name for key in one.models for name in uses.get(key, ())})),
                size_bytes=one.size_bytes,
                seen_at_s=one.seen_at_s,
                is_folder_gone=one.root in unseen,
            )
            for one in missed
            # A folder that is not searched any more, or not by this process, took nothing away.
            if one.root in searched or not Path(one.path).exists()
        )

    def forget(self, path: str) -> None:
        """Miss a model no longer."""
        before = _read(self._file)
        after = tuple(one for one in before if one.path != path)
        if after != before:
            _write(self._file, after)


def remember(models: Path, spec: ModelSpec, folder: Path) -> None:
    """Keep where a model of a preset lies that is about to be served. Blocks.

    For whoever never looks at the library: a scan that sees it knows more of it.
    """
    before = _read(models / FILE)
    path = str(folder)
    if any(one.path == path and spec.id in one.models for one in before):
        return
    fresh = Served(
        name=spec.title,
        path=path,
        root=str(folder.parent),
        models=(spec.id,),
        size_bytes=None,
        seen_at_s=time.time(),
    )
    _write(models / FILE, (*before, fresh))


def was_at(models: Path, model_id: str) -> Path | None:
    """Return where a model of a preset was last seen, where nothing is there now. Blocks."""
    for one in _read(models / FILE):
        place = Path(one.path)
        if model_id in one.models and not place.exists():
            return place
    return None


def still_missed(
    before: Sequence[Served], here: Sequence[Served], uses: Mapping[str, tuple[str, ...]]
) -> tuple[Served, ...]:
    """Return what was served, is needed, and is here under no path. Pure."""
    paths = {one.path for one in here}
    served = {key for one in here for key in one.models}
    return tuple(
        one
        for one in before
        if one.path not in paths and any(key in uses and key not in served for key in one.models)
    )


def _dated(before: Sequence[Served], here: Sequence[Served]) -> tuple[Served, ...]:
    """Return what is here with the time of before where that is fresh, so that nothing differs."""
    known = {one.path: one for one in before}
    found = []
    for one in here:
        kept = known.get(one.path)
        is_same = kept is not None and kept == msgspec.structs.replace(
            one, seen_at_s=kept.seen_at_s
        )
        is_fresh = kept is not None and 0 <= one.seen_at_s - kept.seen_at_s < _FRESH_S
        found.append(kept if kept is not None and is_same and is_fresh else one)
    return tuple(found)


def _write(file: Path, served: tuple[Served, ...]) -> None:
    try:
        write_json(file, _Book(served=served))
    except StudioError:
        return  # a full disk: nothing is missed that was not known before


def _read(file: Path) -> tuple[Served, ...]:
    try:
        book = read_json(file, _Book)
    except StudioError:
        return ()  # it is written anew with the next scan
    return book.served if book is not None else ()
