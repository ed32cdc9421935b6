"""Charts of the last minutes: lines, gridlines and what the crosshair says."""

from collections.abc import Sequence

import msgspec

from studio.domain.metrics import Tick
from studio.domain.units import latency_text, rate_text, tokens_text
from studio.ui.language import marked, t
from studio.ui.viewmodels.words import Role, number

SPAN_S = 300.0
"""Seconds that gauge and charts look back."""

PAST = marked("5 min ago")

_NEAR_S = 2.0

Points = tuple[tuple[float, float | None], ...]
"""Age in seconds and value, oldest first; None is not known, a gap."""


class LineView(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a chart: age in seconds and value, oldest first."""

    name: str
    role: Role
    points: Points


class ChartView(msgspec.Struct, frozen=True, kw_only=True):
    """One chart over the last `span_s` seconds."""

    title: str
    unit: str
    lines: tuple[LineView, ...]
    top: float
    marks: tuple[tuple[float, str], ...]
    """Gridlines: value and its text."""
    now: str
    empty: str
    decimals: int
    past: str
    span_s: float = SPAN_S


def charts(ticks: Sequence[Tick], crest: float | None) -> tuple[ChartView, ...]:
    """Return the four charts."""
    return (
        _chart(
            t("Pool in use"),
            "tokens",
            ((t("in use"), Role.WATER, points_of(ticks, "pool_used_tokens")),),
            ceiling=crest,
        ),
        _chart(
            t("Decode"),
            "tok/s",
            ((t("decode"), Role.WATER, points_of(ticks, "decode_tokens_per_s")),),
        ),
        _chart(
            t("TTFT"), "s", ((t("TTFT"), Role.CLEAR, measurements_of(ticks, "ttft_s")),), decimals=2
        ),
        _chart(
            t("Requests"),
            "requests",
            (
                (t("running"), Role.WATER, points_of(ticks, "running")),
                (t("waiting"), Role.WARN, points_of(ticks, "waiting")),
            ),
        ),
    )


def nice_ceiling(highest: float) -> float:
    """Return the next of 1, 2, 4, 5, 8 times a power of ten at or above `highest`."""
    if highest <= 0:
        return 1.0
    power = 1.0
    while power * 10 <= highest:
        power *= 10
    while power > highest:
        power /= 10
    steps = (power * factor for factor in (1, 2, 4, 5, 8, 10))
    return next(step for step in steps if step >= highest)


def unit_words(unit: str) -> str:
    """Return a chart's unit in the language spoken now."""
    return {"tokens": t("tokens"), "requests": t("requests")}.get(unit, unit)


def value_text(value: float, unit: str, decimals: int) -> str:
    """Return a chart's value with its unit."""
    match unit:
        case "tokens":
            return tokens_text(value)
        case "tok/s":
            return rate_text(value)
        case "s":
            return latency_text(value)
        case _:
            return f"{value:,.{decimals}f} {unit_words(unit)}".strip()


def chart_moved(before: ChartView, after: ChartView) -> bool:
    """Tell whether `after` looks different: a line that stays flat only grew older."""
    if (before.top, before.now, before.empty) != (after.top, after.now, after.empty):
        return True
    pairs = zip(before.lines, after.lines, strict=True)
    return any(line_moved(old.points, new.points) for old, new in pairs)


def moment_text(view: ChartView, age_s: float) -> str:
    """Return what the crosshair at `age_s` says: when, and every line's value there."""
    parts = [t("{age_s:.0f} s ago").format(age_s=age_s)]
    for line in view.lines:
        near = min(line.points, key=lambda point: abs(point[0] - age_s), default=(0.0, None))
        known = near[1] is not None and abs(near[0] - age_s) <= _NEAR_S
        value = (
            value_text(near[1], view.unit, view.decimals) if known and near[1] is not None else "–"
        )
        parts.append(value if len(view.lines) == 1 else f"{number(value)} {line.name}")
    return " · ".join(parts)


def line_moved(before: Points, after: Points) -> bool:
    """Tell whether a line looks different, its age apart."""
    values = {value for _, value in before} | {value for _, value in after}
    if len(values) > 1:
        return before != after
    return len(before) != len(after) and values != {None}


def lone_values(points: Points) -> tuple[tuple[float, float], ...]:
    """Return the values without a known neighbour: no line would show them."""
    values = [None, *(value for _, value in points), None]
    return tuple(
        (age, value)
        for place, (age, value) in enumerate(points, 1)
        if value is not None and values[place - 1] is None and values[place + 1] is None
    )


def points_of(ticks: Sequence[Tick], field: str) -> Points:
    """Return one field of the ticks by age, as far back as charts look."""
    if not ticks:
        return ()
    newest = ticks[-1].at
    return tuple(
        (newest - tick.at, getattr(tick, field)) for tick in ticks if newest - tick.at <= SPAN_S
    )


def measurements_of(ticks: Sequence[Tick], field: str) -> Points:
    """Return a field that has a value only now and then, such as TTFT: moments without one are no
    gaps while the engine is known to run.
    """
    known = [t for t in ticks if getattr(t, field) is not None or t.running is None]
    age_s = ticks[-1].at - known[-1].at if known else 0.0
    return tuple((age + age_s, value) for age, value in points_of(known, field))


def _chart(
    title: str,
    unit: str,
    series: tuple[tuple[str, Role, Points], ...],
    *,
    ceiling: float | None = None,
    decimals: int = 0,
) -> ChartView:
    values = [value for _, _, points in series for _, value in points if value is not None]
    floor = 4.0 if unit == "requests" else 0.0
    top = ceiling or nice_ceiling(max([*values, floor]))
    newest = [(name, points[-1][1] if points else None) for name, _, points in series]
    texts = [value_text(value, unit, decimals) for _, value in newest if value is not None]
    if len(series) > 1:
        texts = [f"{value:,.0f} {name}" for name, value in newest if value is not None]
    return ChartView(
        title=title,
        unit=unit,
        lines=tuple(LineView(name=name, role=role, points=points) for name, role, points in series),
        top=top,
        marks=tuple((mark, _mark(mark, unit)) for mark in (0.0, top / 2, top)),
        now=" · ".join(texts),
        empty="" if values else t("Nothing measured yet"),
        decimals=decimals,
        past=t(PAST),
    )


def _mark(value: float, unit: str) -> str:
    if value == 0:
        return "0"
    if unit == "s":
        return number(latency_text(value))
    return number(tokens_text(value)) if value >= 10 or value.is_integer() else f"{value:.1f}"
