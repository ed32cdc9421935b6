"""Published figures of a preset → the one that this machine may be held against. Pure.

A figure is for one card with its power limit and its system, for one request alone with a short
conversation (`decode_tokens_per_s` of a preset's `[[expected]]`). One of another card, another
system or another power limit says nothing about this machine, so it is not taken.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from studio.domain.manifests import Expected
from studio.domain.speed import SpeedFigure, SpeedSteps

_POWER = re.compile(r"(?:\bat |, ?)(\d{2,4}) W\b")
_COUNT = re.compile(r"^(\d+) × ")
_POWER_SLACK = 0.05
_MAKERS = ("nvidia", "geforce", "quadro", "tesla")


class Machine(NamedTuple):
    """What a figure must be of."""

    cards: tuple[str, ...]
    """Names of the cards in use, as NVIDIA's driver gives them; empty: the processor."""
    power_w: float | None
    """The lowest power limit among them."""
    is_wsl: bool


class _Of(NamedTuple):
    """What a row says that it was measured on."""

    card: str
    cards: int
    power_w: float | None
    system: str | None


def published(published_rows: Sequence[Expected], machine: Machine) -> SpeedFigure | None:
    """Return the figure for just this machine; None where nobody published one.

    Of several the one whose power limit is stated, then the first. Tokens per step may stand in a
    row of their own, of the same card and version.
    """
    fitting = [row for row in published_rows if row.case is None and _fits(_read(row), machine)]
    speeds = [row for row in fitting if row.decode_tokens_per_s is not None]
    if not speeds:
        return None
    best = min(speeds, key=lambda row: _read(row).power_w is None)
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
        card=_read(best).card,
        power_w=_read(best).power_w,
        source=best.source,
    )


def _read(row: Expected) -> _Of:
    """Return what a row was measured on: `2 × RTX 3090 with NVLink, 250 W`, `RTX 4090, WSL2`."""
    text = row.card or ""
    power = _POWER.search(text) or _POWER.search(row.note or "")
    is_power_first = (row.note or "").startswith("at ") or _POWER.search(text) is not None
    count = _COUNT.match(text)
    name = _COUNT.sub("", text).partition(",")[0].partition(" at ")[0].partition(" with ")[0]
    system = next((one for one in ("WSL2", "Linux") if one in text), None)
    return _Of(
        name.strip(),
        int(count[1]) if count else 1,
        float(power[1]) if power is not None and is_power_first else None,
        system,
    )


def _fits(of: _Of, machine: Machine) -> bool:
    if not of.card or len(machine.cards) != of.cards:
        return False
    if any(not same_card(of.card, name) for name in machine.cards):
        return False
    if of.system is not None and (of.system == "WSL2") != machine.is_wsl:
        return False
    if of.power_w is None or machine.power_w is None:
        return of.power_w is None
    return abs(machine.power_w - of.power_w) <= _POWER_SLACK * of.power_w


def same_card(published_name: str, driver_name: str) -> bool:
    """Tell whether two names mean one card: makers are left out, `Super` and `Ti` are not.

    A size such as `32 GB` in the published name stands in no driver's name, and counts for nothing.
    """
    return _words(published_name) == _words(driver_name)


def _words(name: str) -> list[str]:
    words = re.sub(r"\b\d+ ?GB\b", "", name).lower().replace("-", " ").split()
    return [word for word in words if word not in _MAKERS]
