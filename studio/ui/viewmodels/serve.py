"""The home page while it serves: gauge, three figures, charts."""

import enum
from collections.abc import Sequence

import msgspec

from studio.domain.metrics import Tick
from studio.domain.pool import PoolReport
from studio.domain.server import EngineState
from studio.domain.spill import HARMFUL
from studio.domain.units import (
    bytes_text,
    latency_text,
    percent_text,
    rate_text,
    tokens_text,
)
from studio.ui.language import t, told
from studio.ui.state import ENGINE_ACTIONS, Action, Known, Link, is_under_way
from studio.ui.viewmodels.chart_kinds import SPILL_WORDS
from studio.ui.viewmodels.charts import (
    PAST,
    ChartView,
    Points,
    charts,
    line_moved,
    points_of,
)
from studio.ui.viewmodels.words import Role, Text, named, number, number_and_unit, plural

_LONG_TALK = 20_000
_SHORT_TALK = 2_000


class Mode(enum.StrEnum):
    """Which panel stands on top of the page."""

    CHOOSE = "choose"
    PROGRESS = "progress"
    WEIR = "weir"


class FigureView(msgspec.Struct, frozen=True, kw_only=True):
    """A big figure with its one-line meaning."""

    label: str
    value: str
    unit: str
    meaning: str
    role: Role
    tooltip: str


class GaugeView(msgspec.Struct, frozen=True, kw_only=True):
    """The weir. Shares are of the crest; None is not known."""

    crest: str
    level: str
    share: float | None
    levels: tuple[tuple[float, float | None], ...]
    """Age in seconds, share of the crest; oldest first."""
    reuse: tuple[tuple[float, float | None], ...] = ()
    """The same for the part of the level that stands for reused prompts; empty: not known, and the
    water has one tone."""
    spill: str
    spills: bool
    spill_share: float
    empty: str
    tones: tuple[float, ...] = ()
    """What each request that runs holds now."""
    clear_share: float = 0.0
    """Height of what lies beside the pool on purpose: the tier in host memory, host KV."""
    facts: tuple[tuple[str, Text], ...]
    past: str
    spoken: str
    """The whole gauge as a sentence."""


class ServeView(msgspec.Struct, frozen=True, kw_only=True):
    """The page apart from chooser and progress."""

    gauge: GaugeView
    figures: tuple[FigureView, ...]
    charts: tuple[ChartView, ...]
    show_charts: bool


def mode_of(known: Known, *, choosing: bool) -> Mode:
    """Return which panel answers the question of the moment."""
    state = known.engine.state
    if known.engine.adopted is not None:
        return Mode.WEIR
    if state is EngineState.READY and not known.pending & {Action.RESTART, Action.SWITCH}:
        return Mode.CHOOSE if choosing else Mode.WEIR
    at_rest = state in (EngineState.STOPPED, EngineState.FAILED)
    asked = known.pending & ENGINE_ACTIONS - {Action.STOP}
    if at_rest and not asked and not is_under_way(known):
        return Mode.CHOOSE
    return Mode.PROGRESS


def serve_view(known: Known, ticks: Sequence[Tick], pool: PoolReport | None = None) -> ServeView:
    """Return the gauge, the figures and the charts from the ticks, oldest first."""
    tick = ticks[-1] if ticks else known.tick
    ready = known.engine.is_serving
    reason = "" if ready else t("The engine is not running.")
    if known.engine.state is EngineState.GONE:
        reason = t("The adopted engine does not answer.")
    if known.link is not Link.LIVE:
        reason, ready = t("The service does not answer."), False
    tick = tick if ready else None
    return ServeView(
        gauge=_with_pool(_gauge(known, tick, ticks, reason), tick, pool),
        figures=(_pool(known, tick, reason, pool), _spill(tick, reason), _speed(tick, reason)),
        charts=_charts(ticks, _crest(known, tick), is_now=ready),
        show_charts=known.engine.is_serving or any(item.decode_tokens_per_s for item in ticks),
    )


def _charts(ticks: Sequence[Tick], crest: int | None, *, is_now: bool) -> tuple[ChartView, ...]:
    """Return the charts; the last value is said only while it is that of this moment."""
    shown = charts(ticks, crest)
    return shown if is_now else tuple(msgspec.structs.replace(one, now="") for one in shown)


def _with_pool(view: GaugeView, tick: Tick | None, pool: PoolReport | None) -> GaugeView:
    """Return the gauge with what each request holds, and what was meant to lie beside the pool."""
    crest = pool.tokens if pool else None
    residents = pool.residents if pool and tick else ()
    flows = [one for one in tick.spill if one.kind not in HARMFUL] if tick else []
    memory = tick.memory_bytes if tick else None
    held = max((one.bytes or 0 for one in flows), default=0)
    return msgspec.structs.replace(
        view,
        tones=tuple(one.tokens / crest for one in residents if crest and one.tokens),
        clear_share=min(1.0, max(0.05, held / memory)) if held and memory else 0.0,
    )


def gauge_moved(before: GaugeView, after: GaugeView) -> bool:
    """Tell whether `after` looks different."""
    same = msgspec.structs.replace(after, levels=before.levels, reuse=before.reuse)
    moved = line_moved(before.levels, after.levels) or line_moved(before.reuse, after.reuse)
    return same != before or moved


def _crest(known: Known, tick: Tick | None) -> int | None:
    if tick is not None and tick.pool_tokens is not None:
        return tick.pool_tokens
    return known.engine.pool_tokens


def _gauge(known: Known, tick: Tick | None, ticks: Sequence[Tick], reason: str) -> GaugeView:
    crest = _crest(known, tick)
    used = tick.pool_used_tokens if tick else None
    share = _share(used, crest)
    levels = tuple(
        (age, _share(value, crest)) for age, value in points_of(ticks, "pool_used_tokens")
    )
    reuse = _reuse(ticks, levels)
    spill = tick.spill_bytes if tick else None
    memory = tick.memory_bytes if tick else None
    empty = "" if share is not None else reason or t("The engine has not reported its pool yet.")
    return GaugeView(
        crest=t("pool {crest}").format(crest=tokens_text(crest)) if crest else t("pool –"),
        level=number(tokens_text(used)),
        share=share,
        levels=levels,
        reuse=reuse,
        spill=t("spill {spill}").format(spill=bytes_text(spill)),
        spills=bool(spill),
        spill_share=min(1.0, max(0.05, spill / memory)) if spill and memory else 0.0,
        empty=empty,
        facts=_facts(tick, share, reason, _latest_ttft(ticks)),
        past=t("{past} · darker: reused prompts").format(past=t(PAST)) if reuse else t(PAST),
        spoken=t("{used} of {crest} in use, spill {spill}").format(
            used=tokens_text(used), crest=tokens_text(crest), spill=bytes_text(spill)
        ),
    )


def _reuse(ticks: Sequence[Tick], levels: Points) -> Points:
    """Return how deep the darker water stands: of each level the share of prompt tokens that were
    found in the pool at that moment (`prefix_hit_share`); empty where nobody has told one.
    """
    hits = points_of(ticks, "prefix_hit_share")
    if not any(share for _, share in hits):
        return ()
    return tuple(
        (age, None if level is None or hit is None else level * hit)
        for (age, level), (_, hit) in zip(levels, hits, strict=True)
    )


def _share(used: float | None, crest: float | None) -> float | None:
    return None if used is None or not crest else min(1.0, used / crest)


def _latest_ttft(ticks: Sequence[Tick]) -> float | None:
    """Return the newest TTFT on the chart; only ticks in which a request began have one."""
    return next((tick.ttft_s for tick in reversed(ticks) if tick.ttft_s is not None), None)


def _facts(
    tick: Tick | None, share: float | None, reason: str, ttft_s: float | None
) -> tuple[tuple[str, Text], ...]:
    def fact(text: str, why: str) -> Text:
        return Text(text=text, tooltip=reason or why)

    tick = tick or Tick(at=0.0)
    counts = (tick.running, tick.waiting)
    seats = " · ".join("–" if count is None else f"{count:,}" for count in counts)
    steps = None if tick.tokens_per_step is None else f"{tick.tokens_per_step:.1f}"
    return (
        (t("in use"), fact(percent_text(share), t("Tokens in use of what the pool can hold"))),
        (t("run · wait"), fact(seats, t("Requests that get tokens now, and requests that wait"))),
        (
            t("TTFT"),
            fact(
                latency_text(None if reason else ttft_s),
                t("Mean time to first token, latest requests"),
            ),
        ),
        (
            t("reused"),
            fact(percent_text(tick.prefix_hit_share), t("Prompt tokens found in the KV cache")),
        ),
        (
            "tok/step",
            fact(
                steps or "–",
                t("Tokens per engine step")
                if steps
                else t("The engine reports this under speculation"),
            ),
        ),
        (t("memory"), fact(bytes_text(tick.engine_rss_bytes), t("Resident memory of the engine"))),
    )


def _pool(known: Known, tick: Tick | None, reason: str, pool: PoolReport | None) -> FigureView:
    crest = _crest(known, tick)
    used = tick.pool_used_tokens if tick else None
    sentence = told(pool.room.sentence) if pool is not None else _room(used, crest, tick)
    unit = t("of {crest}").format(crest=tokens_text(crest)) if used is not None and crest else ""
    return FigureView(
        label=t("Pool"),
        value=number(tokens_text(used)),
        unit=unit,
        meaning=sentence if not reason else t("not known now"),
        role=Role.INK,
        tooltip=reason or t("KV cache in use. When it is full, requests wait or are preempted."),
    )


def _room(used: int | None, crest: int | None, tick: Tick | None) -> str:
    if used is None or not crest:
        return t("not reported yet")
    if tick is not None and tick.waiting:
        return plural(tick.waiting, "request waits its turn", "requests wait their turn")
    free = crest - used
    talk, words = (_LONG_TALK, "20k") if crest >= 2 * _LONG_TALK else (_SHORT_TALK, "2k")
    count = free // talk
    if count == 0:
        return t("room for {free} more").format(free=tokens_text(free))
    if count == 1:
        return t("room for one more {words} conversation").format(words=words)
    return t("room for {count:,} more {words} conversations").format(count=count, words=words)


def _spill(tick: Tick | None, reason: str) -> FigureView:
    spill = tick.spill_bytes if tick else None
    value, unit = number_and_unit(bytes_text(spill))
    if spill is None:
        meaning = t("not measured yet") if not reason else t("not known now")
    elif spill == 0:
        meaning = t("nothing lies where it hurts")
    else:
        meaning = t("in swap, where it slows every answer")
    return FigureView(
        label=t("Spill"),
        value=value,
        unit=unit,
        meaning=meaning,
        role=Role.HARM if spill else Role.INK,
        tooltip=reason or _spill_words(tick),
    )


def _spill_words(tick: Tick | None) -> str:
    """Return what spills in words, each kind as the service measured it."""
    first = t("Bytes of the engine that lie where they slow every answer.")
    flows = tick.spill if tick else ()
    kinds = [
        named(t(SPILL_WORDS[one.kind]), bytes_text(one.bytes))
        for one in flows
        if one.bytes is not None
    ]
    return "\n".join((first, *kinds))


def _speed(tick: Tick | None, reason: str) -> FigureView:
    rate = tick.decode_tokens_per_s if tick else None
    value, unit = number_and_unit(rate_text(rate))
    prefill = tick.prefill_tokens_per_s if tick else None
    if reason:
        meaning = t("not known now")
    elif rate is None:
        meaning = t("not measured yet")
    elif not rate and not prefill:
        meaning = t("idle, waiting for a question")
    elif prefill:
        meaning = t("decode, with prefill at {prefill}").format(prefill=rate_text(prefill))
    else:
        running = tick.running if tick else None
        meaning = (
            t("decode, for {running}").format(running=plural(running, "request", "requests"))
            if running
            else t("decode")
        )
    return FigureView(
        label=t("Speed"),
        value=value,
        unit=unit,
        meaning=meaning,
        role=Role.INK,
        tooltip=reason or t("Tokens generated in the last second, all requests together."),
    )
