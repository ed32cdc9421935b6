"""How many tokens a block holds, and the caches of all layers at that size.

A hybrid model's attention block grows until its page covers one state; the state is then padded to
that page. Source: vLLM, `platforms/interface.py`, update_block_size_for_backend and
_align_hybrid_block_size; `layers/attention/attention.py`, get_kv_cache_spec.
"""

import dataclasses
from collections.abc import Iterable

import msgspec

from studio.domain.geometry import LayerKind, LayerSet, ModelGeometry
from studio.planner.backends import Backend, backend_of, drafter_backend
from studio.planner.cells import state_bytes, token_bytes
from studio.planner.demand import Demand
from studio.planner.engine import Engine, Rule

_MLA_STEP = 128
_KVARN_STEPS = (128, 16)
_ATTENTION = (
    LayerKind.FULL,
    LayerKind.MLA,
    LayerKind.CHUNKED,
    LayerKind.SLIDING,
    LayerKind.CROSS,
)
_LOCAL = (LayerKind.SLIDING, LayerKind.CHUNKED)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Cache:
    """What one layer keeps, and how many layers keep the same."""

    kind: LayerKind
    layers: int
    block_size: int
    """Tokens in one block; 0 for a state that holds a request of any length."""
    token_bytes: int = 0
    state_bytes: int = 0
    states: int = 0
    """Of one request."""
    window: int | None = None
    padded_bytes: int | None = None
    shape: tuple[int | None, ...] = ()
    """What must be equal, beside the bytes, for two layers to share a block table."""

    @property
    def used_bytes(self) -> int:
        """The part of a page that is used."""
        return self.state_bytes or self.block_size * self.token_bytes

    @property
    def page_bytes(self) -> int:
        """One layer's share of a block."""
        return self.used_bytes if self.padded_bytes is None else self.padded_bytes

    def blocks(self, tokens: int, in_flight: int, context_shards: int = 1) -> int:
        """Return the most blocks that a request of `tokens` holds on one card.

        Source: vLLM, max_memory_usage_bytes of each spec; 1 more for a window that starts
        inside a block.
        """
        match self.kind:
            case LayerKind.FULL | LayerKind.MLA:
                held = -(-tokens // context_shards)
                return -(-held // self.block_size)
            case LayerKind.SLIDING:
                held = min((self.window or 1) - 1 + in_flight, tokens)
                return -(-held // self.block_size) + 1
            case LayerKind.CROSS:
                return -(-(self.window or 0) // self.block_size)
            case LayerKind.CHUNKED:
                held = min((self.window or 0) + in_flight, tokens)
                return -(-held // self.block_size)
            case LayerKind.LINEAR:
                per_block = -(-tokens // self.block_size) if self.block_size else 0
                return self.states + per_block


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """All caches of a model and its drafter, before pages are made equal."""

    block_size: int
    caches: tuple[Cache, ...]


def layout(
    target: ModelGeometry, drafter: ModelGeometry | None, demand: Demand, engine: Engine
) -> Layout:
    """Return the caches that the engine specifies for its layers."""
    backend = backend_of(target, demand, engine)
    states = [layers for layers in target.layers if layers.kind is LayerKind.LINEAR]
    own = [layers for layers in target.layers if layers.kind is not LayerKind.LINEAR]
    if demand.spec_method == "mtp":
        own += target.mtp_layers
    if demand.hot_tokens is not None:
        own = [_on_host(layers, demand.hot_tokens) for layers in own]
    block, padded = _block_size(own, states, backend, demand, engine)
    sizes = _Sizes(block=block, padded=padded, backend=backend)
    caches = [_attention(layers, demand.kv_cache_dtype, sizes, demand, engine) for layers in own]
    caches += [_state(layers, block, padded, demand, engine) for layers in states]
    if drafter is not None and demand.draft_tokens:
        other = drafter_backend(demand.drafter_kv_dtype, backend, engine)
        beside = dataclasses.replace(sizes, backend=other)
        caches += [
            _attention(layers, demand.drafter_kv_dtype, beside, demand, engine)
            for layers in drafter.layers
        ]
    return Layout(block_size=block, caches=tuple(caches))


def _on_host(layers: LayerSet, hot_tokens: int) -> LayerSet:
    """Return `layers` as the card sees them when their history lies in the machine's memory."""
    if layers.kind is not LayerKind.FULL:
        return layers
    return msgspec.structs.replace(layers, kind=LayerKind.SLIDING, window=hot_tokens)


def _block_size(
    own: Iterable[LayerSet],
    states: Iterable[LayerSet],
    backend: Backend,
    demand: Demand,
    engine: Engine,
) -> tuple[int, int | None]:
    block = demand.block_size or backend.preferred()
    if backend.name == "CPU_MLA":
        block = backend.smallest
    state = max((state_bytes(layers, demand) for layers in states), default=0)
    primary = _primary(own)
    if not state or primary is None:
        return block, None
    step = max(backend.smallest, block)
    if primary.kind is LayerKind.MLA and Rule.WIDENS_MLA in engine.rules:
        step = max(step, _MLA_STEP)
    cell = token_bytes(primary, demand.kv_cache_dtype, demand, engine)
    block = max(block, step * -(-state // (step * cell)))
    page = block * cell
    return block, None if page == state else page


def _primary(own: Iterable[LayerSet]) -> LayerSet | None:
    ranked = sorted(own, key=lambda layers: _ATTENTION.index(layers.kind))
    return ranked[0] if ranked else None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Sizes:
    block: int
    padded: int | None
    backend: Backend


def _attention(
    layers: LayerSet,
    dtype: str,
    sizes: _Sizes,
    demand: Demand,
    engine: Engine,
) -> Cache:
    cell = token_bytes(layers, dtype, demand, engine)
    block, padded = sizes.block, None
    if layers.kind is LayerKind.SLIDING:
        block = (
            sizes.backend.largest_within(block)
            if Rule.BORN_FULL in engine.rules
            else sizes.backend.smallest
        )
        if sizes.backend.name == "KVARN" and sizes.padded is not None:
            block, padded = _beside_tiles(cell, sizes), sizes.padded
    window = layers.window if layers.kind in _LOCAL else None
    if layers.kind is LayerKind.CROSS:
        # Source: vLLM, CrossAttentionSpec; `config/scheduler.py`, max_num_encoder_input_tokens.
        window = demand.budget_tokens
    elif window is not None and Rule.RETAINS_EXTRA in engine.rules and demand.draft_modules > 1:
        # Draft modules after the first read the last tokens again, so they are kept longer.
        window += demand.draft_tokens - 1
    return Cache(
        kind=layers.kind,
        layers=layers.count,
        block_size=block,
        token_bytes=cell,
        window=window,
        padded_bytes=padded,
        shape=(layers.kv_heads, layers.head_size, layers.value_size, layers.latent_size),
    )


def _beside_tiles(cell: int, sizes: _Sizes) -> int:
    """Return the block of an unquantised sliding layer beside KVarN tiles.

    The largest that fits the padded page and divides the primary block, in tiles if possible.
    Source: HyperQwen, `kvarn-v2-runner`.
    """
    most = (sizes.padded or 0) // cell
    for step in _KVARN_STEPS:
        for block in range(most // step * step, 0, -step):
            if sizes.block % block == 0:
                return block
    return sizes.backend.smallest


def _state(
    layers: LayerSet, block: int, padded: int | None, demand: Demand, engine: Engine
) -> Cache:
    """Return a state's cache: one, one more to hand on when states are cached, one a draft token.

    Source: vLLM, MambaSpec.max_memory_usage_bytes.
    """
    states = demand.draft_tokens + {"none": 1, "align": 2, "all": 0}[demand.mamba_mode]
    if (
        demand.mamba_mode == "align"
        and layers.checkpoints_prefill
        and Rule.PREFILL_CHECKPOINT in engine.rules
    ):
        states += 1
    return Cache(
        kind=LayerKind.LINEAR,
        layers=layers.count,
        block_size=block if demand.mamba_mode == "all" else 0,
        state_bytes=state_bytes(layers, demand),
        states=states,
        padded_bytes=padded,
        shape=(layers.conv_channels, layers.state_heads),
    )
