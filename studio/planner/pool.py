"""How many tokens the engine's KV cache holds, from the model, its arguments and the bytes.

Pure arithmetic in the engine's own order: arguments, block size, caches of the layers, groups,
blocks, blocks of one request, tokens. `is_exact` says whether every rule on the way is known; then
the figure is the one that the engine prints, to the token. Decision 0012 has the formula.
"""

from collections.abc import Mapping, Sequence

import msgspec

from studio.domain.geometry import LayerKind, ModelGeometry
from studio.domain.units import GIB
from studio.planner.blocks import layout
from studio.planner.demand import Demand, demand
from studio.planner.engine import Engine, Rule
from studio.planner.groups import Group, groups

LONGEST = 1 << 26
"""No model of today is made for more tokens."""


class PoolGroup(msgspec.Struct, frozen=True, kw_only=True):
    """Layers that share one block table."""

    kind: LayerKind
    layers: int
    block_size: int
    """Tokens in one block; 0 for a state that holds a request of any length."""
    page_bytes: int
    """One layer's share of a block, padding included."""
    used_bytes: int
    """The part of the page that is used."""
    blocks_per_request: int
    """What one request of full length holds at most."""


class Pool(msgspec.Struct, frozen=True, kw_only=True):
    """A KV cache as the engine would lay it out, on one card."""

    kv_bytes: int
    bytes_per_block: int
    blocks: int
    """Those that requests can come to hold."""
    card_blocks: int
    """Those that the bytes make."""
    block_size: int
    """Of the model's own attention layers; what the engine prints."""
    page_bytes: int
    groups: tuple[PoolGroup, ...]
    blocks_per_request: int
    tokens: int
    """As the engine prints it."""
    max_model_len: int
    resident_requests: float
    """Requests of full length that are in the pool at a time."""
    request_bytes: int
    """What one request of full length takes; the engine wants `reserved_bytes` beside it."""
    reserved_bytes: int
    """What the engine holds back before it checks: one block from vLLM 0.29 on."""
    longest_context: int
    """The largest `max_model_len` that the engine accepts with these bytes, at most the model's."""
    is_exact: bool
    refusal: str | None = None
    """Why the engine does not start; None: it does."""
    assumptions: tuple[str, ...] = ()


def pool(
    target: ModelGeometry,
    drafter: ModelGeometry | None,
    settings: Mapping[str, object],
    engine: Engine,
    kv_bytes: int,
) -> Pool:
    """Return the KV cache that `engine` makes of `kv_bytes` on each card.

    `settings` are vLLM's argument names with underscores; `draft_tokens` and `spec_method` may
    stand for a `speculative_config`. Other names are ignored here: whoever takes them from a
    person checks them.

    Raises: BadInput, if a value has no meaning (a KV cache type that nobody knows, heads that do
    not divide by the cards, a model whose attention is not known).
    """
    wanted = demand(target, drafter, settings, engine)
    plan = layout(target, drafter, wanted, engine)
    made = groups(plan.caches, engine, is_hybrid_manager=wanted.is_hybrid_manager)
    doubts = _doubts(target, drafter, wanted, engine, group_count=len(made))
    sizing = _Sizing(made, wanted, engine)
    block_bytes = sizing.block_bytes
    blocks = max(0, kv_bytes) // block_bytes if block_bytes else 0
    if wanted.blocks_override is not None:
        blocks = wanted.blocks_override
    longest = sizing.longest(blocks, target.context_tokens)
    length = min(wanted.max_model_len, longest) if wanted.is_auto_fit else wanted.max_model_len
    needed = sizing.needed(length)
    usable, notes = _seated(blocks, needed, wanted)
    resident = usable / needed if needed else 0.0
    return Pool(
        kv_bytes=kv_bytes,
        bytes_per_block=block_bytes,
        blocks=usable,
        card_blocks=blocks,
        block_size=plan.block_size,
        page_bytes=max((cache.page_bytes for group in made for cache in group.caches), default=0),
        groups=sizing.shown(length),
        blocks_per_request=needed,
        # In this order and in floating point, as the engine does it.
        tokens=int(resident * length),
        max_model_len=length,
        resident_requests=resident,
        request_bytes=needed * block_bytes,
        reserved_bytes=sizing.reserved * block_bytes,
        longest_context=longest,
        is_exact=not doubts,
        refusal=sizing.refusal(blocks, length, kv_bytes),
        assumptions=(*doubts, *wanted.assumptions, *notes),
    )


def _seated(blocks: int, needed: int, wanted: Demand) -> tuple[int, tuple[str, ...]]:
    """Return the blocks that requests can come to hold, and why that is not all of them.

    A history in the machine's memory has room for every seat and no more (1Cat-vLLM).
    """
    if wanted.hot_tokens is None or wanted.seats is None or blocks <= wanted.seats * needed:
        return blocks, ()
    seats = "one request" if wanted.seats == 1 else f"{wanted.seats} requests"
    note = (
        f"The cards have room for {blocks:,} blocks; the history in the machine's memory has room "
        f"for {seats} of full length, one for each seat: {wanted.seats * needed:,} blocks."
    )
    return wanted.seats * needed, (note,)


class _Sizing:
    """Blocks and requests of a set of groups."""

    def __init__(self, made: Sequence[Group], wanted: Demand, engine: Engine) -> None:
        self._groups = made
        self._in_flight = wanted.in_flight_tokens
        self._context_shards = wanted.context_shards
        # Stages hold a share of every group's layers; the fullest decides.
        self.block_bytes = max((_stage_bytes(group, wanted.stages) for group in made), default=0)
        self.reserved = 1 if Rule.RESERVES_NULL in engine.rules and made else 0

    def needed(self, tokens: int) -> int:
        return sum(self._of(group, tokens) for group in self._groups)

    def _of(self, group: Group, tokens: int) -> int:
        return group.blocks(tokens, self._in_flight, self._context_shards)

    def longest(self, blocks: int, context: int | None) -> int:
        """Return the most tokens for which one request fits."""
        low, high = 0, context or LONGEST
        while low < high:
            middle = (low + high + 1) // 2
            if self.needed(middle) <= blocks - self.reserved:
                low = middle
            else:
                high = middle - 1
        return low

    def refusal(self, blocks: int, length: int, kv_bytes: int) -> str | None:
        """Return why the engine would not start. Source: vLLM, _check_enough_kv_cache_memory."""
        have = blocks - self.reserved
        needed = self.needed(length)
        if not self._groups or (needed <= have and length > 0):
            return None
        if have <= 0:
            return "No memory is left for the blocks of the KV cache."
        longest = self.longest(blocks, length)
        need_gib = round(needed * self.block_bytes / GIB, 2)
        have_gib = round((kv_bytes - self.reserved * self.block_bytes) / GIB, 2)
        return (
            f"One request of {length:,} tokens needs {need_gib} GiB of KV cache and {have_gib} GiB "
            f"is available. The longest context that fits is {longest:,} tokens."
        )

    def shown(self, length: int) -> tuple[PoolGroup, ...]:
        return tuple(
            PoolGroup(
                kind=group.caches[0].kind,
                layers=group.layers,
                block_size=group.caches[0].block_size,
                page_bytes=max(cache.page_bytes for cache in group.caches),
                used_bytes=max(cache.used_bytes for cache in group.caches),
                blocks_per_request=self._of(group, length),
            )
            for group in self._groups
        )


def _stage_bytes(group: Group, stages: int) -> int:
    """Return the bytes of one block of a group's layers on the stage that has most of them."""
    return sum(-(-cache.layers // stages) * cache.page_bytes for cache in group.caches)


def _doubts(
    target: ModelGeometry,
    drafter: ModelGeometry | None,
    wanted: Demand,
    engine: Engine,
    *,
    group_count: int,
) -> tuple[str, ...]:
    """Return what keeps a figure from being called exact."""
    found = [*wanted.doubts, *target.assumptions]
    if engine.doubt is not None:
        found.append(engine.doubt)
    found.extend(
        f"The layers of {model.architecture} are only known in part."
        for model in (target, drafter)
        if model is not None and not model.is_complete
    )
    # One group of layers is cut evenly, and the fullest stage decides; of several, which layer
    # lies on which stage counts.
    if wanted.stages > 1 and (group_count > 1 or wanted.draft_tokens):
        found.append("How the layers are shared between pipeline stages is not modelled.")
    types = {wanted.kv_cache_dtype, wanted.drafter_kv_dtype}
    is_dense = all(layers.kind is not LayerKind.LINEAR for layers in target.layers)
    if is_dense and any(name.startswith("turboquant") for name in types):
        found.append("TurboQuant leaves the first and last layers of a dense model unquantised.")
    return tuple(found)
