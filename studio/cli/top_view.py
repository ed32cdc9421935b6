"""The screen of `weir top`: a state and a size to lines. Pure.

What matters most stands at the top and is never cut: engine, pool, spill, tok/s. What is left of
the height is dealt out to alarms, cards, keys and requests, in that order.
"""

import datetime
import textwrap

from studio.cli import on_demand_text, render, top_cards, top_tables
from studio.cli import top_words as words
from studio.cli.cells import Line, Span, fitted, line, width_of
from studio.cli.download_text import now_line
from studio.cli.spark import gauge, spark
from studio.cli.top_state import State
from studio.domain.events import StageProgress
from studio.domain.metrics import Tick
from studio.domain.server import EngineState
from studio.domain.speed import SpeedVerdictKind
from studio.domain.spill import SpillFlow
from studio.domain.units import (
    UNKNOWN,
    bytes_text,
    duration_text,
    latency_text,
    percent_text,
    rate_text,
    tokens_text,
)

LEAST_WIDTH, LEAST_HEIGHT = 80, 24
_LABEL = 9
_GAUGE = 20
_ROOMY = 100
_WIDE = 140
"""From so many columns on, lines say more than the least."""
_FIGURE = 16
_ALARMS = 3
_KEYS = 6
_QUEUED = 3
_BLANKS_FROM = 30
"""Blank lines between the parts are for screens that have room for them."""


def screen(
    state: State, width: int, height: int, now: float, *, is_plain: bool = False
) -> list[Line]:
    """Return exactly `height` lines of at most `width` columns; `is_plain`: without blocks."""
    if width < LEAST_WIDTH or height < LEAST_HEIGHT:
        said = words.TOO_SMALL.format(width=width, height=height, least=words.LEAST)
        lines = [line(text) for text in textwrap.wrap(said, max(10, width))]
        return _filled(lines, width, height)
    body = height - 2
    match state.view:
        case "alarms":
            lines = top_tables.alarms_page(state.alarms, width)
        case "cards":
            lines = _cards_page(state, width, body)
        case "help":
            lines = _help(width)
        case _:
            lines = _main(state, width, body, now, is_plain=is_plain)
    return [
        fitted(_title(state, width, now), width),
        *_filled(lines, width, body),
        fitted(_footer(state), width),
    ]


def _filled(lines: list[Line], width: int, height: int) -> list[Line]:
    shown = [fitted(one, width) for one in lines[:height]]
    return [*shown, *(() for _ in range(height - len(shown)))]


# Frame


def _title(state: State, width: int, now: float) -> Line:
    clock = f"{datetime.datetime.fromtimestamp(now, datetime.UTC).astimezone():%H:%M:%S}"
    middle = words.GONE_SHORT if state.gone is not None else render.state_text(state.engine)
    pieces = [words.TITLE, middle, *([words.PAUSED] if state.is_paused else [])]
    if state.base_url is not None and state.gone is None:
        pieces.append(state.base_url)
    left = fitted([Span(" · ".join(pieces))], width - len(clock) - 2)[0].text
    room = " " * (width - width_of(left) - len(clock))
    return line(Span(f"{left}{room}{clock}", "head"))


def _footer(state: State) -> Line:
    if state.view != "main":
        return line(Span("q", "strong"), " quit  ", Span(words.BACK, "quiet"))
    pieces: list[Span] = []
    for key, word in words.FOOTER:
        pieces += [Span(key, "strong"), Span(f" {word}  ", "quiet")]
    return tuple(pieces)


# The page that is shown first


def _main(state: State, width: int, height: int, now: float, *, is_plain: bool) -> list[Line]:
    head = _notices(state, width) + _queue(state, width, now)
    head += [_pool(state, width, is_plain=is_plain), *_room(state)]
    head += _spill(state.tick, width)
    head += _speeds(state, width, is_plain=is_plain)
    is_tall = height >= _BLANKS_FROM
    head += [_times(state, width), *_verdict(state, width, is_tall=is_tall), _host(state, width)]
    gap: list[Line] = [()] if is_tall else []
    left = height - len(head) - 5 * len(gap)
    alarms = top_tables.alarms_lines(state.alarms, width, _ALARMS)
    left -= len(alarms)
    tick = state.tick or Tick(at=0.0)
    cards = top_cards.cards_lines(tick.cards, width, max(2, left), tick.cards_note)
    left -= len(cards)
    keys = top_tables.keys_lines(state, width, min(left, max(_KEYS, left // 2)), now)
    left -= len(keys)
    residents = top_tables.residents_lines(state.pool, width, max(left // 2, min(left, _KEYS)))
    left -= len(residents)
    requests = top_tables.requests_lines(state.requests, width, left)
    tables = [*keys, *gap, *residents, *(gap if residents else ()), *requests]
    return [*head, *gap, *alarms, *gap, *cards, *gap, *tables]


def _label(text: str) -> Span:
    return Span(f"{text:<{_LABEL}}", "strong")


def _notices(state: State, width: int) -> list[Line]:
    """Return what has to be known before any figure: service gone, boot, failure, slow path."""
    lines: list[Line] = []
    engine = state.engine
    if state.gone is not None:
        lines.append(line(Span(words.GONE.format(reason=state.gone), "bad")))
    if engine.error is not None and engine.state is not EngineState.READY:
        lines.append(line(_label(words.ENGINE), Span(engine.error.message, "bad")))
    elif engine.died_of is not None and engine.state is not EngineState.READY:
        lines.append(line(_label(words.ENGINE), Span(engine.died_of, "bad")))
    lines += [_stage(stage) for stage in state.under_way]
    lines += _downloads(state)
    if engine.stalled_s is not None:
        said = f"no step for {duration_text(engine.stalled_s)} although it has work"
        lines.append(line(_label(words.ENGINE), Span(said, "bad")))
    if engine.badges:
        titles = ", ".join(badge.title for badge in engine.badges)
        lines.append(line(_label(words.ENGINE), Span(f"slower than it could be: {titles}", "warn")))
    return [fitted(one, width) for one in lines]


def _queue(state: State, width: int, now: float) -> list[Line]:
    """Return who waits for a model that does not serve, and what comes next."""
    if state.queue is None or state.gone is not None:
        return []
    said = on_demand_text.waiting_lines(state.queue, now)
    lines = [
        line(_label(words.QUEUED if number == 0 else ""), text)
        for number, text in enumerate(said[:_QUEUED])
    ]
    return [fitted(one, width) for one in lines]


def _downloads(state: State) -> list[Line]:
    """Return what is fetched beside the stages, which stand above with the same titles."""
    shown = {stage.title for stage in state.under_way}
    return [
        line(_label(words.FETCHING), now_line(one))
        for one in state.downloads.running
        if one.title not in shown
    ]


def _stage(stage: StageProgress) -> Line:
    share = render.stage_share(stage)
    bar = "" if share is None else f"{gauge(share, _GAUGE // 2)} {percent_text(share):>5} "
    return line(_label(words.BOOT), Span(bar, "strong"), render.stage_line(stage))


def _pool(state: State, width: int, *, is_plain: bool) -> Line:
    tick, engine = state.tick, state.engine
    if tick is None:
        return line(_label(words.POOL), Span(words.NO_TICK, "quiet"))
    total = tick.pool_tokens if tick.pool_tokens is not None else engine.pool_tokens
    if tick.pool_used_share is None:
        reason = words.NO_RATE if engine.is_serving else words.NO_ENGINE
        shown = f"{reason}{'' if total is None else f' of {tokens_text(total)}'}"
        return line(_label(words.POOL), Span(shown, "quiet"))
    share = tick.pool_used_share
    amount = words.POOL_OF.format(
        used=UNKNOWN if tick.pool_used_tokens is None else f"{tick.pool_used_tokens:,}",
        total=tokens_text(total),
    )
    waiting = render.count_text(tick.waiting)
    if tick.waiting and tick.waiting_by_reason and width >= _ROOMY:
        waiting = words.WAITS.format(count=waiting, reasons=_reasons(tick.waiting_by_reason))
    pieces = [
        amount,
        words.QUEUE.format(running=render.count_text(tick.running), waiting=waiting),
    ]
    if width >= _ROOMY:
        pieces.append(words.PREEMPTIONS.format(count=render.count_text(tick.preemptions)))
    style = "warn" if share >= 0.95 else ""
    size = _GAUGE if width >= _ROOMY else _GAUGE // 2
    return line(
        _label(words.POOL),
        Span(f"{gauge(share, size, is_plain=is_plain)} {percent_text(share):>5}", style),
        f"  {' · '.join(pieces)}",
    )


def _reasons(by_reason: dict[str, int]) -> str:
    named = [(words.WAIT_REASONS.get(one, one), count) for one, count in by_reason.items() if count]
    return ", ".join(f"{name} {count}" for name, count in named) or UNKNOWN


def _spill(tick: Tick | None, width: int) -> list[Line]:
    """Return spill by kind: first what hurts, then what was meant to lie elsewhere."""
    if tick is None:
        return [line(_label(words.SPILL), Span(words.NO_TICK, "quiet"))]
    harmful = [flow for flow in tick.spill if flow.is_harmful]
    unknown = [flow for flow in harmful if _is_unknown(flow)]
    active = [flow for flow in harmful if flow.since is not None or (flow.bytes or 0) > 0]
    if tick.spill_bytes:
        head = Span(words.HARM.format(amount=bytes_text(tick.spill_bytes)), "bad")
    elif active:
        head = Span(words.HARM.format(amount=_flow(active[0])), "bad")
    elif tick.spill_bytes is None or (harmful and len(unknown) == len(harmful)):
        reason = next((flow.note for flow in unknown if flow.note), words.NOT_SAID)
        head = Span(words.HARM_UNKNOWN.format(reason=reason.rstrip(".")), "quiet")
    else:
        head = Span(words.HARM_NONE, "good")
    lines = [line(_label(words.SPILL), head, *_harmful_rest(active, unknown))]
    meant = [_flow(flow) for flow in tick.spill if not flow.is_harmful]
    if meant:
        text = f"{'':<{_LABEL}}{' · '.join(meant)}"
        lines += [line(Span(one, "quiet")) for one in _wrapped(text, width)]
    return lines


def _harmful_rest(active: list[SpillFlow], unknown: list[SpillFlow]) -> list[Span]:
    said = [Span(f" · {_flow(flow)}", "bad") for flow in active]
    if unknown:
        names = ", ".join(words.SPILL_KINDS.get(flow.kind, flow.kind) for flow in unknown)
        said.append(Span(f" · {UNKNOWN}: {names}", "quiet"))
    return said


def _is_unknown(flow: SpillFlow) -> bool:
    return flow.bytes is None and flow.share is None and flow.bytes_per_s is None


def _flow(flow: SpillFlow) -> str:
    """Return one kind of spill: `CPU KV tier 1.20 GiB, 3.0 MiB/s`."""
    name = words.SPILL_KINDS.get(flow.kind, flow.kind)
    if flow.where:
        name += f" ({flow.where})"
    if _is_unknown(flow):
        return f"{name} {UNKNOWN}" + (f" ({flow.note.rstrip('.')})" if flow.note else "")
    pieces = [] if flow.bytes is None else [bytes_text(flow.bytes)]
    if flow.share is not None:
        pieces.append(percent_text(flow.share))
    if flow.bytes_per_s:
        pieces.append(words.MOVES.format(rate=bytes_text(flow.bytes_per_s)))
    return f"{name} {', '.join(pieces)}"


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(
        text, width, subsequent_indent=" " * _LABEL, break_on_hyphens=False, drop_whitespace=False
    )


def _speeds(state: State, width: int, *, is_plain: bool) -> list[Line]:
    return [
        _speed(state, words.DECODE, "decode_tokens_per_s", width, is_plain=is_plain),
        _speed(state, words.PREFILL, "prefill_tokens_per_s", width, is_plain=is_plain),
    ]


def _speed(state: State, label: str, name: str, width: int, *, is_plain: bool) -> Line:
    tick = state.tick
    value = getattr(tick, name) if tick is not None else None
    chart = spark(state.series(name), width - _LABEL - _FIGURE - 1, is_plain=is_plain)
    if value is None:
        reason = words.NO_TICK if tick is None else words.NO_RATE
        if tick is not None and not state.engine.is_serving:
            reason = words.NO_ENGINE
        room = width - _LABEL - len(reason) - 2
        return line(_label(label), Span(reason, "quiet"), f"  {chart[-room:]}")
    return line(_label(label), Span(f"{rate_text(value):<{_FIGURE}}", "strong"), f" {chart}")


def _times(state: State, width: int) -> Line:
    tick = state.tick or Tick(at=0.0)
    per_step = UNKNOWN if tick.tokens_per_step is None else f"{tick.tokens_per_step:.2f}"
    pieces = [
        words.TTFT.format(half=latency_text(tick.ttft_p50_s), most=latency_text(tick.ttft_p95_s)),
        words.STEP.format(time=_ms(tick.step_s)),
        words.PER_STEP.format(tokens=per_step),
        words.PREFIX.format(share=percent_text(tick.prefix_hit_share)),
    ]
    if width >= _ROOMY:
        pieces.insert(1, words.BETWEEN.format(half=_ms(tick.itl_p50_s), most=_ms(tick.itl_p95_s)))
    if tick.acceptance and width >= _WIDE:
        shares = " ".join(f"{share * 100:.0f}" for share in tick.acceptance)
        pieces.append(words.TAKEN.format(shares=f"{shares} %"))
    return line(_label(words.TIMES), " · ".join(pieces))


def _ms(seconds: float | None) -> str:
    return UNKNOWN if seconds is None else f"{seconds * 1_000:.0f} ms"


def _verdict(state: State, width: int, *, is_tall: bool) -> list[Line]:
    """Return whether it is as fast as it should be; what cannot be compared only where room is."""
    if state.speed is None or not state.engine.is_serving:
        return []
    verdict = state.speed.verdict
    is_compared = verdict.kind is not SpeedVerdictKind.NOT_COMPARABLE
    if not is_compared and not is_tall:
        return []
    style = "warn" if verdict.kind is SpeedVerdictKind.SLOWER else "" if is_compared else "quiet"
    texts = textwrap.wrap(verdict.sentence, width - _LABEL)[: 3 if is_tall else 2]
    return [
        line(_label(words.VERDICT if number == 0 else ""), Span(text, style))
        for number, text in enumerate(texts)
    ]


def _room(state: State) -> list[Line]:
    if state.pool is None or not state.engine.is_serving:
        return []
    return [line(_label(words.ROOM), Span(state.pool.room.sentence, "quiet"))]


def _host(state: State, width: int) -> Line:
    tick, gateway = state.tick or Tick(at=0.0), state.gateway
    pieces = [
        words.MEMORY.format(
            used=bytes_text(tick.memory_used_bytes), total=bytes_text(tick.memory_bytes)
        ),
        words.ENGINE_MEMORY.format(used=bytes_text(tick.engine_rss_bytes)),
    ]
    if gateway is not None:
        form = words.GATEWAY if width >= _ROOMY else words.GATEWAY_SHORT
        pieces.append(
            form.format(
                in_flight=gateway.in_flight, waiting=gateway.waiting, count=f"{gateway.requests:,}"
            )
        )
    return line(_label(words.HOST), " · ".join(pieces))


# Other pages


def _cards_page(state: State, width: int, height: int) -> list[Line]:
    tick = state.tick or Tick(at=0.0)
    lines = top_cards.cards_lines(tick.cards, width, height, tick.cards_note)
    notes = [tick.cards_note] if tick.cards and tick.cards_note else []
    for sentence in (*notes, *top_cards.faults_lines(tick.cards)):
        lines += [line(Span(text, "quiet")) for text in textwrap.wrap(sentence, width)]
    return lines


def _help(width: int) -> list[Line]:
    lines: list[Line] = [line(Span(f"{key:<3}", "strong"), text) for key, text in words.HELP]
    lines.append(())
    for sentence in words.HELP_TEXTS:
        lines += [line(text) for text in textwrap.wrap(sentence, min(width, 100))]
    return lines
