"""`weir service status` as text, and the lines that other commands show of it. Pure."""

import datetime

from studio.cli import service_words as words
from studio.domain.service import AutostartInfo, AutostartState, SleepInfo, UnitInfo, UnitStart

_SEPARATOR = " · "


Pairs = list[tuple[str, str]]


def unit_pairs(unit: UnitInfo) -> Pairs:
    """Return how the service is kept, what starts with it, and what is in the way."""
    pairs = [(words.UNIT, _unit(unit))]
    if unit.enabled is not None and unit.is_installed:
        text = words.ACTIVE.format(enabled=unit.enabled, active=unit.active or "–")
        if unit.restarts:
            text += words.RESTARTED.format(count=unit.restarts)
        pairs.append((words.AT_LOGIN, text))
    kept = words.RUNS_NOT if unit.runs_as is None else words.RUNS_AS[unit.runs_as]
    pairs.append((words.KEPT_BY, kept.format(pid=unit.pid)))
    if unit.has_linger is not None:
        text = words.LINGER_ON if unit.has_linger else words.LINGER_OFF
        pairs.append((words.LINGER, text.format(user=unit.user)))
    pairs += autostart_pairs(unit.autostart)
    pairs += sleep_pairs(unit.sleep)
    if unit.problem is not None:
        pairs.append((words.PROBLEM, unit.problem.message))
        pairs.append((words.PROBLEM, unit.problem.hint or ""))
    pairs += [(words.TO_NOTE, note) for note in unit.notes]
    return [pair for pair in pairs if pair[1]]


def autostart_pairs(info: AutostartInfo) -> Pairs:
    """Return what starts with the service and how that went, as labels and values."""
    pieces = [f"`{info.preset}`"] if info.preset else []
    pieces += [f"--set {name}={value}" for name, value in info.overrides.items()]
    text = words.STATES[info.state].format(
        what=" ".join(pieces), attempts=info.attempts, next=_clock(info.next_at)
    )
    pairs = [(words.STARTS, text)]
    if info.error is not None and info.state is not AutostartState.SERVED:
        pairs.append((words.STARTS, f"{info.error.message} ({info.error.code})"))
        pairs.append((words.STARTS, info.error.hint or ""))
    return [pair for pair in pairs if pair[1]]


def sleep_pairs(info: SleepInfo) -> Pairs:
    """Return what becomes of the engine in sleep, and how the last one went."""
    pairs = [(words.SLEEP, words.POLICIES[info.policy])]
    if info.outcome is not None:
        pairs.append((words.SLEEP, slept(info)))
    return pairs


def news(autostart: AutostartInfo, sleep: SleepInfo) -> Pairs:
    """Return what of both belongs into `weir status`: nothing while all is as it should be."""
    quiet = (AutostartState.OFF, AutostartState.SERVED)
    pairs = [] if autostart.state in quiet else autostart_pairs(autostart)
    return pairs if sleep.outcome is None else [*pairs, (words.SLEEP, slept(sleep))]


def slept(info: SleepInfo) -> str:
    """Return how the last sleep went."""
    return words.SLEPT.format(
        begin=_clock(info.slept_at), end=_clock(info.woke_at), outcome=info.outcome
    )


def _unit(unit: UnitInfo) -> str:
    if not unit.is_installed:
        return words.NOT_INSTALLED
    shown = words.EDITED if unit.is_edited else words.INSTALLED
    return shown.format(file=unit.unit_file)


def _clock(at: float | None) -> str:
    """Return a moment as local time of day."""
    if at is None:
        return "–"
    return f"{datetime.datetime.fromtimestamp(at).astimezone():%H:%M}"


def unit_used(unit: UnitStart) -> str:
    """Say what came of starting the service through its unit."""
    if unit.problem is None:
        return words.BY_UNIT
    hint = f" {unit.problem.hint}" if unit.problem.hint else ""
    return words.NOT_BY_UNIT.format(why=f"{unit.problem.message}{hint}")
