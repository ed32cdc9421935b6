"""What a plan takes of the host beside its cards: memory, `/dev/shm`, disk. Pure."""

import dataclasses
from collections.abc import Iterator, Mapping

from studio.domain.hardware import HostSnapshot
from studio.domain.plans import LedgerItem, LedgerPlace
from studio.domain.units import GIB, MIB, bytes_text
from studio.planner.outcome import Lack, Shortfall

CONTAINER_SHM_BYTES = 64 * MIB
"""What a container has unless told otherwise; too little for several workers or a CPU tier."""
_EMBEDDING_BYTES = round(2.1 * GIB)
_LEAST_PROCESSES_BYTES = round(1.6 * GIB)
"""V4.1 at 512K ran in 62 GB with 56.1 GiB of experts in memory: so much was left for the rest."""
_DECIMAL_GB = 1_000_000_000


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Demands:
    """What preset, runtime and model say that they need; bytes."""

    memory_bytes: int | None = None
    """Of the engine's processes, weights on the processor included."""
    memory_source: str = "what the preset asks for"
    disk_bytes: int | None = None
    """Still to be written: runtime and model that are not here yet."""
    embedding_bytes: int | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """The ledger of the host and what is missing."""

    items: tuple[LedgerItem, ...]
    shortfalls: tuple[Shortfall, ...]
    warnings: tuple[str, ...]


def of(
    demands: Demands,
    settings: Mapping[str, object],
    host: HostSnapshot,
    *,
    in_memory: tuple[LedgerItem, ...] = (),
) -> Needs:
    """Return what the host has to give. `in_memory`: what lies there by the engine's own ledger.

    Only what the machine lacks altogether is a shortfall; what other programs hold now is warned
    of, because they may let go of it.
    """
    memory = (*in_memory, *_memory_items(demands, settings, in_memory))
    shm = tuple(_shm_items(settings))
    disk = tuple(_disk_items(demands))
    needed = sum(item.bytes or 0 for item in memory)
    shortfalls = [
        *_lacking(needed, host.available_memory_bytes, Lack.MEMORY, "memory"),
        *_shm_lacking(sum(item.bytes or 0 for item in shm), host),
        *_lacking(sum(i.bytes or 0 for i in disk), host.disk_free_bytes, Lack.DISK, "free disk"),
    ]
    return Needs(
        items=(*memory, *shm, *disk),
        shortfalls=tuple(shortfalls),
        warnings=tuple(_warnings(needed, settings, host)),
    )


def _memory_items(
    demands: Demands, settings: Mapping[str, object], listed: tuple[LedgerItem, ...]
) -> Iterator[LedgerItem]:
    if demands.memory_bytes:
        held = sum(item.bytes or 0 for item in listed)
        rest = max(_LEAST_PROCESSES_BYTES, demands.memory_bytes - held)
        yield LedgerItem(
            name="engine-processes",
            title="Engine's processes",
            place=LedgerPlace.MEMORY,
            bytes=rest if listed else demands.memory_bytes,
            source="what a machine that was tested had beside that"
            if listed
            else demands.memory_source,
        )
    tier = kv_tier_bytes(settings)
    if tier:
        yield LedgerItem(
            name="kv-tier",
            title="CPU tier of the KV cache",
            place=LedgerPlace.MEMORY,
            bytes=tier,
            error_bytes=0,
            source="`kv_offloading_size`, over all ranks",
        )
    if settings.get("embed_uva") is True:
        yield LedgerItem(
            name="embedding",
            title="Token embedding",
            place=LedgerPlace.MEMORY,
            bytes=demands.embedding_bytes or _EMBEDDING_BYTES,
            source="HyperQwen: 2.1 GiB of host memory with EMBED_UVA=1",
        )
    tower = settings.get("vision_cpu_offload_gb")
    if settings.get("vision") is True and isinstance(tower, int | float) and tower:
        yield LedgerItem(
            name="vision",
            title="Vision tower",
            place=LedgerPlace.MEMORY,
            bytes=round(tower * _DECIMAL_GB),
            source="`vision_cpu_offload_gb`",
        )


def kv_tier_bytes(settings: Mapping[str, object]) -> int:
    """Return the bytes of the CPU tier for the KV cache, 0 without one."""
    for name in ("kv_offload_gib", "kv_offloading_size"):
        size = settings.get(name)
        if isinstance(size, int | float) and not isinstance(size, bool) and size > 0:
            return round(size * GIB)
    return 0


def _shm_items(settings: Mapping[str, object]) -> Iterator[LedgerItem]:
    tier = kv_tier_bytes(settings)
    if tier:
        # Mapped from a file in /dev/shm, so it counts there and in the memory, once.
        yield LedgerItem(
            name="kv-tier",
            title="CPU tier of the KV cache",
            place=LedgerPlace.SHM,
            bytes=tier,
            error_bytes=0,
            source="the tier's region is a file in /dev/shm",
        )


def _disk_items(demands: Demands) -> Iterator[LedgerItem]:
    if demands.disk_bytes:
        yield LedgerItem(
            name="files",
            title="Runtime and model",
            place=LedgerPlace.DISK,
            bytes=demands.disk_bytes,
            source="what the recipe and the model's page say, less what is here",
        )


def _lacking(needed: int, there: int | None, lack: Lack, what: str) -> Iterator[Shortfall]:
    if there is not None and needed > there:
        yield Shortfall(
            lack=lack,
            amount=needed - there,
            sentence=f"It needs {bytes_text(needed)} of {what}; this machine has "
            f"{bytes_text(there)}.",
        )


def _shm_lacking(needed: int, host: HostSnapshot) -> Iterator[Shortfall]:
    there = host.shm_bytes
    if there is not None and needed > there:
        yield Shortfall(
            lack=Lack.SHM,
            amount=needed - there,
            sentence=f"The CPU tier needs {bytes_text(needed)} of `/dev/shm`; it has "
            f"{bytes_text(there)}. A container gets more with `--ipc=host` or `--shm-size`.",
        )


def _warnings(needed: int, settings: Mapping[str, object], host: HostSnapshot) -> Iterator[str]:
    free = host.memory_free_bytes
    total = host.available_memory_bytes
    if free is not None and total is not None and free < needed <= total:
        yield (
            f"It needs {bytes_text(needed)} of memory; {bytes_text(free)} is free now. "
            "Close what is not needed, or the machine will swap."
        )
    ranks = settings.get("tensor_parallel_size")
    small = host.shm_bytes is not None and host.shm_bytes <= CONTAINER_SHM_BYTES
    if small and isinstance(ranks, int) and ranks > 1:
        yield (
            f"`/dev/shm` has {bytes_text(host.shm_bytes)}, too little for several workers to talk: "
            "start the container with `--ipc=host` or a larger `--shm-size`."
        )
    tier = kv_tier_bytes(settings)
    if tier > 64 * GIB:
        yield "A CPU tier above 64 GiB may be refused by the driver at its start (seen on WSL2)."
