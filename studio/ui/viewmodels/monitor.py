"""The charts of the monitor page: their lines on this machine, their scales and their words."""

import fnmatch
from collections.abc import Container, Iterable, Mapping, Sequence

import msgspec

from studio.domain.metrics import Tick
from studio.domain.spill import HARMFUL
from studio.domain.units import UNKNOWN, bytes_text, rate_text, tokens_text
from studio.ui.language import t
from studio.ui.viewmodels.chart_kinds import (
    KINDS,
    OF_CARDS,
    PLAIN,
    SPILL_WORDS,
    ChartKind,
)
from studio.ui.viewmodels.charts import nice_ceiling, unit_words
from studio.ui.viewmodels.track import Spot, Track
from studio.ui.viewmodels.words import Role


class Line(msgspec.Struct, frozen=True):
    """A line of a chart on this machine."""

    series: str
    name: str
    role: Role


class Head(msgspec.Struct, frozen=True, kw_only=True):
    """What stands above a chart."""

    title: str
    unit: str
    now: str


_CARD_ROLES = (Role.WATER, Role.CLEAR, Role.OK, Role.DEEP, Role.INK, Role.QUIET, Role.WARN)
_HARM_ROLES = (Role.HARM, Role.WARN)
_MEANT_ROLES = (Role.CLEAR, Role.WATER, Role.DEEP, Role.OK)


def wished_kinds(choice: Mapping[str, bool]) -> tuple[ChartKind, ...]:
    """Return the charts that a person chose, and the usual ones where nobody did."""
    return tuple(kind for kind in KINDS if choice.get(kind.id, kind.is_shown))


def chosen_kinds(
    choice: Mapping[str, bool], known: Sequence[str], *, has_cards: bool
) -> tuple[ChartKind, ...]:
    """Return the charts to show: of those that are wished what this machine can have."""
    offered = offered_kinds(known, has_cards=has_cards)
    return tuple(kind for kind in wished_kinds(choice) if kind in offered)


def offered_kinds(known: Sequence[str], *, has_cards: bool) -> tuple[ChartKind, ...]:
    """Return the charts that this machine can have: those of cards need some, now or before."""
    return tuple(
        kind for kind in KINDS if has_cards or kind.id not in OF_CARDS or lines_of(kind, known)
    )


def wanted(kinds: Iterable[ChartKind], known: Sequence[str]) -> tuple[str, ...]:
    """Return the series that charts are drawn from, of those that something is kept of."""
    found = {line.series: None for kind in kinds for line in lines_of(kind, known)}
    return tuple(found)


def patterns(kinds: Iterable[ChartKind], known: Sequence[str]) -> tuple[str, ...]:
    """Return what to ask for; a pattern that nothing fits would be refused."""
    asked = {line.series: None for kind in kinds for line in kind.lines}
    return tuple(one for one in asked if fnmatch.filter(known, one))


def lines_of(kind: ChartKind, known: Sequence[str]) -> tuple[Line, ...]:
    """Return the lines of a chart for the series that are known."""
    found: list[Line] = []
    for line in kind.lines:
        if "*" not in line.series:
            if line.series in known:
                found.append(Line(line.series, t(line.name), line.role))
            continue
        names = sorted(fnmatch.filter(known, line.series), key=_order)
        found += _spread(names)
    return tuple(found)


def _order(name: str) -> tuple[int, str]:
    digits = "".join(letter for letter in name.partition(".")[0] if letter.isdigit())
    return (int(digits) if digits else 0, name)


def _spread(names: Sequence[str]) -> list[Line]:
    """Return a line for each card, or for each kind of spill, in colours that differ."""
    found, harmful, meant = [], 0, 0
    for place, name in enumerate(names):
        head, middle, *_rest = name.split(".")
        if head != "spill":
            role = _CARD_ROLES[place % len(_CARD_ROLES)]
            number = head.removeprefix("card")
            found.append(Line(name, t("card {number}").format(number=number), role))
        elif middle in HARMFUL:
            found.append(Line(name, _spill_words(middle), _HARM_ROLES[min(harmful, 1)]))
            harmful += 1
        else:
            role = _MEANT_ROLES[meant % len(_MEANT_ROLES)]
            found.append(Line(name, _spill_words(middle), role))
            meant += 1
    return found


def _spill_words(kind: str) -> str:
    return t(SPILL_WORDS[kind]) if kind in SPILL_WORDS else kind


def missing(kinds: Iterable[ChartKind], tick: Tick, known: Container[str]) -> frozenset[str]:
    """Return the series of charts that a tick knows and `known` lacks: they have just begun."""
    cards = [f"card{card.index}" for card in tick.cards or ()]
    spills = [f"spill.{flow.kind.value}" for flow in tick.spill]
    found = set()
    for line in (line for kind in kinds for line in kind.lines):
        head, _, field = line.series.partition("*.")
        names = [line.series]
        if field:
            names = [f"{owner}.{field}" for owner in (cards if head == "card" else spills)]
        found |= {name for name in names if name not in known}
    return frozenset(name for name in found if value_of(tick, name) is not None)


def value_of(tick: Tick, series: str) -> float | None:
    """Return what a tick says of a series; None where it does not."""
    head, _, field = series.partition(".")
    if not field:
        value = getattr(tick, head, None)
        return float(value) if isinstance(value, int | float) else None
    if head == "spill":
        kind, _, field = field.partition(".")
        found = [
            value
            for flow in tick.spill
            if flow.kind.value == kind and (value := getattr(flow, field, None)) is not None
        ]
        return float(sum(found)) if found else None
    for card in tick.cards or ():
        if f"card{card.index}" == head:
            value = getattr(card, field, None)
            return float(value) if isinstance(value, int | float) else None
    return None


def top_of(kind: ChartKind, highest: float | None) -> float:
    """Return where the scale ends, in the unit of the series."""
    if kind.ceiling is not None:
        return kind.ceiling
    shown = max(highest or 0.0, kind.least_top) * kind.factor
    if kind.unit not in ("B", "B/s"):
        return nice_ceiling(shown) / kind.factor
    power = 1 << 10 * max(0, (int(shown).bit_length() - 1) // 10)
    return nice_ceiling(shown / power) * power


def marks_of(kind: ChartKind, top: float) -> tuple[tuple[float, str], ...]:
    """Return the gridlines: value in the unit of the series, and text without the unit."""
    return tuple(
        (share * top, _mark(share * top * kind.factor, kind.unit)) for share in (0, 0.5, 1)
    )


def _mark(value: float, unit: str) -> str:
    if value == 0:
        return "0"
    if unit in ("B", "B/s"):
        return _short_bytes(value)
    return f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:.2g}"


def _short_bytes(value: float) -> str:
    for unit, size in (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if value >= size:
            return f"{value / size:,.4g} {unit}"
    return f"{value:.0f} B"


def axis_unit(kind: ChartKind) -> str:
    """Return what stands beside the title; bytes have their unit at each mark."""
    return {"B": "", "B/s": t("a second")}.get(kind.unit, unit_words(kind.unit))


def value_words(kind: ChartKind, value: float | None) -> str:
    """Return a value of a chart with its unit."""
    if value is None:
        return UNKNOWN
    shown = value * kind.factor
    match kind.unit:
        case "B":
            return bytes_text(shown)
        case "B/s":
            return f"{bytes_text(shown)}/s"
        case "tok/s":
            return rate_text(shown)
        case "tokens":
            return tokens_text(shown)
        case "requests":
            return f"{shown:,.0f}" if shown == int(shown) else f"{shown:,.1f}"
        case "s" | "tok/step":
            return f"{shown:.2f} {kind.unit}"
        case _:
            return f"{shown:,.0f} {kind.unit}"


def head_of(kind: ChartKind, lines: Sequence[Line], values: Sequence[float | None]) -> Head:
    """Return what stands above a chart now; of many lines only the largest value is named."""
    known = [(line, value) for line, value in zip(lines, values, strict=True) if value is not None]
    if len(lines) == 1:
        now = value_words(kind, values[0])
    elif len(lines) > 3:
        line, value = max(known, key=lambda one: one[1], default=(None, None))
        most = t("{value} at most, {name}")
        now = (
            UNKNOWN if line is None else most.format(value=value_words(kind, value), name=line.name)
        )
    else:
        said = t(kind.said) if kind.said != PLAIN else PLAIN
        now = " · ".join(
            said.format(name=line.name, value=value_words(kind, value)) for line, value in known
        )
    return Head(title=t(kind.title), unit=axis_unit(kind), now=now or UNKNOWN)


def spot_words(kind: ChartKind, spot: Spot | None) -> str:
    """Return what is known at a moment: a value, or the smallest and largest around it."""
    if spot is None:
        return UNKNOWN
    mean = value_words(kind, spot.mean)
    low, high = value_words(kind, spot.low), value_words(kind, spot.high)
    return (
        mean if low == high else t("{mean} ({low} – {high})").format(mean=mean, low=low, high=high)
    )


def empty_words(tracks: Sequence[Track], *, is_reading: bool, is_live: bool) -> str:
    """Return why a chart is blank; empty: it is not."""
    if any(len(track) for track in tracks):
        return ""
    if is_reading:
        return t("Reading…")
    return t("Nothing measured in this span") if is_live else t("Appears when the service answers")
