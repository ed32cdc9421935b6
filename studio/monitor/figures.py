"""Published figures of a preset → the one that this machine may be held against. Pure.

A figure is for one card with its power limit and its system, for one request alone with a short
conversation (`decode_tokens_per_s` of a preset's `[[expected]]`). One of another card, another
system or another power limit says nothing about this machine, so it is not taken.
"""

from collections.abc import Sequence
from typing import NamedTuple

from studio.domain.manifests import Expected
from studio.domain.published import MeasuredOn, measured_on
from studio.domain.speed import PROCESSOR, SpeedFigure, SpeedSteps

_POWER_SLACK = 0.05


class Machine(NamedTuple):
    """What a figure must be of."""

    cards: tuple[tuple[str, int | None], ...] = ()
    """Names of the cards in use, as NVIDIA's driver gives them, with their memory in bytes; none:
    the processor."""
    power_w: float | None = None
    """The lowest power limit among them."""
    is_wsl: bool = False
    processor: str | None = None
    processors: int | None = None


def published(published_rows: Sequence[Expected], machine: Machine) -> SpeedFigure | None:
    """Return the figure for just this machine; None where nobody published one.

    Of several the one whose power limit is stated, then the first. Tokens per step may stand in a
    row of their own, of the same card and version.
    """
    plain = [row for row in published_rows if row.case is None]
    fitting = [row for row in plain if _fits(measured_on(row), machine)]
    speeds = [row for row in fitting if row.decode_tokens_per_s is not None]
    if not speeds:
        return None
    best = min(speeds, key=lambda row: measured_on(row).power_w is None)
    # Of the same version only: others were measured with other prompts (HyperQwen, speed).
    rows = [best, *(row for row in fitting if row.pin == best.pin)]
    steps = next((row for row in rows if row.tokens_per_step is not None), None)
    decode = best.decode_tokens_per_s
    assert decode is not None
    tokens_per_step = steps.tokens_per_step if steps is not None else None
    return SpeedFigure(
        decode_tokens_per_s=decode,
        tokens_per_step=tokens_per_step,
        step_s=None if tokens_per_step is None else tokens_per_step / decode,
        steps_of=SpeedSteps.FIGURE if steps in (None, best) else SpeedSteps.COMPUTED,
        card=_named(best),
        power_w=measured_on(best).power_w,
        source=best.source,
    )


def _named(row: Expected) -> str:
    of = measured_on(row)
    return of.name if of.cards else PROCESSOR


def _fits(of: MeasuredOn, machine: Machine) -> bool:
    if not machine.cards:
        return of.is_processor(machine.processor, machine.processors)
    if len(machine.cards) != of.cards or not all(of.is_card(*one) for one in machine.cards):
        return False
    if of.system is not None and (of.system == "WSL2") != machine.is_wsl:
        return False
    if of.power_w is None or machine.power_w is None:
        return of.power_w is None
    return abs(machine.power_w - of.power_w) <= _POWER_SLACK * of.power_w
