"""How many tokens the engine's KV cache holds, from the model, its arguments and the bytes.

Pure arithmetic in the engine's own order: block size, caches of the layers, groups, blocks,
blocks of one request, tokens. `is_exact` says whether every rule on the way is known; then the
figure is the one that the engine prints, to the token.
"""

from collections.abc import Mapping

import msgspec

from studio.domain.geometry import LayerKind, ModelGeometry
from studio.planner.engine import Engine

Setting = str | int | float | bool | None
"""A value of an argument, as a preset or the command line gives it."""


class PoolGroup(msgspec.Struct, frozen=True, kw_only=True):
    """Layers that share one block table."""

    kind: LayerKind
    layers: int
    block_size: int
    """Tokens in one block."""
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
    """What one request of full length takes."""
    longest_context: int
    """The largest `max_model_len` that the engine accepts with these bytes, at most the model's."""
    is_exact: bool
    refusal: str | None = None
    """Why the engine does not start, in its own terms; None: it does."""
    assumptions: tuple[str, ...] = ()


def pool(
    target: ModelGeometry,
    drafter: ModelGeometry | None,
    settings: Mapping[str, Setting],
    engine: Engine,
    kv_bytes: int,
) -> Pool:
    """Return the KV cache that `engine` makes of `kv_bytes` on each card.

    `settings` are vLLM's argument names with underscores; `draft_tokens` and `spec_method` may
    stand for a `speculative_config`. Unknown names are ignored here: whoever takes them from a
    person checks them.

    Raises: BadInput, if a value has no meaning (a KV cache type that nobody knows, a model whose
    attention is not known, heads that do not divide by the cards).
    """
    raise NotImplementedError
