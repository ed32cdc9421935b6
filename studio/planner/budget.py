"""What an engine has for its KV cache, and what lies beside it.

Bytes that are pinned are what they are; otherwise they are what memory.py makes of the card, or
what this machine's own boot of the same settings was seen to leave (calibration.py).
"""

import dataclasses
import math
from collections.abc import Mapping
from typing import Protocol

import msgspec

from studio.domain.geometry import ModelGeometry
from studio.domain.hardware import Gpu
from studio.domain.manifests import Document
from studio.domain.plans import LedgerItem, LedgerPlace
from studio.domain.units import percent_text
from studio.planner import calibration, memory
from studio.planner.calibration import Calibration, Match
from studio.planner.engine import Device, Engine
from studio.planner.memory import Memory, MemoryTable

_UNPINNED_UNKNOWN = (
    "How much is left for the KV cache is not known here: pin it with `kv_cache_memory_bytes`."
)
_PINNED = "`kv_cache_memory_bytes`"
_HEADERS = "the headers of the model's files"
_CAST = "the headers of the model's files, cast"
_PARTLY_KNOWN = 0.1
"""Error of a pool whose model the sources describe in part only: by the count of its layers."""
_WIDTHS = {"float32": 4, "bfloat16": 2, "float16": 2, "half": 2}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """One forecast of one card's memory. None is what nobody knows."""

    items: tuple[LedgerItem, ...] = ()
    """All but the KV pool."""
    in_memory: tuple[LedgerItem, ...] = ()
    """What the cards have no room for, and the machine's memory holds instead."""
    kv_bytes: int | None = None
    kv_error_bytes: int | None = None
    """0: pinned."""
    kv_source: str = ""
    error_bytes: int | None = None
    """Half-width of the sum of items and pool."""
    geometry_error: float = 0.0
    """Share by which the pool may be off because the model is known in part only."""
    unknown: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()


class Part(Document, frozen=True, kw_only=True):
    """One process of an engine without a card."""

    name: str
    title: str
    bytes: int
    error_bytes: int
    source: str


class Processor(Document, frozen=True, kw_only=True):
    """`presets/planner/processor.toml`."""

    schema_version: int
    worker_bytes: int
    """Held by the worker when it measures what is left for the pool, weights apart."""
    worker_error_bytes: int
    parts: tuple[Part, ...]

    @property
    def bytes(self) -> int:
        """Return the sum of the processes."""
        return sum(part.bytes for part in self.parts)


class Models(Protocol):
    """What is served, and by what; a subject of work.py is one."""

    @property
    def engine(self) -> Engine:
        """The engine."""

    @property
    def target(self) -> ModelGeometry | None:
        """The model."""

    @property
    def drafter(self) -> ModelGeometry | None:
        """The model that drafts for it."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """The data that forecasts are made with."""

    processor: Processor
    memory: MemoryTable


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What is known beside settings and cards."""

    tables: Tables
    calibration: Calibration = dataclasses.field(default_factory=Calibration)
    runtime_id: str | None = None
    preset: str | None = None
    memory_bytes: int | None = None
    """Of the machine."""
    is_wsl: bool = False


def forecast(
    model: Models, settings: Mapping[str, object], cards: tuple[Gpu, ...], around: Surroundings
) -> Budget:
    """Return the forecast of one card's memory, or of the machine's, for these settings."""
    seen = calibration.match(
        around.calibration,
        runtime_id=around.runtime_id,
        preset=around.preset,
        cards=calibration.names_of(cards),
        settings=settings,
    )
    pinned = _pinned(settings)
    if model.engine.device is Device.CPU:
        return _in_memory(
            model, around.tables.processor, settings, pinned, seen, around.memory_bytes
        )
    return _on_card(model, settings, cards, around, pinned, seen)


def _pinned(settings: Mapping[str, object]) -> int | None:
    value = settings.get("kv_cache_memory_bytes")
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


# On the processor


def _in_memory(
    models: Models,
    table: Processor,
    settings: Mapping[str, object],
    pinned: int | None,
    seen: Match | None,
    host_bytes: int | None,
) -> Budget:
    """Return the forecast of an engine without a card; its pool is pinned, or a share of memory.

    Source of the share: vLLM 0.32, v1/worker/cpu_worker.py: `gpu_memory_utilization` of the memory
    less what the worker holds by then.
    """
    weights = _weights(models, settings)
    if any(item.bytes is None for item in weights):
        weights = list(_as_seen(tuple(weights), seen))
    items = [*weights, *(_process(part) for part in table.parts)]
    sizes = [item.bytes for item in weights]
    if pinned is not None:
        kv_bytes, error, source = pinned, 0, _PINNED
    elif host_bytes is None or any(size is None for size in sizes):
        return Budget(items=tuple(items), unknown=(_UNPINNED_UNKNOWN,))
    else:
        share = settings.get("gpu_memory_utilization", memory.DEFAULT_SHARE)
        share = float(share) if isinstance(share, int | float) else memory.DEFAULT_SHARE
        held = table.worker_bytes + sum(size or 0 for size in sizes)
        kv_bytes, error = round(share * host_bytes - held), table.worker_error_bytes
        source = f"{percent_text(share)} of the memory, less what the worker holds"
    seen_bytes = _seen_bytes(seen, pinned)
    if seen_bytes is not None:
        kv_bytes, error, source = seen_bytes
    return Budget(
        items=tuple(items),
        kv_bytes=kv_bytes,
        kv_error_bytes=error,
        kv_source=source,
        error_bytes=error + sum(item.error_bytes or 0 for item in items),
    )


def _process(part: Part) -> LedgerItem:
    return LedgerItem(
        name=part.name,
        title=part.title,
        place=LedgerPlace.MEMORY,
        bytes=part.bytes,
        error_bytes=part.error_bytes,
        source=part.source,
    )


def _weights(models: Models, settings: Mapping[str, object]) -> list[LedgerItem]:
    """Return the weights in memory: as stored, or as the number format of the engine makes them."""
    found = []
    for name, title, model in (
        ("weights", "Weights", models.target),
        ("drafter", "Drafter", models.drafter),
    ):
        if model is None:
            continue
        stored = sum(model.weight_bytes.values()) if model.weight_bytes else None
        factor = _WIDTHS.get(str(settings.get("dtype")), 0) / _WIDTHS.get(model.dtype or "", 1)
        is_cast = stored is not None and factor not in (0, 1) and model.dtype in _WIDTHS
        found.append(
            LedgerItem(
                name=name,
                title=title,
                place=LedgerPlace.MEMORY,
                bytes=round(stored * factor) if is_cast and stored is not None else stored,
                error_bytes=None if stored is None else 0,
                source=_CAST if is_cast else _HEADERS,
            )
        )
    return found


def _seen_bytes(seen: Match | None, pinned: int | None) -> tuple[int, int, str] | None:
    """Return the KV bytes that a boot of the same settings was seen to have, None without one."""
    if pinned is not None or seen is None or not seen.is_same or seen.boot.kv_bytes is None:
        return None
    kv_bytes = seen.boot.kv_bytes
    error = max(seen.boot.kv_error_bytes or 0, round(kv_bytes * calibration.ERROR_SHARE))
    return kv_bytes, error, seen.source


# On cards


def _on_card(
    models: Models,
    settings: Mapping[str, object],
    cards: tuple[Gpu, ...],
    around: Surroundings,
    pinned: int | None,
    seen: Match | None,
) -> Budget:
    """Return the forecast of the smallest card; every other one holds the same."""
    if models.target is None:
        return Budget(kv_bytes=pinned, kv_error_bytes=_exact(pinned), kv_source=_PINNED)
    card = min(cards, key=lambda one: one.usable_bytes or 0, default=None)
    made = _memory(models, settings, card, around)
    items = _as_seen(made.items, seen)
    error = _root(items)
    kv: tuple[int, int, str] | None = None if pinned is None else (pinned, 0, _PINNED)
    if kv is None:
        kv = _seen_bytes(seen, pinned) or _left(models, settings, card, around, made, seen)
    if kv is None:
        return Budget(items=items, unknown=made.unknown or (_UNPINNED_UNKNOWN,), error_bytes=error)
    return Budget(
        items=items,
        in_memory=made.in_memory,
        kv_bytes=kv[0],
        kv_error_bytes=kv[1],
        kv_source=kv[2],
        # What the pool takes more, the rest takes less: the sum of an unpinned engine is its share,
        # and what lies beside that.
        error_bytes=error if pinned is not None else _outside_error(items, around),
        geometry_error=0.0 if models.target.is_complete else _PARTLY_KNOWN,
        assumptions=made.assumptions if pinned is None else (),
    )


def _exact(pinned: int | None) -> int | None:
    return None if pinned is None else 0


def _memory(
    models: Models, settings: Mapping[str, object], card: Gpu | None, around: Surroundings
) -> Memory:
    assert models.target is not None
    return memory.forecast(
        models.target,
        models.drafter,
        settings,
        models.engine,
        card=card,
        table=around.tables.memory,
        is_wsl=around.is_wsl,
    )


def _left(
    models: Models,
    settings: Mapping[str, object],
    card: Gpu | None,
    around: Surroundings,
    made: Memory,
    seen: Match | None,
) -> tuple[int, int, str] | None:
    """Return what the profiler leaves, moved by what a boot of other settings was off by."""
    items = _as_seen(made.items, seen)
    rest = _rest(items, settings, card, around)
    left = made.kv_bytes or (made.kv_bytes if rest is None else rest)
    error = _root(items) if made.kv_error_bytes is None else made.kv_error_bytes
    if left is None:
        return None
    if seen is None or seen.boot.kv_bytes is None or _pinned(seen.boot.settings) is not None:
        # A pinned boot says nothing of the rest, but its weights are weights.
        is_better = rest is not None and not made.in_memory
        if is_better and rest is not None:
            return rest, _root(items), made.kv_source
        return left, error, made.kv_source
    then = _memory(models, seen.boot.settings, card, around)
    was = then.kv_bytes or _rest(_as_seen(then.items, seen), seen.boot.settings, card, around)
    if was is None:
        return left, error, made.kv_source
    moved = left + seen.boot.kv_bytes - was
    source = f"{made.kv_source}, moved by what was seen here on {seen.boot.at[:10]}"
    return moved, error // 2, source


def _rest(
    items: tuple[LedgerItem, ...],
    settings: Mapping[str, object],
    card: Gpu | None,
    around: Surroundings,
) -> int | None:
    """Return what `items` leave of the card's share, below zero too; None: an item is not known."""
    total = card.usable_bytes if card is not None else None
    share = settings.get("gpu_memory_utilization", memory.DEFAULT_SHARE)
    if total is None or isinstance(share, bool) or not isinstance(share, int | float):
        return None
    held = [item.bytes for item in items if item.name not in around.tables.memory.outside]
    if any(size is None for size in held):
        return None
    return round(total * share) - sum(size or 0 for size in held)


def _root(items: tuple[LedgerItem, ...]) -> int:
    """Return the error of a sum: that of independent errors is the root of their squares."""
    return math.isqrt(sum((item.error_bytes or 0) ** 2 for item in items))


def _outside_error(items: tuple[LedgerItem, ...], around: Surroundings) -> int:
    outside = around.tables.memory.outside
    return _root(tuple(item for item in items if item.name in outside))


_MODELS = ("weights", "drafter", "vision")
"""Items that an engine reports as one sum."""


def _as_seen(items: tuple[LedgerItem, ...], seen: Match | None) -> tuple[LedgerItem, ...]:
    """Return the items with what a boot was seen to hold, where no setting changed it since."""
    if seen is None:
        return items
    known = seen.known()
    is_weighed = "weights" in known
    kept = [item for item in items if not (is_weighed and item.name in _MODELS)]
    found = [_seen_item(item, known, seen) for item in kept]
    if not is_weighed:
        return tuple(found)
    place = items[0].place if items else LedgerPlace.CARD
    whole = LedgerItem(name="weights", title="Weights, all models", place=place, source="")
    return (_seen_item(whole, known, seen), *found)


def _seen_item(item: LedgerItem, known: Mapping[str, int], seen: Match) -> LedgerItem:
    size = known.get(item.name)
    if size is None:
        return item
    error = round(size * calibration.ERROR_SHARE)
    return msgspec.structs.replace(item, bytes=size, error_bytes=error, source=seen.source)
