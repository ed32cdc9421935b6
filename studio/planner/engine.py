"""Which engine sizes the pool: a version of vLLM, its device, and the rules that hold for it.

The rules are named so that a runtime's recipe can say which of them its patches change; what a
version brings by itself is in `stock`. Source: vLLM 0.26.0, 0.27.1, 0.28.0, 0.29.0, 0.30.0,
0.31.0 and 0.32.0, `v1/core/kv_cache_utils.py`, `v1/kv_cache_interface.py`,
`platforms/interface.py`, `model_executor/layers/attention/attention.py`, read side by side.
"""

import enum
import re

import msgspec

from studio.domain.errors import BadInput


class Device(enum.StrEnum):
    """Where the engine computes."""

    CUDA = "cuda"
    CPU = "cpu"


class Rule(enum.StrEnum):
    """A rule of pool sizing that some engines follow and others do not."""

    CACHES_HYBRID = "caches-hybrid"
    """Prefix caching is on by default for hybrid models too (vLLM 0.28)."""
    MERGES_ALIKE = "merges-alike"
    """Layers whose caches differ only in a window share a bucket (0.27)."""
    PACKS_SCALES = "packs-scales"
    """The backend packs scales beside every kind of layer's data, also of sliding ones (0.28)."""
    RESERVES_NULL = "reserves-null"
    """One block is held back before the request of full length is checked (0.29)."""
    PADS_ANY = "pads-any"
    """Any page but an MLA one may be padded; before, only where the backend allows it (0.29)."""
    BORN_FULL = "born-full"
    """Sliding layers start at the primary block size, before at the kernel's smallest (0.30)."""
    MAMBA_ALL = "mamba-all"
    """`mamba_cache_mode=all` exists: one state for each block of tokens (to 0.31)."""
    PREFILL_CHECKPOINT = "prefill-checkpoint"
    """Mamba 2 layers keep one more state when states are cached (0.32)."""
    DFLASH_ASYNC = "dflash-async"
    """`draft_model` speculation keeps asynchronous scheduling (0.32)."""

    PADS_SLIDING_GROUPS = "pads-sliding-groups"
    """A small bucket of sliding layers is padded, not the others cut to its size (HyperQwen
    `hybrid-kv-groups-v2-cudagraph`; the sm70 engine groups alike)."""
    PROMOTES_BLOCKS = "promotes-blocks"
    """A page that does not divide the largest gets more tokens, not padding (HyperQwen
    `hybrid-sw-block-promote`)."""
    KVARN = "kvarn"
    """The KVarN cache types, and a drafter that stays unquantised beside them (HyperQwen K1-K2)."""


_SINCE: dict[Rule, tuple[int, int]] = {
    Rule.MERGES_ALIKE: (0, 27),
    Rule.CACHES_HYBRID: (0, 28),
    Rule.PACKS_SCALES: (0, 28),
    Rule.RESERVES_NULL: (0, 29),
    Rule.PADS_ANY: (0, 29),
    Rule.BORN_FULL: (0, 30),
    Rule.PREFILL_CHECKPOINT: (0, 32),
    Rule.DFLASH_ASYNC: (0, 32),
}
HYPERQWEN = frozenset({Rule.PADS_SLIDING_GROUPS, Rule.PROMOTES_BLOCKS, Rule.KVARN})
"""What the HyperQwen patch series changes about the pool, 0.28 to 0.32."""
SM70 = frozenset({Rule.PADS_SLIDING_GROUPS})
"""What the 1Cat engine for V100 changes about it."""
OLDEST = (0, 26)
NEWEST = (0, 32)
_SM70_BASE = (0, 26)
"""Which vLLM's rules the 1Cat engine is planned by (decision 0012 says why)."""


class Engine(msgspec.Struct, frozen=True, kw_only=True):
    """What sizes the pool."""

    name: str
    version: tuple[int, int]
    device: Device = Device.CUDA
    rules: frozenset[Rule] = frozenset()
    capability: tuple[int, int] | None = None
    """Of the card: it decides the attention backend and so the block size of some models."""
    card_bytes: int | None = None
    """Of one card: it decides the default batch budget."""
    is_known: bool = True
    """False: a version whose rules nobody has read; the nearest one's are used."""


def stock(version: tuple[int, int]) -> frozenset[Rule]:
    """Return the rules of an unpatched vLLM."""
    rules = {rule for rule, since in _SINCE.items() if version >= since}
    if version < (0, 32):
        rules.add(Rule.MAMBA_ALL)
    return frozenset(rules)


def engine(
    name: str,
    *,
    capability: tuple[int, int] | None = None,
    card_bytes: int | None = None,
) -> Engine:
    """Return the engine called `name`: `vllm-0.31.0` or the id of a runtime.

    `cpu-vllm-…` computes on the processor, `…-hyperqwen-…` carries the HyperQwen series,
    `sm70-1cat-…` is the V100 engine, whose own version is not vLLM's.

    Raises: BadInput, if the name carries no version.
    """
    found = re.search(r"(\d+)\.(\d+)(?:\.\d+)?(?!.*\d+\.\d+)", name)
    if found is None:
        raise BadInput(
            "engine-unknown",
            f"`{name}` names no engine that can be planned for: no version is in it.",
            hint="Name a version, for example `vllm-0.31.0`, or an installed runtime.",
        )
    version = (int(found[1]), int(found[2]))
    is_sm70 = "sm70" in name or "1cat" in name
    if is_sm70:
        version, is_known = _SM70_BASE, True
    else:
        is_known = OLDEST <= version <= NEWEST
        version = min(max(version, OLDEST), NEWEST)
    rules = stock(version)
    if is_sm70:
        rules |= SM70
    if "hyperqwen" in name:
        rules |= HYPERQWEN
    is_cpu = name.startswith("cpu") or "-cpu" in name
    return Engine(
        name=name,
        version=version,
        device=Device.CPU if is_cpu else Device.CUDA,
        rules=rules,
        capability=(7, 0) if is_sm70 and capability is None else capability,
        card_bytes=card_bytes,
        is_known=is_known,
    )
