"""A history of boots, as the service would send it."""

from studio.domain.boots import BootHistory, BootOutcome, BootRecord, BootTry, PinResult

COLD = BootRecord(
    at="2026-11-29T12:00:00+00:00",
    preset="27b-mtp",
    runtime="cu13-hyperqwen-0.31.0",
    runtime_id="3f9a0c51b7d2e8644a1b",
    cards="GPU-1",
    outcome=BootOutcome.FAILED,
    is_cold=True,
    is_cold_certain=True,
    error="kv-cache-too-small",
    phases_s={"interpreter": 11.0, "config": 0.01, "weights": 12.5, "compile": 44.0},
)
WARM = BootRecord(
    at="2026-11-29T12:04:00+00:00",
    preset="27b-mtp",
    runtime="cu13-hyperqwen-0.31.0",
    runtime_id="3f9a0c51b7d2e8644a1b",
    cards="GPU-1",
    outcome=BootOutcome.SERVED,
    attempt=BootTry.WARM,
    is_cold=False,
    phases_s={"interpreter": 10.0, "weights": 12.0, "new-phase": 3.0},
    boot_s=81.2,
    forecast_s=86.0,
    pool_tokens=84_811,
    why=("The pool is 811 tokens larger than at the boot of then.", "The driver was 1 and is 2."),
)
HISTORY = BootHistory(boots=(COLD, WARM))
PINNED = PinResult(
    preset="27b-mtp",
    kv_cache_memory_bytes=5_000_000_000,
    pool_tokens=84_811,
    note="From its next start on it has 4.66 GiB of KV cache.",
)
FREED = PinResult(preset="27b-mtp", was_bytes=5, note="It is free again.")
