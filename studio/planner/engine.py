"""Which engine sizes the pool: a version of vLLM, its device, and the rules that hold for it.

The rules are named so that one can say which of them a runtime's patches change; what a version
brings by itself is in `stock`. Source: vLLM 0.26.0, 0.27.1, 0.28.0, 0.29.0, 0.30.0, 0.31.0 and
0.32.0, `v1/core/kv_cache_utils.py`, `v1/kv_cache_interface.py`, `platforms/interface.py`,
`model_executor/layers/attention/attention.py`, read side by side.
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
    WIDENS_MLA = "widens-mla"
    """Blocks of a hybrid model with MLA layers are multiples of 128 tokens (0.27)."""
    FALLS_BACK = "falls-back"
    """Where pages cannot be made equal, sliding layers beside MLA ones are kept whole (0.27)."""
    PACKS_SCALES = "packs-scales"
    """The backend packs every kind of layer's data and scales, also of sliding ones (0.28)."""
    RETAINS_EXTRA = "retains-extra"
    """Sliding layers keep the tokens that a draft module of several layers reads again (0.28)."""
    DRAFTS_ASYNC = "drafts-async"
    """A separate draft model keeps asynchronous scheduling (0.28)."""
    RESERVES_NULL = "reserves-null"
    """One block is held back before the request of full length is checked (0.29)."""
    BORN_FULL = "born-full"
    """Sliding layers start at the primary block size, before at the kernel's smallest (0.30)."""
    MAMBA_ALL = "mamba-all"
    """`mamba_cache_mode=all` exists: one state for each block of tokens (to 0.31)."""
    MAMBA_ALL_DEFAULT = "mamba-all-default"
    """… and is what a model that can do it gets (to 0.27)."""
    KEEPS_HALF_STATE = "keeps-half-state"
    """On the processor a state type of 16 bits that was asked for is kept, and AVX-512 BF16 decides
    about the rest; before, AMX decided about all of them (0.29)."""
    PREFILL_CHECKPOINT = "prefill-checkpoint"
    """Mamba 2 layers keep one more state when states are cached (0.32)."""

    PADS_SLIDING_GROUPS = "pads-sliding-groups"
    """A small bucket of sliding layers is padded, not the others cut to its size (HyperQwen
    `hybrid-kv-groups-v2-cudagraph`; the sm70 engine groups alike)."""
    PROMOTES_BLOCKS = "promotes-blocks"
    """A page that does not divide the largest gets more tokens, not padding (HyperQwen
    `hybrid-sw-block-promote`)."""
    KVARN = "kvarn"
    """The KVarN cache types; the drafter stays unquantised beside them (HyperQwen K1, K2)."""
    PROFILES_WARM = "profiles-warm"
    """Memory is profiled after kernels were compiled, so a first boot leaves as much as any other
    (HyperQwen `memory-profile-after-warmup`, 0.30)."""


_SINCE: dict[Rule, tuple[int, int]] = {
    Rule.WIDENS_MLA: (0, 27),
    Rule.FALLS_BACK: (0, 27),
    Rule.CACHES_HYBRID: (0, 28),
    Rule.PACKS_SCALES: (0, 28),
    Rule.RETAINS_EXTRA: (0, 28),
    Rule.DRAFTS_ASYNC: (0, 28),
    Rule.RESERVES_NULL: (0, 29),
    Rule.KEEPS_HALF_STATE: (0, 29),
    Rule.BORN_FULL: (0, 30),
    Rule.PREFILL_CHECKPOINT: (0, 32),
}
_UNTIL: dict[Rule, tuple[int, int]] = {
    Rule.MAMBA_ALL_DEFAULT: (0, 27),
    Rule.MAMBA_ALL: (0, 31),
}
HYPERQWEN = frozenset({Rule.PADS_SLIDING_GROUPS, Rule.PROMOTES_BLOCKS, Rule.KVARN})
"""What the HyperQwen patch series changes about the pool, 0.28 to 0.32."""
_HYPERQWEN_WARM = (0, 30)
SM70 = frozenset({Rule.PADS_SLIDING_GROUPS})
"""What the 1Cat engine for V100 changes about it."""
OLDEST = (0, 26)
NEWEST = (0, 32)
_SM70_BASE = (0, 26)
_VERSION = re.compile(r"(\d+)\.(\d+)")


class Engine(msgspec.Struct, frozen=True, kw_only=True):
    """What sizes the pool."""

    name: str
    version: tuple[int, int]
    """Of the vLLM whose rules are followed."""
    device: Device = Device.CUDA
    rules: frozenset[Rule] = frozenset()
    capability: tuple[int, int] | None = None
    """Of the card: it decides the attention backend and so the block size of some models."""
    card_bytes: int | None = None
    """Of one card: it decides the default batch budget."""
    cpu_flags: tuple[str, ...] | None = None
    """Of the processor, for an engine on it: they decide what linear layers keep their state in."""
    doubt: str | None = None
    """Why forecasts for this engine are not called exact; None: its rules are known."""


def stock(version: tuple[int, int]) -> frozenset[Rule]:
    """Return the rules of an unpatched vLLM."""
    return frozenset(
        {rule for rule, since in _SINCE.items() if version >= since}
        | {rule for rule, until in _UNTIL.items() if version <= until}
    )


def engine(
    name: str,
    *,
    capability: tuple[int, int] | None = None,
    card_bytes: int | None = None,
    cpu_flags: tuple[str, ...] | None = None,
) -> Engine:
    """Return the engine called `name`: `vllm-0.31.0` or the id of a runtime.

    `cpu-vllm-…` computes on the processor, `…-hyperqwen-…` carries the HyperQwen series,
    `sm70-1cat-…` is the V100 engine: its versions are its own, and vLLM 0.26's rules are taken
    for it, which give its one published pool to the token (decision 0012).

    Raises: BadInput, if the name carries no version.
    """
    found = _VERSION.findall(name)
    if not found:
        raise BadInput(
            "engine-unknown",
            f"`{name}` names no engine that can be planned for: there is no version in it.",
            hint="Name a version, for example `vllm-0.31.0`, or a runtime of `weir runtime list`.",
        )
    asked = (int(found[-1][0]), int(found[-1][1]))
    is_sm70 = "1cat" in name.lower() or "sm70" in name.lower()
    version = _SM70_BASE if is_sm70 else min(max(asked, OLDEST), NEWEST)
    rules = stock(version)
    if is_sm70:
        rules |= SM70
    if "hyperqwen" in name.lower():
        rules |= HYPERQWEN
        if version >= _HYPERQWEN_WARM:
            rules |= {Rule.PROFILES_WARM}
    return Engine(
        name=name,
        version=version,
        device=Device.CPU if "cpu" in name.lower().split("-") else Device.CUDA,
        rules=rules,
        capability=(7, 0) if is_sm70 and capability is None else capability,
        card_bytes=card_bytes,
        cpu_flags=cpu_flags,
        doubt=None if is_sm70 or version == asked else _nearest(asked, version),
    )


def _nearest(asked: tuple[int, int], used: tuple[int, int]) -> str:
    return (
        f"The rules of vLLM {asked[0]}.{asked[1]} have not been read; "
        f"those of {used[0]}.{used[1]}, the nearest, are used."
    )
