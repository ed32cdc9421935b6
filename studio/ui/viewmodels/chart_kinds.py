"""The charts that the monitor page can show, and the spans that it looks back over: a table."""

from collections.abc import Mapping

import msgspec

from studio.domain.spill import SpillKind
from studio.ui.language import marked
from studio.ui.viewmodels.words import Role

LIVE_SPAN_S = 3_600.0
"""Up to here a chart takes each second as it comes; longer ones are read again now and then."""


class SpanChoice(msgspec.Struct, frozen=True):
    """One span to look back over."""

    id: str
    words: str
    seconds: float
    tooltip: str


SPANS: tuple[SpanChoice, ...] = (
    SpanChoice("1m", marked("1 min"), 60.0, marked("The last minute")),
    SpanChoice("15m", marked("15 min"), 900.0, marked("The last 15 minutes")),
    SpanChoice("1h", marked("1 h"), 3_600.0, marked("The last hour")),
    SpanChoice("24h", marked("24 h"), 86_400.0, marked("The last 24 hours")),
    SpanChoice("7d", marked("7 d"), 7 * 86_400.0, marked("The last seven days")),
    SpanChoice("90d", marked("90 d"), 90 * 86_400.0, marked("The last 90 days")),
)


PLAIN = "{name} {value}"
WITHIN = marked("{name} within {value}")
"""A quantile is said as what it means: half of all took no longer than this."""


class LineKind(msgspec.Struct, frozen=True):
    """A line, or one line for each series that the pattern `series` fits."""

    series: str
    name: str
    role: Role


class ChartKind(msgspec.Struct, frozen=True, kw_only=True):
    """One chart that can be chosen."""

    id: str
    title: str
    unit: str
    """As it is shown: `s`, `ms`, `%`, `B`; values are multiplied by `factor` for it."""
    said: str = PLAIN
    """How a line's newest value is put into words above the chart."""
    lines: tuple[LineKind, ...]
    about: str
    factor: float = 1.0
    least_top: float = 1.0
    """The scale reaches at least so far, in the unit of the series."""
    ceiling: float | None = None
    """The scale always ends here, where values can go no higher."""
    is_shown: bool = True
    """Unless a person chose otherwise."""


KINDS: tuple[ChartKind, ...] = (
    ChartKind(
        id="pool",
        title=marked("Pool in use"),
        unit="tokens",
        about=marked("Tokens in the KV pool; the quiet line is what it can hold"),
        lines=(
            LineKind("pool_used_tokens", marked("used"), Role.WATER),
            LineKind("pool_tokens", marked("holds"), Role.QUIET),
        ),
    ),
    ChartKind(
        id="decode",
        title=marked("Decode"),
        unit="tok/s",
        about=marked("Tokens generated a second, all requests together"),
        lines=(LineKind("decode_tokens_per_s", marked("decode"), Role.WATER),),
    ),
    ChartKind(
        id="prefill",
        title=marked("Prefill"),
        unit="tok/s",
        about=marked("Prompt tokens computed a second; reused ones are not among them"),
        lines=(LineKind("prefill_tokens_per_s", marked("prefill"), Role.DEEP),),
    ),
    ChartKind(
        id="requests",
        title=marked("Seats"),
        unit="requests",
        about=marked("Requests that run, and those that wait in the engine"),
        least_top=4.0,
        lines=(
            LineKind("running", marked("running"), Role.WATER),
            LineKind("waiting", marked("waiting"), Role.WARN),
        ),
    ),
    ChartKind(
        id="ttft",
        title=marked("First token"),
        unit="s",
        about=marked(
            "Time to the first token: half of the last minute's requests, and 95 of 100, "
            "took no longer"
        ),
        least_top=0.1,
        lines=(
            LineKind("ttft_p95_s", marked("95 %"), Role.CLEAR),
            LineKind("ttft_p50_s", marked("half"), Role.WATER),
        ),
        said=WITHIN,
    ),
    ChartKind(
        id="itl",
        title=marked("Between tokens"),
        unit="ms",
        factor=1_000.0,
        about=marked("Time between two tokens: half of them, and 95 of 100, came no later"),
        least_top=0.01,
        lines=(
            LineKind("itl_p95_s", marked("95 %"), Role.CLEAR),
            LineKind("itl_p50_s", marked("half"), Role.WATER),
        ),
        said=WITHIN,
    ),
    ChartKind(
        id="end-to-end",
        title=marked("Whole requests"),
        unit="s",
        about=marked(
            "From arrival to the last token: half of the requests, and 95 of 100, took no longer"
        ),
        least_top=1.0,
        lines=(
            LineKind("end_to_end_p95_s", marked("95 %"), Role.CLEAR),
            LineKind("end_to_end_p50_s", marked("half"), Role.WATER),
        ),
        said=WITHIN,
    ),
    ChartKind(
        id="spill",
        title=marked("Spill"),
        unit="B",
        about=marked("Bytes beside the pool by kind: red ones lie where they slow every answer"),
        least_top=float(1 << 30),
        lines=(LineKind("spill.*.bytes", "", Role.CLEAR),),
    ),
    ChartKind(
        id="reuse",
        title=marked("Reused prompts"),
        about=marked("Share of prompt tokens that were found in the pool, or behind a connector"),
        lines=(
            LineKind("prefix_hit_share", marked("pool"), Role.WATER),
            LineKind("external_hit_share", marked("behind"), Role.CLEAR),
        ),
        unit="%",
        factor=100.0,
        ceiling=1.0,
    ),
    ChartKind(
        id="steps",
        title=marked("Tokens a step"),
        unit="tok/step",
        about=marked("What one step of the engine brings with speculation"),
        least_top=4.0,
        lines=(LineKind("tokens_per_step", marked("tokens"), Role.WATER),),
    ),
    ChartKind(
        id="acceptance",
        title=marked("Accepted drafts"),
        about=marked("Share of the drafted tokens that the model took"),
        is_shown=False,
        lines=(LineKind("draft_accepted_share", marked("accepted"), Role.WATER),),
        unit="%",
        factor=100.0,
        ceiling=1.0,
    ),
    ChartKind(
        id="preemptions",
        title=marked("Put back"),
        unit="requests",
        about=marked("Requests put back because the pool was full, since the engine started"),
        is_shown=False,
        least_top=4.0,
        lines=(LineKind("preemptions", marked("put back"), Role.WARN),),
    ),
    ChartKind(
        id="spill-moves",
        title=marked("Spill on the move"),
        unit="B/s",
        about=marked("Bytes a second to and from where they spill, by kind"),
        is_shown=False,
        least_top=float(1 << 20),
        lines=(LineKind("spill.*.bytes_per_s", "", Role.CLEAR),),
    ),
    ChartKind(
        id="pressure",
        title=marked("Memory pressure"),
        about=marked("Share of the time lost waiting for memory"),
        is_shown=False,
        lines=(LineKind("spill.*.share", "", Role.HARM),),
        unit="%",
        factor=100.0,
        ceiling=1.0,
    ),
    ChartKind(
        id="memory",
        title=marked("Memory"),
        unit="B",
        about=marked("Memory of this machine in use, and what the engine's processes hold of it"),
        least_top=float(1 << 30),
        lines=(
            LineKind("memory_used_bytes", marked("in use"), Role.WATER),
            LineKind("engine_rss_bytes", marked("engine"), Role.CLEAR),
        ),
    ),
    ChartKind(
        id="card-load",
        title=marked("Cards at work"),
        about=marked("Share of the time in which a card computed anything at all"),
        lines=(LineKind("card*.utilisation_share", "", Role.WATER),),
        unit="%",
        factor=100.0,
        ceiling=1.0,
    ),
    ChartKind(
        id="card-memory",
        title=marked("Memory of the cards"),
        unit="B",
        about=marked("Memory in use on each card"),
        least_top=float(1 << 30),
        lines=(LineKind("card*.memory_used_bytes", "", Role.WATER),),
    ),
    ChartKind(
        id="card-power",
        title=marked("Power"),
        unit="W",
        about=marked("Power that each card draws"),
        least_top=50.0,
        lines=(LineKind("card*.power_w", "", Role.WATER),),
    ),
    ChartKind(
        id="card-heat",
        title=marked("Temperature"),
        unit="°C",
        about=marked("Temperature of each card's processor"),
        least_top=80.0,
        lines=(LineKind("card*.temperature_c", "", Role.WATER),),
    ),
    ChartKind(
        id="card-clock",
        title=marked("Clocks"),
        unit="MHz",
        about=marked("Clock of each card's processor"),
        is_shown=False,
        least_top=1_000.0,
        lines=(LineKind("card*.sm_clock_mhz", "", Role.WATER),),
    ),
)
BY_ID: Mapping[str, ChartKind] = {kind.id: kind for kind in KINDS}

OF_CARDS = frozenset(
    kind.id for kind in KINDS if all(line.series.startswith("card") for line in kind.lines)
)
"""They stand only where there are cards; every other chart has its place before anything was
measured, so that none moves when its figures come.
"""

SPILL_WORDS: Mapping[str, str] = {
    SpillKind.WDDM_SHARED: marked("shared"),
    SpillKind.SWAP: marked("swap"),
    SpillKind.MEMORY_PRESSURE: marked("pressure"),
    SpillKind.PAGE_THRASH: marked("re-read"),
    SpillKind.SLOW_PATH: marked("detour"),
    SpillKind.CPU_KV_TIER: marked("KV tier"),
    SpillKind.HOST_KV: marked("host KV"),
    SpillKind.EXPERT_RING: marked("experts"),
    SpillKind.PLE_DISK: marked("disk"),
}
