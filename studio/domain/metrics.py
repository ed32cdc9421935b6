"""Live numbers. `None` means not known, never zero."""

import msgspec

from studio.domain.cards import CardSample
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
    kv_offload_store_bytes_total: float | None = None
    """Into the KV tier beside the cards."""
    kv_offload_load_bytes_total: float | None = None
    """Back from it."""


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
    spill: tuple[SpillFlow, ...] = ()
    """Each kind that can occur on this host, also when it is zero or not known."""


class LogLine(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the engine's or the service's log, already redacted."""

    seq: int
    at: float
    source: str
    """`engine` or `studio`."""
    level: str
    """`debug info warning error` or `none` for a line without a level."""
    text: str
