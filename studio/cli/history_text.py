"""The history as charts and lines of text, and as CSV."""

import datetime
from collections.abc import Sequence

from studio.cli import history_words as words
from studio.cli.chart import BLOCKS, Point, chart
from studio.cli.console import plain
from studio.cli.render import cut, labelled
from studio.domain.history import (
    HistoryAnswer,
    HistoryEvent,
    HistoryState,
    SeriesPoints,
)
from studio.domain.units import UNKNOWN, bytes_text, percent_text, rate_text, tokens_text

_HEIGHT = 4
_LABEL = 12
_MOST_EVENTS = 12


def answer_text(answer: HistoryAnswer, width: int, marks: str = BLOCKS) -> str:
    """Return charts, one under the other, and what happened."""
    parts = [series_text(one, answer, width, marks) for one in answer.series]
    if not parts:
        parts = [words.NOTHING if answer.known else words.NOTHING_YET]
    if answer.events:
        parts.append(events_text(answer.events, width))
    return "\n\n".join(parts)


def series_text(series: SeriesPoints, answer: HistoryAnswer, width: int, marks: str) -> str:
    """Return one series: its figures, its chart and the times below."""
    known = [(low, mean, high) for _at, low, mean, high in series.points if low is not None]
    if not known:
        return words.NO_POINTS.format(name=series.name)
    rows = chart(
        series.points,
        since=answer.since,
        until=answer.until,
        width=max(20, width - _LABEL - 2),
        height=_HEIGHT,
        label=lambda value: value_text(value, series.unit).rjust(_LABEL),
        marks=marks,
    )
    title = words.TITLE if series.unit else words.TITLE_COUNT
    return "\n".join(
        [
            title.format(name=series.name, unit=series.unit),
            _figures(series, answer),
            *rows,
            _times(answer, max(20, width - _LABEL - 2)),
        ]
    )


def _figures(series: SeriesPoints, answer: HistoryAnswer) -> str:
    points = [point for point in series.points if point[1] is not None]
    means = [point[2] for point in points if point[2] is not None]
    line = words.FIGURES.format(
        low=value_text(min(point[1] for point in points if point[1] is not None), series.unit),
        mean=value_text(sum(means) / len(means), series.unit),
        high=value_text(max(point[3] for point in points if point[3] is not None), series.unit),
        last=value_text(series.points[-1][2], series.unit),
    )
    missing = _missing_share(points, answer)
    if missing >= 0.01:
        line += " · " + words.GAPS.format(share=percent_text(missing))
    return line


def _missing_share(points: Sequence[Point], answer: HistoryAnswer) -> float:
    cells = max(1.0, (answer.until - answer.since) / answer.step_s)
    return max(0.0, 1 - len(points) / cells)


def _times(answer: HistoryAnswer, width: int) -> str:
    """Return the ends of the span, below the ends of the chart."""
    long = answer.until - answer.since > 86_400
    form = "%Y-%m-%d %H:%M" if long else "%H:%M:%S"
    begin, end = (_moment(at).strftime(form) for at in (answer.since, answer.until))
    return " " * (_LABEL + 1) + begin + end.rjust(width - len(begin))


def events_text(events: Sequence[HistoryEvent], width: int) -> str:
    """Return what happened, oldest first."""
    lines = [words.EVENTS]
    shown = events[-_MOST_EVENTS:]
    if len(shown) < len(events):
        lines.append("  " + words.MORE_EVENTS.format(count=f"{len(events) - len(shown):,}"))
    for one in shown:
        kind = words.KINDS.get(one.kind.value, one.kind.value)
        what = f"{kind}: {one.name}" if one.name != "service" else kind
        detail = f" · {one.detail}" if one.detail else ""
        line = f"  {_moment(one.at):%Y-%m-%d %H:%M:%S}  {what}{detail}"
        lines.append(cut(plain(line), width))
    return "\n".join(lines)


def state_text(state: HistoryState, known: Sequence[str]) -> str:
    """Return how the history is kept, and the names of all series."""
    size = words.NO_FILE
    if state.bytes is not None:
        size = words.SIZE.format(size=bytes_text(state.bytes), most=bytes_text(state.most_bytes))
    since = UNKNOWN
    if state.oldest_at is not None:
        since = f"{_moment(state.oldest_at):%Y-%m-%d %H:%M}"
    pairs = [
        (words.LABEL_FILE, state.file),
        (words.LABEL_SIZE, size),
        (words.LABEL_SINCE, since),
        *((words.LABEL_SERIES if not place else "", name) for place, name in enumerate(known)),
    ]
    if state.note is not None:
        pairs.append((words.LABEL_NOTE, state.note))
    return labelled(pairs)


def value_text(value: float | None, unit: str) -> str:
    """Return a value with its unit, short enough for the side of a chart."""
    if value is None:
        return UNKNOWN
    match unit:
        case "B":
            return bytes_text(value)
        case "B/s":
            return f"{bytes_text(value)}/s"
        case "tok/s":
            return rate_text(value)
        case "share":
            return percent_text(value)
        case "tokens":
            return tokens_text(value)
        case _:
            number = (
                f"{value:,.0f}" if value == int(value) or abs(value) >= 1000 else f"{value:.3g}"
            )
            return f"{number} {unit}".rstrip()


def _moment(at: float) -> datetime.datetime:
    return datetime.datetime.fromtimestamp(at, datetime.UTC).astimezone()
