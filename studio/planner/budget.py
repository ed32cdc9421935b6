"""What an engine has for its KV cache, and what lies beside it.

Bytes that are pinned are what they are; otherwise they are what memory.py makes of the card, or
what this machine's own boot of the same settings was seen to leave (calibration.py).
"""

import dataclasses
from collections.abc import Mapping

from studio.domain.hardware import Gpu
from studio.domain.plans import LedgerItem
from studio.planner.calibration import Calibration


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """One forecast of one card's memory. None is what nobody knows."""

    items: tuple[LedgerItem, ...] = ()
    """All but the KV pool."""
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


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What is known beside settings and cards."""

    calibration: Calibration = dataclasses.field(default_factory=Calibration)
    runtime_id: str | None = None
    preset: str | None = None


def forecast(
    _subject: object, settings: Mapping[str, object], _cards: tuple[Gpu, ...], _around: Surroundings
) -> Budget:
    """Return the forecast of one card's memory for these settings."""
    pinned = settings.get("kv_cache_memory_bytes")
    kv = pinned if isinstance(pinned, int) else None
    return Budget(kv_bytes=kv, kv_error_bytes=0 if kv is not None else None)
