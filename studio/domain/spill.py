"""Bytes beside the pool: those that lie where they hurt, and those that were meant to go there."""

import enum

import msgspec


class SpillKind(enum.StrEnum):
    """Where bytes went. The first five hurt, the others were asked for by the preset."""

    WDDM_SHARED = "wddm-shared"
    """Windows moved card memory into system memory; above the adapter's idle baseline."""
    SWAP = "swap"
    """The engine's processes were written to the host's swap."""
    MEMORY_PRESSURE = "memory-pressure"
    """The host or the engine's control group waits for memory; a share of time, no bytes."""
    PAGE_THRASH = "page-thrash"
    """Mapped weights are read from disk again and again."""
    SLOW_PATH = "slow-path"
    """A fast path of the V100 engine that failed and goes through the host."""
    CPU_KV_TIER = "cpu-kv-tier"
    """Blocks of the KV cache kept in host memory for reuse."""
    HOST_KV = "host-kv"
    """KV cache pinned in host memory."""
    EXPERT_RING = "expert-ring"
    """Experts that are fetched from host memory."""
    PLE_DISK = "ple-disk"
    """Per-layer embeddings that are read from disk."""


HARMFUL = frozenset(
    (
        SpillKind.WDDM_SHARED,
        SpillKind.SWAP,
        SpillKind.MEMORY_PRESSURE,
        SpillKind.PAGE_THRASH,
        SpillKind.SLOW_PATH,
    )
)


class SpillFlow(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of spill in one second. `None` means not known, never zero."""

    kind: SpillKind
    bytes: int | None = None
    """What lies there now."""
    bytes_per_s: float | None = None
    """What moves, in and out together."""
    in_bytes_per_s: float | None = None
    """Towards the place (stored, swapped out)."""
    out_bytes_per_s: float | None = None
    """Back from it (loaded, swapped in)."""
    share: float | None = None
    """For pressure: share of the time that was lost waiting, 0 to 1."""
    since: float | None = None
    """Since when it is above its baseline, in seconds since the epoch; None: it is not."""
    where: str | None = None
    """Which adapter, card, file or process, where there can be several."""
    note: str | None = None
    """Why something is not known, in a sentence."""

    @property
    def is_harmful(self) -> bool:
        """Tell whether bytes of this kind lie where they hurt."""
        return self.kind in HARMFUL
