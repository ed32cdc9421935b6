"""Keys, requests and alarms as `weir top` shows them. Pure."""

import datetime
import textwrap

from studio.cli import top_words as words
from studio.cli.cells import Line, Span, columns, cropped, line
from studio.cli.top_state import State
from studio.domain.alarms import Alarm, Severity
from studio.domain.control import KeyInfo
from studio.domain.keys import RequestEntry
from studio.domain.pool import PoolReport, Resident
from studio.domain.units import UNKNOWN, duration_text, latency_text, rate_text

_WIDE = 100
_ID_SHOWN = 8
_LEAST = 3
_STYLES = {Severity.NOTICE: "", Severity.WARNING: "warn", Severity.HARM: "bad"}


def keys_lines(state: State, width: int, most: int, now: float) -> list[Line]:
    """Return the keys that work, in at most `most` lines; below three there is no room for any."""
    if most < _LEAST:
        return []
    if state.keys is None:
        return [_said(words.KEYS, words.KEYS_UNKNOWN)]
    keys = state.sorted_keys()
    if not keys:
        return [_said(words.KEYS, words.NO_KEYS)]
    shown = keys if len(keys) + 1 <= most else keys[: max(0, most - 2)]
    rows: list[tuple[str, ...]] = [words.KEY_COLUMNS, *(_key_row(key, now) for key in shown)]
    rights = [False, *(True,) * 6, False]
    if width >= _WIDE:
        speeds = {one.key: one.tok_s_p50 for one in state.speed.keys} if state.speed else {}
        found = [rate_text(speeds.get(key.name)).removesuffix(" tok/s") for key in shown]
        rows = [
            (*row[:-1], speed, row[-1])
            for row, speed in zip(rows, [words.KEY_SPEED, *found], strict=True)
        ]
        rights.insert(-1, True)
    texts = columns(rows, rights, 0, width)
    order = words.SORTED_BY.format(name=words.SORTS[state.sort])
    lines = [_headed(texts[0], order, width), *(line(text) for text in texts[1:])]
    if len(shown) < len(keys):
        more = words.MORE_COUNT.format(count=len(keys) - len(shown))
        lines.append(line(Span(more, "quiet")))
    return lines[:most]


def residents_lines(pool: PoolReport | None, width: int, most: int) -> list[Line]:
    """Return the requests that run now, the largest first, in at most `most` lines."""
    if pool is None or not pool.residents or most <= 1:
        return []
    shown = pool.residents if len(pool.residents) + 1 <= most else pool.residents[: most - 2]
    rows: list[tuple[str, ...]] = [words.RESIDENT_COLUMNS, *(_resident(one) for one in shown)]
    texts = columns(rows, (False, False, False, *(True,) * 4), 1, width)
    lines = [line(Span(texts[0], "quiet")), *(line(text) for text in texts[1:])]
    if len(shown) < len(pool.residents):
        lines.append(
            line(Span(words.MORE_COUNT.format(count=len(pool.residents) - len(shown)), "quiet"))
        )
    return lines


def _resident(one: Resident) -> tuple[str, ...]:
    held = UNKNOWN if one.tokens is None else f"{one.tokens:,}"
    return (
        one.request_id[-_ID_SHOWN:],
        one.key or UNKNOWN,
        words.RESIDENT_STATES.get(one.state, one.state),
        duration_text(one.age_s),
        UNKNOWN if one.prompt_tokens is None else f"{one.prompt_tokens:,}",
        UNKNOWN if one.generated_tokens is None else f"{one.generated_tokens:,}",
        words.ESTIMATE.format(tokens=held) if one.is_estimated and one.tokens is not None else held,
    )


def requests_lines(requests: list[RequestEntry] | None, width: int, most: int) -> list[Line]:
    """Return the newest requests, the newest first, in at most `most` lines."""
    if most <= 1 or requests is None:
        return []
    if not requests:
        return [_said(words.REQUESTS, words.NO_REQUESTS)]
    newest = list(reversed(requests))[: most - 1]
    is_wide = width >= _WIDE
    rows: list[tuple[str, ...]] = [
        words.REQUEST_COLUMNS if is_wide else words.REQUEST_COLUMNS_NARROW
    ]
    rows += [_request_row(one, is_wide=is_wide) for one in newest]
    texts = columns(rows, (False, False, *(True,) * (len(rows[0]) - 2)), 1, width)
    lines = [line(Span(texts[0], "quiet"))]
    for one, text in zip(newest, texts[1:], strict=True):
        lines.append(line(Span(text, "bad" if one.status >= 400 else "")))
    return lines


def alarms_lines(alarms: tuple[Alarm, ...] | None, width: int, most: int) -> list[Line]:
    """Return the alarms that hold, the worst first, one a line."""
    if alarms is None:
        return [_said(words.ALARMS, words.ALARMS_UNKNOWN)]
    active = _active(alarms)
    if not active:
        return [_said(words.ALARMS, words.NO_ALARMS)]
    shown = active if len(active) <= most else active[: max(1, most - 1)]
    lines = [
        line(
            Span(f"{words.ALARMS if number == 0 else '':<9}", "strong"),
            Span(
                cropped(f"{one.severity.value}: {_titled(one)}. {one.cause}", width - 9),
                _style(one),
            ),
        )
        for number, one in enumerate(shown)
    ]
    if len(shown) < len(active):
        more = words.MORE.format(count=len(active) - len(shown), key="a")
        lines.append(line(Span(f"{'':<9}{more}", "quiet")))
    return lines[: max(1, most)]


def alarms_page(alarms: tuple[Alarm, ...] | None, width: int) -> list[Line]:
    """Return all that is known of every alarm."""
    if alarms is None:
        return [line(Span(words.ALARMS_UNKNOWN, "quiet"))]
    if not alarms:
        return [line(Span(words.NO_ALARMS, "quiet"))]
    lines: list[Line] = []
    for one in (*_active(alarms), *(one for one in alarms if one.ended_at is not None)):
        style = _style(one)
        since = words.SINCE.format(time=_moment(one.since))
        head = cropped(f"{one.severity.value}: {_titled(one)} · {since} · {one.code}", width)
        lines.append(line(Span(head, style)))
        said = [one.cause, *one.evidence, *(remedy.text for remedy in one.remedies)]
        for sentence in said:
            lines += [line(f"  {text}") for text in textwrap.wrap(sentence, width - 2)]
        lines.append(())
    return lines


def _active(alarms: tuple[Alarm, ...]) -> list[Alarm]:
    order = list(Severity)
    active = [one for one in alarms if one.ended_at is None]
    return sorted(active, key=lambda one: (one.is_muted, -order.index(one.severity), one.since))


def _style(alarm: Alarm) -> str:
    is_quiet = alarm.is_muted or alarm.ended_at is not None
    return "quiet" if is_quiet else _STYLES[alarm.severity]


def _titled(alarm: Alarm) -> str:
    title = f"{alarm.title} ({alarm.where})" if alarm.where else alarm.title
    return words.MUTED.format(title=title) if alarm.is_muted else title


def _said(label: str, text: str) -> Line:
    return line(Span(f"{label:<9}", "strong"), Span(text, "quiet"))


def _headed(text: str, order: str, width: int) -> Line:
    room = width - len(text) - 2
    return line(Span(f"{text}  {order}" if len(order) <= room else text, "quiet"))


def _key_row(key: KeyInfo, now: float) -> tuple[str, ...]:
    return (
        key.name,
        f"{key.running:,}",
        f"{key.requests:,}",
        f"{key.errors:,}",
        f"{key.prompt_tokens:,}",
        f"{key.cached_tokens:,}",
        f"{key.generated_tokens:,}",
        _ago(key.last_used_at, now),
    )


def _request_row(one: RequestEntry, *, is_wide: bool) -> tuple[str, ...]:
    status = f"{one.status} {one.code}" if one.code else str(one.status)
    tokens = (one.prompt_tokens, *((one.cached_tokens,) if is_wide else ()), one.generated_tokens)
    return (
        _clock_of(one.at),
        one.key or UNKNOWN,
        status,
        latency_text(one.ttft_s),
        duration_text(one.duration_s),
        *(UNKNOWN if count is None else f"{count:,}" for count in tokens),
    )


def _ago(iso: str | None, now: float) -> str:
    if iso is None:
        return words.NEVER
    try:
        moment = datetime.datetime.fromisoformat(iso).timestamp()
    except ValueError:
        return iso
    seconds = max(0.0, now - moment)
    return f"{seconds:.0f} s ago" if seconds < 60 else f"{_coarse(seconds)} ago"


def _coarse(seconds: float) -> str:
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours = round(minutes / 60)
    return f"{hours} h" if hours < 48 else f"{round(hours / 24)} days"


def _clock_of(iso: str) -> str:
    try:
        return f"{datetime.datetime.fromisoformat(iso):%H:%M:%S}"
    except ValueError:
        return iso


def _moment(at: float) -> str:
    local = datetime.datetime.fromtimestamp(at, datetime.UTC).astimezone()
    return f"{local:%H:%M:%S}"
