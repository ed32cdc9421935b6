"""Models, cards and outcomes that tests of plans stand on."""

from collections.abc import Mapping

from studio.domain.geometry import LayerKind, LayerSet, ModelGeometry
from studio.domain.hardware import Gpu, GpuProcess, HostSnapshot
from studio.domain.units import GIB
from studio.planner.budget import Part, Processor
from studio.planner.outcome import Lack, Outcome, Shortfall

LLAMA = ModelGeometry(
    architecture="LlamaForCausalLM",
    layers=(LayerSet(kind=LayerKind.FULL, count=30, kv_heads=3, head_size=64),),
    query_heads=9,
    hidden_size=576,
    context_tokens=8192,
    dtype="bfloat16",
    weight_bytes={"body": 269_000_000},
)
HYBRID = ModelGeometry(
    architecture="Qwen3_5ForConditionalGeneration",
    layers=(
        LayerSet(kind=LayerKind.FULL, count=16, kv_heads=4, head_size=256),
        LayerSet(
            kind=LayerKind.LINEAR,
            count=48,
            conv_kernel=4,
            conv_channels=10_240,
            state_heads=48,
            state_head_size=128,
            state_width=128,
        ),
    ),
    query_heads=24,
    hidden_size=5120,
    context_tokens=262_144,
    dtype="bfloat16",
)
PROCESSOR = Processor(
    schema_version=1,
    worker_bytes=600_000_000,
    worker_error_bytes=100_000_000,
    parts=(Part(name="api-server", title="API server", bytes=700, error_bytes=1, source="a test"),),
)


def card(
    index: int = 0,
    *,
    name: str = "NVIDIA GeForce RTX 3090",
    total: int = 24 * GIB,
    free: int | None = 23 * GIB,
    capability: str | None = "8.6",
    processes: tuple[GpuProcess, ...] | None = (),
    **more: object,
) -> Gpu:
    """Return a card; its id is made from its number."""
    fields: dict[str, object] = {
        "index": index,
        "name": name,
        "uuid": f"GPU-{index}",
        "compute_capability": capability,
        "total_bytes": total,
        "free_bytes": free,
        "processes": processes,
        **more,
    }
    return Gpu(**fields)


def host(*cards: Gpu, **more: object) -> HostSnapshot:
    """Return a Linux machine with these cards and 64 GiB of memory."""
    fields: dict[str, object] = {
        "system": "linux",
        "machine": "x86_64",
        "os_name": "Ubuntu 24.04",
        "memory_bytes": 64 * GIB,
        "memory_free_bytes": 60 * GIB,
        "disk_free_bytes": 500 * GIB,
        "driver": "580.95",
        "gpus": cards,
        "gpu_note": None if cards else "No NVIDIA driver was found on this machine.",
        **more,
    }
    return HostSnapshot(**fields)


def short(lack: Lack, amount: float = 1, *, is_certain: bool = True) -> Shortfall:
    """Return something that is missing."""
    sentence = f"{amount:g} of {lack.value} are missing."
    return Shortfall(lack=lack, amount=amount, sentence=sentence, is_certain=is_certain)


def outcome(
    settings: Mapping[str, object] | None = None, *lacks: Shortfall, **more: object
) -> Outcome:
    """Return an outcome with nothing but these shortfalls."""
    fields: dict[str, object] = {"settings": settings or {}, "shortfalls": lacks, **more}
    return Outcome(**fields)
