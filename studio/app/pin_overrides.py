"""A pool that was pinned, as one of the settings of a start. Pure."""

from collections.abc import Iterable, Mapping

from studio.app.settings import Pin
from studio.domain.hardware import Gpu
from studio.domain.manifests import Preset
from studio.planner import calibration

PINNED = "kv_cache_memory_bytes"
"""The knob; vLLM's argument of that name, which makes the pool arithmetic."""


def with_pin(
    pins: Mapping[str, Pin],
    preset: Preset,
    overrides: Mapping[str, str],
    *,
    runtime_id: str | None,
    cards: Iterable[Gpu],
) -> dict[str, str]:
    """Return the overrides with the preset's pin, where it holds for this runtime and these cards.

    What the person typed goes first; `cards` may be more than those that will be used.
    """
    pin = pins.get(preset.id)
    names = set(calibration.names_of(cards))
    if pin is None or PINNED in overrides or PINNED not in preset.knobs:
        return dict(overrides)
    if pin.runtime_id != runtime_id or not names.issuperset(pin.cards.split("+")):
        return dict(overrides)
    return {**overrides, PINNED: str(pin.bytes)}
