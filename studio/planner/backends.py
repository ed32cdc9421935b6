"""Which block sizes an attention backend can read, and which backend a card gets."""

import msgspec

from studio.domain.geometry import LayerKind, ModelGeometry
from studio.planner.demand import Demand
from studio.planner.engine import Device, Engine

_DEFAULT_BLOCK = 16
_CPU_BLOCK = 128


class Backend(msgspec.Struct, frozen=True, kw_only=True):
    """The block sizes that a backend's kernels take."""

    name: str
    sizes: tuple[int, ...]
    """Exact sizes, or the one whose multiples are taken."""
    takes_multiples: bool = True
    default: int | None = None
    """Where the engine's own default is not what this backend gets."""

    @property
    def smallest(self) -> int:
        """The smallest block that the kernels take."""
        return min(self.sizes)

    def preferred(self) -> int:
        """Return the block size where nobody asks for one."""
        if self.default is not None:
            return self.default
        if self.takes_multiples:
            return max(_DEFAULT_BLOCK, self.smallest)
        return _DEFAULT_BLOCK if _DEFAULT_BLOCK in self.sizes else self.smallest

    def largest_within(self, tokens: int) -> int:
        """Return the largest block of at most `tokens`, else the smallest there is."""
        if self.takes_multiples:
            return max(self.smallest, tokens // self.smallest * self.smallest)
        return max((size for size in self.sizes if size <= tokens), default=self.smallest)


_BACKENDS = {
    backend.name: backend
    for backend in (
        Backend(name="FLASH_ATTN", sizes=(16,)),
        Backend(name="TRITON_ATTN", sizes=(16,)),
        Backend(name="FLEX_ATTENTION", sizes=(16,)),
        Backend(name="FLASH_ATTN_V100", sizes=(16,)),
        Backend(name="FLASHINFER", sizes=(16, 32, 64), takes_multiples=False),
        Backend(name="TURBOQUANT", sizes=(16, 32, 64, 128), takes_multiples=False),
        Backend(name="KVARN", sizes=(128,)),
        Backend(name="FLASH_ATTN_MLA", sizes=(16,)),
        Backend(name="TRITON_MLA", sizes=(16,)),
        Backend(name="FLASHMLA", sizes=(64,), takes_multiples=False),
        Backend(name="FLASHINFER_MLA", sizes=(32, 64), takes_multiples=False),
        Backend(name="CUTLASS_MLA", sizes=(128,), takes_multiples=False),
        Backend(name="FLASHMLA_SPARSE", sizes=(64,), takes_multiples=False),
        Backend(name="CPU_ATTN", sizes=(16,), default=_CPU_BLOCK),
        Backend(name="CPU_ATTN_32", sizes=(32,), default=_CPU_BLOCK),
        Backend(name="CPU_MLA", sizes=(16,), takes_multiples=False),
        Backend(name="AMX_MLA", sizes=(32,), default=_CPU_BLOCK),
    )
}
"""Source: vLLM 0.26 to 0.32, `v1/attention/backends/*`, get_supported_kernel_block_sizes."""


def backend_of(target: ModelGeometry, demand: Demand, engine: Engine) -> Backend:
    """Return the backend that the model's own attention layers get.

    Source: vLLM, `platforms/cuda.py`, _get_backend_priorities; `platforms/cpu.py`.
    """
    kinds = {layers.kind for layers in target.layers}
    is_mla = LayerKind.MLA in kinds
    if engine.device is Device.CPU:
        return _BACKENDS[_cpu_name(engine, is_mla=is_mla)]
    asked = (demand.attention_backend or "").upper()
    if asked in _BACKENDS:
        return _BACKENDS[asked]
    major = None if engine.capability is None else engine.capability[0]
    if is_mla:
        return _BACKENDS[_mla_name(demand.kv_cache_dtype, major, target)]
    return _BACKENDS[_attention_name(demand.kv_cache_dtype, major)]


def drafter_backend(dtype: str, own: Backend, engine: Engine) -> Backend:
    """Return the backend of a drafter's ordinary attention beside a model's `own`."""
    if not own.name.endswith(("MLA", "SPARSE")) or engine.device is Device.CPU:
        return own
    return _BACKENDS[
        _attention_name(dtype, None if engine.capability is None else engine.capability[0])
    ]


def _cpu_name(engine: Engine, *, is_mla: bool) -> str:
    if is_mla and engine.version >= (0, 28):
        has_tiles = "amx_tile" in (engine.cpu_flags or ()) and engine.version >= (0, 29)
        return "AMX_MLA" if has_tiles else "CPU_MLA"
    return "CPU_ATTN_32" if engine.version >= (0, 30) else "CPU_ATTN"


def _mla_name(dtype: str, major: int | None, target: ModelGeometry) -> str:
    is_sparse = any(layers.cell_bytes is not None for layers in target.layers)
    if is_sparse:
        return "FLASHMLA_SPARSE"
    if major == 10:
        return "FLASHINFER_MLA"
    if major == 9:
        return "FLASHMLA" if dtype.startswith("fp8") else "FLASH_ATTN_MLA"
    return "TRITON_MLA"


def _attention_name(dtype: str, major: int | None) -> str:
    if dtype.endswith("_per_token_head"):
        return "TRITON_ATTN"
    if dtype.startswith("turboquant"):
        return "TURBOQUANT"
    if dtype.startswith("kvarn"):
        return "KVARN"
    if dtype.startswith("nvfp4") or major == 10:
        return "FLASHINFER"
    # FlashAttention reads fp8 from Hopper on.
    is_fp8 = dtype.startswith("fp8")
    return "FLASHINFER" if is_fp8 and major is not None and major not in (7, 9) else "FLASH_ATTN"
