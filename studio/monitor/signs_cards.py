"""What shows that a card is gone, held back, faulty or shared with others. Pure."""

from collections.abc import Iterator

from studio.domain.cards import CardSample
from studio.domain.units import bytes_text
from studio.monitor.alarm_rules import Evidence, Limits
from studio.monitor.scene import Recent, Scene

_HEAT = frozenset(("sw-thermal-slowdown", "hw-thermal-slowdown"))
_POWER = frozenset(("hw-power-brake", "hw-slowdown"))
"""Not `sw-power-cap`: a card that works at its power limit does what it was told."""

_LESS_POWER = 0.8
"""What to lower a limit to: the last fifth of the power brings a few percent of speed."""


def lost(scene: Scene, _recent: Recent, _limits: Limits) -> Iterator[Evidence]:
    """Yield each card that was there and answers no more."""
    for card in scene.tick.cards or ():
        if card.is_lost:
            said = card.faults[0] if card.faults else "no answer"
            yield _about(card, (f"NVIDIA's driver: {said}",), said=said)


def heat(scene: Scene, _recent: Recent, limits: Limits) -> Iterator[Evidence]:
    """Yield each card that runs slower because it is hot."""
    yield from _held_back(scene, limits, _HEAT)


def power(scene: Scene, _recent: Recent, limits: Limits) -> Iterator[Evidence]:
    """Yield each card that its power supply holds back.

    Heat sets `hw-slowdown`, too; then it is heat.
    """
    for card in scene.cards():
        reasons = frozenset(card.throttle or ())
        if reasons & _POWER and not reasons & _HEAT:
            yield from _one_held_back(card, reasons & _POWER, limits)


def _held_back(scene: Scene, limits: Limits, wanted: frozenset[str]) -> Iterator[Evidence]:
    for card in scene.cards():
        found = wanted & frozenset(card.throttle or ())
        if found:
            yield from _one_held_back(card, found, limits)


def _one_held_back(card: CardSample, reasons: frozenset[str], limits: Limits) -> Iterator[Evidence]:
    """Yield a card that is held back while it works; one at rest loses nothing."""
    if not limits.over("utilisation", card.utilisation_share):
        return
    lines = [f"throttle: {', '.join(sorted(reasons))}"]
    if card.sm_clock_mhz is not None:
        lines.append(f"{card.sm_clock_mhz:,} MHz")
    temperature = f"{card.temperature_c} °C" if card.temperature_c is not None else "not known"
    watts = f"{card.power_w:.0f} W" if card.power_w is not None else "not known"
    lines += [f"temperature {temperature}", f"power {watts}"]
    clock = f"{card.sm_clock_mhz:,} MHz" if card.sm_clock_mhz is not None else "a lower clock"
    limit_w = card.power_limit_w
    yield _about(
        card,
        tuple(lines),
        flags=frozenset(("limited",)) if limit_w else frozenset(),
        temperature=temperature,
        power=watts,
        clock=clock,
        lower_w=f"{(limit_w or 0) * _LESS_POWER:.0f}",
    )


def ecc(scene: Scene, recent: Recent, _limits: Limits) -> Iterator[Evidence]:
    """Yield each card with memory errors that could not be corrected."""
    for card in scene.tick.cards or ():
        if card.ecc_uncorrected:
            new = card.ecc_uncorrected - recent.ecc.get(card.index, 0)
            lines = (
                f"{card.ecc_uncorrected:,} uncorrected errors, {new:,} since the Studio looks",
            )
            yield _about(
                card, lines, size=float(card.ecc_uncorrected), count=f"{card.ecc_uncorrected:,}"
            )


def taken(scene: Scene, recent: Recent, limits: Limits) -> Iterator[Evidence]:
    """Yield each of the engine's cards of which others took memory after it had begun to serve."""
    own = scene.look.engine.pids if scene.look and scene.look.engine else frozenset()
    if not own or scene.engine_cards is None:
        return
    for card in scene.cards():
        others = [one for one in card.processes or () if one.pid not in own]
        if any(one.bytes is None for one in others) or card.processes is None:
            continue
        held = sum(one.bytes or 0 for one in others)
        grown = held - recent.foreign.setdefault(card.index, held)
        if others and limits.over("bytes", grown):
            most = max(others, key=lambda one: one.bytes or 0)
            name = most.name or "a program of somebody else"
            yield _about(
                card,
                tuple(
                    f"{one.name or 'not named'} ({one.pid}): {bytes_text(one.bytes)}"
                    for one in others
                ),
                size=float(grown),
                grown=bytes_text(grown),
                program=f"{name} (process {most.pid})",
            )


def _about(
    card: CardSample,
    lines: tuple[str, ...],
    size: float = 1.0,
    flags: frozenset[str] = frozenset(),
    **values: str,
) -> Evidence:
    return Evidence(
        flags=flags,
        where=f"card {card.index}",
        values={"card": card.name, "index": str(card.index), **values},
        lines=lines,
        size=size,
    )
