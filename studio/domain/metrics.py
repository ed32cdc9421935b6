"""Live numbers. `None` means not known, never zero."""

import msgspec

from studio.domain.cards import CardSample
from studio.domain.histograms import Histogram
from studio.domain.spill import SpillFlow


class EngineSample(msgspec.Struct, frozen=True, kw_only=True):
    """One reading of the engine's `/metrics`; counters are cumulative, times in seconds."""

    running: float | None = None
    waiting: float | None = None
    pool_used_share: float | None = None
    pool_tokens: int | None = None
    block_size: int | None = None
    blocks: int | None = None
    prompt_tokens_total: float | None = None
    generation_tokens_total: float | None = None
    cached_prompt_tokens_total: float | None = None
    prefix_queries_total: float | None = None
    prefix_hits_total: float | None = None
    preemptions_total: float | None = None
    requests_finished_total: float | None = None
    ttft_sum_s: float | None = None
    ttft_count: float | None = None
    itl_sum_s: float | None = None
    itl_count: float | None = None
    drafts_total: float | None = None
    accepted_total: float | None = None
    draft_tokens_total: float | None = None
    accepted_by_position: tuple[float, ...] | None = None
    """Accepted tokens of the first, second, … place of a draft."""
    waiting_by_reason: dict[str, float] | None = None
    """`capacity`: no room in the pool or no seat; `deferred`: for another reason, as a transfer."""
    waiting_by_fetch: dict[str, float] | None = None
    """By stage of the KV blocks that are fetched for them (0.32 and later)."""
    finished_by_reason: dict[str, float] | None = None
    prompt_tokens_by_source: dict[str, float] | None = None
    """`local_compute`, `local_cache_hit`, `external_kv_transfer`."""
    cached_tokens_by_tier: dict[str, float] | None = None
    """Where reused prompt tokens came from: `device`, `host`, `disk`, … (0.32 and later)."""
    external_queries_total: float | None = None
    external_hits_total: float | None = None
    """Of the prefix cache behind a KV connector, in tokens."""
    multimodal_queries_total: float | None = None
    multimodal_hits_total: float | None = None
    rejected_total: float | None = None
    """Requests that a limit of the engine's queue turned away (0.32 and later)."""
    corrupted_total: float | None = None
    """Answers with numbers that are none; counted only with VLLM_COMPUTE_NANS_IN_LOGITS."""
    sleep_state: str | None = None
    """`awake`, `weights_offloaded` or `discard_all`; None: engines of one server differ."""
    kv_load_bytes_total: float | None = None
    kv_store_bytes_total: float | None = None
    kv_load_time_total_s: float | None = None
    kv_store_time_total_s: float | None = None
    """Of the KV tier in host memory: back onto the card, and off it."""
    kv_pinned_share: float | None = None
    """How much of that tier transfers under way hold now; not how full it is, which no version
    tells."""
    kv_stores_skipped_total: float | None = None
    kv_allocation_failures_total: float | None = None
    kv_disk_read_bytes_total: float | None = None
    kv_disk_write_bytes_total: float | None = None
    """Of the tiers behind host memory (0.28 and later)."""
    estimated_flops_total: float | None = None
    estimated_read_bytes_total: float | None = None
    estimated_write_bytes_total: float | None = None
    """On each card; counted only with `--enable-mfu-metrics`, otherwise 0."""
    ttft: Histogram | None = None
    itl: Histogram | None = None
    end_to_end: Histogram | None = None
    queue: Histogram | None = None
    prefill: Histogram | None = None
    decode: Histogram | None = None
    """Seconds of whole requests, and of their parts."""
    time_per_output_token: Histogram | None = None
    """Seconds for each output token, over whole requests."""
    iteration_tokens: Histogram | None = None
    """Tokens of one step of the engine: its count counts the steps."""


class HostSample(msgspec.Struct, frozen=True, kw_only=True):
    """One reading of the host; bytes."""

    memory_bytes: int | None = None
    memory_used_bytes: int | None = None
    swap_used_bytes: int | None = None
    engine_rss_bytes: int | None = None


class Tick(msgspec.Struct, frozen=True, kw_only=True):
    """One second of the monitor: what the window draws and the terminal prints."""

    at: float
    """Seconds since the epoch."""
    pool_tokens: int | None = None
    pool_used_tokens: int | None = None
    pool_used_share: float | None = None
    running: int | None = None
    waiting: int | None = None
    prefill_tokens_per_s: float | None = None
    decode_tokens_per_s: float | None = None
    ttft_s: float | None = None
    """Mean TTFT of the requests that got their first token since the last tick that had any."""
    ttft_p50_s: float | None = None
    ttft_p95_s: float | None = None
    """Of the first tokens of the last minute; between two bounds of the engine's histogram."""
    itl_p50_s: float | None = None
    itl_p95_s: float | None = None
    """Time between two tokens of one answer, of the last ten seconds."""
    end_to_end_p50_s: float | None = None
    end_to_end_p95_s: float | None = None
    """Of whole requests that ended in the last minute, from their arrival in the engine."""
    acceptance: tuple[float, ...] | None = None
    """Share of drafts whose first, second, … token was accepted, 0 to 1."""
    draft_accepted_share: float | None = None
    """Of all tokens that were drafted in the last ten seconds, those that were accepted."""
    step_s: float | None = None
    """Mean time of one step of the engine while it decodes."""
    waiting_by_reason: dict[str, int] | None = None
    external_hit_share: float | None = None
    """Of the prefix cache behind a KV connector, as `prefix_hit_share` is of the pool's."""
    kv_load_bytes_per_s: float | None = None
    kv_store_bytes_per_s: float | None = None
    """To and from the KV tier in host memory, where the preset asked for one."""
    tokens_per_step: float | None = None
    """Acceptance length: tokens per engine step under speculation."""
    prefix_hit_share: float | None = None
    preemptions: int | None = None
    requests_total: int | None = None
    spill_bytes: int | None = None
    """Bytes that lie where they hurt: the sum of the harmful kinds in `spill`."""
    memory_used_bytes: int | None = None
    memory_bytes: int | None = None
    engine_rss_bytes: int | None = None
    cards: tuple[CardSample, ...] | None = None
    """None: NVIDIA's driver did not answer, or there is none; empty: it lists no card."""
    cards_note: str | None = None
    """Why cards are not known, or not fresh, in a sentence."""
    spill: tuple[SpillFlow, ...] = ()
    """Each kind that can occur on this host, also when it is zero or not known."""


class MonitorInfo(msgspec.Struct, frozen=True, kw_only=True):
    """The monitor itself: how often it looks, and what that costs."""

    interval_s: float = 1.0
    """Between two ticks."""
    cost_share: float | None = None
    """Of one processor core, for reading the cards, the engine and the host, over the last minute;
    without the engine's own work for its answer."""
    service_share: float | None = None
    """Of one processor core, for the whole service, over the same time."""
    tick_s: float | None = None
    """How long the last reading took from its beginning to the tick."""
    left_out: int = 0
    """Ticks that did not take place because the one before took too long."""
    cards_source: str | None = None
    """Who tells of the cards: `nvml`, `nvidia-smi`; None: nobody."""


class LogLine(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the engine's or the service's log, already redacted."""

    seq: int
    at: float
    source: str
    """`engine` or `studio`."""
    level: str
    """`debug info warning error` or `none` for a line without a level."""
    text: str
