"""Values for a model that no preset knows: context, seats, KV cache type and bytes. Pure.

The pool comes first: what the machine can spare for it. The context is then the longest that leaves
room for two such requests, because one conversation that fills the pool makes every other one wait.
"""

import dataclasses
from collections.abc import Callable, Mapping

from studio.domain.geometry import LayerKind, ModelGeometry
from studio.domain.hardware import HostSnapshot
from studio.domain.units import GIB, MIB
from studio.planner.engine import Device
from studio.planner.outcome import Outcome
from studio.planner.work import Subject

Try = Callable[[Mapping[str, object]], Outcome]
"""Settings to what they come to."""

RESIDENT = 2.0
"""Requests of full length that the pool should hold."""
_MOST_SEATS = 16
_SEAT_SHARE = 4
"""Most requests are shorter than the context: a seat is counted as a quarter of it."""
_MEMORY_SHARE = 0.5
"""Of what is free beside weights and processes: the rest is the machine's."""
_LEAST_POOL_BYTES = 256 * MIB
_MOST_MEMORY_POOL_BYTES = 8 * GIB
"""A processor reads no more than this at a useful speed."""
_POOL_STEP_BYTES = 64 * MIB
_CONTEXT_STEP = 256
_LEAST_CONTEXT = 512
_UNKNOWN_CONTEXT = 8_192
_CARD_SHARE = 0.9
"""Of a card: room for what no forecast knows, as the engine itself leaves it."""
_FP8_CAPABILITY = (8, 9)
_LONG_CONTEXT = 32_768
"""Below this a card that can do it keeps the KV cache in 8 bits."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What was chosen, and what it comes to."""

    settings: Mapping[str, object]
    outcome: Outcome


def for_memory(
    subject: Subject, tried: Try, *, weights_bytes: int | None, processes_bytes: int
) -> Proposal:
    """Return values for an engine on the processor.

    Gated delta nets compute in bfloat16 there, and their states are not cached: both kill the
    engine at its first request otherwise (seen on vLLM 0.32 for CPU).
    """
    assert subject.target is not None
    is_hybrid = _is_hybrid(subject.target)
    kept = subject.target.dtype
    settings: dict[str, object] = {
        "dtype": "float32" if kept == "float32" and not is_hybrid else "bfloat16",
        "kv_cache_memory_bytes": _memory_pool(subject.ground.host, weights_bytes, processes_bytes),
        "enable_prefix_caching": not is_hybrid,
        "enforce_eager": True,  # compiling takes minutes there, and answers no sooner
        "max_num_batched_tokens": 2048,
    }
    return _sized(subject.target, settings, tried)


def for_cards(subject: Subject, tried: Try, *, ranks: int) -> Proposal:
    """Return values for an engine on cards."""
    assert subject.target is not None
    assert subject.engine.device is Device.CUDA
    settings: dict[str, object] = {
        "gpu_memory_utilization": _CARD_SHARE,
        "kv_cache_dtype": "auto",
        "enable_prefix_caching": True,
        "max_num_batched_tokens": 2048,
    }
    if ranks > 1:
        settings["tensor_parallel_size"] = ranks
    if subject.engine.capability is not None and subject.engine.capability < (8, 0):
        settings["dtype"] = "half"  # these cards have no bfloat16
    found = _sized(subject.target, settings, tried)
    capability = subject.engine.capability
    is_short = (found.outcome.max_model_len or 0) < min(
        _LONG_CONTEXT, subject.target.context_tokens or _LONG_CONTEXT
    )
    if is_short and capability is not None and capability >= _FP8_CAPABILITY:
        smaller = _sized(subject.target, {**settings, "kv_cache_dtype": "fp8"}, tried)
        if (smaller.outcome.max_model_len or 0) > (found.outcome.max_model_len or 0):
            return smaller
    return found


def _is_hybrid(model: ModelGeometry) -> bool:
    return any(layers.kind is LayerKind.LINEAR for layers in model.layers)


def _memory_pool(host: HostSnapshot, weights_bytes: int | None, processes_bytes: int) -> int:
    """Return bytes for the pool: half of what is left, in whole steps."""
    free = host.memory_free_bytes
    if free is None:
        return GIB
    left = (free - processes_bytes - (weights_bytes or 0)) * _MEMORY_SHARE
    steps = int(min(max(left, _LEAST_POOL_BYTES), _MOST_MEMORY_POOL_BYTES) // _POOL_STEP_BYTES)
    return steps * _POOL_STEP_BYTES


def _sized(model: ModelGeometry, settings: Mapping[str, object], tried: Try) -> Proposal:
    """Return `settings` with the longest useful context and the seats that go with it."""
    most = model.context_tokens or _LONG_CONTEXT
    length = _longest(most, settings, tried)
    outcome = tried({**settings, "max_model_len": length})
    pool = outcome.pool_tokens or length
    seats = max(1, min(_MOST_SEATS, pool * _SEAT_SHARE // max(1, length)))
    chosen = {**settings, "max_model_len": length, "max_num_seqs": seats}
    useful = _useful_bytes(outcome, seats)
    if useful is not None and "kv_cache_memory_bytes" in settings:
        chosen["kv_cache_memory_bytes"] = useful
    return Proposal(settings=chosen, outcome=tried(chosen))


def _useful_bytes(outcome: Outcome, seats: int) -> int | None:
    """Return what every seat's full request takes, when that is less than what was set aside."""
    if not outcome.blocks or not outcome.kv_bytes or not outcome.blocks_per_request:
        return None
    block = -(-outcome.kv_bytes // outcome.blocks)
    needed = block * (outcome.blocks_per_request * seats + 1)
    steps = -(-max(needed, _LEAST_POOL_BYTES) // _POOL_STEP_BYTES)
    return min(outcome.kv_bytes, steps * _POOL_STEP_BYTES)


def _longest(most: int, settings: Mapping[str, object], tried: Try) -> int:
    """Return the longest context with which enough requests of full length are resident."""

    def is_roomy(length: int) -> bool:
        outcome = tried({**settings, "max_model_len": length, "max_num_seqs": 1})
        resident = outcome.resident_requests
        if resident is None:  # the bytes are not known: no more than what most cards hold
            return length <= _UNKNOWN_CONTEXT
        return outcome.fits and resident >= RESIDENT

    if most <= _LEAST_CONTEXT or is_roomy(most):
        return most
    low, high = _LEAST_CONTEXT // _CONTEXT_STEP, most // _CONTEXT_STEP
    while low < high:
        middle = (low + high + 1) // 2
        if is_roomy(middle * _CONTEXT_STEP):
            low = middle
        else:
            high = middle - 1
    return low * _CONTEXT_STEP
