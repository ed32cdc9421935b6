"""Layers cut into groups that share a block table, and pages made equal before that.

All groups draw blocks from one pool, so every group's block must take the same bytes: pages are
made equal, and groups get the same number of layers, padded where they do not divide.
Source: vLLM, `v1/core/kv_cache_utils.py`, get_kv_cache_groups and what it calls.
"""

import dataclasses
import math
from collections.abc import Sequence

from studio.domain.errors import BadInput
from studio.domain.geometry import LayerKind
from studio.planner.blocks import Cache
from studio.planner.engine import Engine, Rule

_NEAR = 1.5
"""Buckets whose sizes differ by less are padded to the larger one, not cut to the smaller."""
_LOCAL = (LayerKind.SLIDING, LayerKind.CHUNKED)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Layers of one block table. `caches` differ only where their pages do."""

    caches: tuple[Cache, ...]

    @property
    def layers(self) -> int:
        """How many layers there are, padding not counted."""
        return sum(cache.layers for cache in self.caches)

    @property
    def block_bytes(self) -> int:
        """Bytes of one block of all its layers."""
        return sum(cache.layers * cache.page_bytes for cache in self.caches)

    def blocks(self, tokens: int, in_flight: int, context_shards: int = 1) -> int:
        """Return the most blocks that a request of `tokens` holds on one card."""
        return max(cache.blocks(tokens, in_flight, context_shards) for cache in self.caches)


def groups(
    caches: Sequence[Cache], engine: Engine, *, is_hybrid_manager: bool
) -> tuple[Group, ...]:
    """Return the groups that the engine makes of `caches`.

    Raises: BadInput, if the engine can not serve such a mixture.
    """
    if not is_hybrid_manager:
        caches = _all_whole(caches)
    if not caches:
        return ()
    if _is_uniform(caches):
        return (Group(caches=tuple(caches)),)
    try:
        equal = _equal_pages(caches, engine)
    except _PagesDiffer:
        whole = _all_whole(caches)
        if Rule.FALLS_BACK not in engine.rules or not _is_uniform(whole):
            raise BadInput(
                "pages-differ",
                "The engine cannot serve this model: its layers' cache pages cannot be made equal.",
                hint="Another KV cache type or block size, or a newer runtime, may do.",
            ) from None
        return (Group(caches=tuple(whole)),)
    return _of_equal_size(equal, engine)


class _PagesDiffer(Exception):
    """Pages cannot be made equal."""


def _is_uniform(caches: Sequence[Cache]) -> bool:
    """Whether all layers always need the same number of blocks."""
    first = caches[0]
    if len({cache.block_size for cache in caches}) > 1:
        return False
    match first.kind:
        case LayerKind.FULL | LayerKind.MLA:
            return all(cache.kind in (LayerKind.FULL, LayerKind.MLA) for cache in caches)
        case LayerKind.SLIDING | LayerKind.CHUNKED | LayerKind.CROSS:
            return all(
                cache.kind is first.kind and cache.window == first.window for cache in caches
            )
        case LayerKind.LINEAR:
            return all(
                cache.kind is LayerKind.LINEAR
                and cache.page_bytes == first.page_bytes
                and cache.states == first.states
                for cache in caches
            )


def _all_whole(caches: Sequence[Cache]) -> tuple[Cache, ...]:
    """Return `caches` with windows kept whole, as without the hybrid cache manager."""
    full = next((c for c in caches if c.kind in (LayerKind.FULL, LayerKind.MLA)), None)
    if full is None:
        return tuple(caches)
    return tuple(
        dataclasses.replace(
            cache, kind=LayerKind.FULL, block_size=full.block_size, window=None, padded_bytes=None
        )
        if cache.kind in _LOCAL
        else cache
        for cache in caches
    )


def _equal_pages(caches: Sequence[Cache], engine: Engine) -> tuple[Cache, ...]:
    """Return `caches` with one page size: more tokens where that divides, else padding.

    Source: vLLM, unify_kv_cache_spec_page_size.
    """
    if len({cache.page_bytes for cache in caches}) == 1:
        return tuple(caches)
    if Rule.PROMOTES_BLOCKS in engine.rules:
        caches = _promoted(caches)
    page = max(cache.page_bytes for cache in caches)
    return tuple(_fitted(cache, page) for cache in caches)


def _fitted(cache: Cache, page: int) -> Cache:
    if cache.page_bytes == page:
        return cache
    if cache.kind is LayerKind.LINEAR or cache.padded_bytes is not None:
        return dataclasses.replace(cache, padded_bytes=page)
    if page % cache.page_bytes == 0:
        ratio = page // cache.page_bytes
        return dataclasses.replace(cache, block_size=cache.block_size * ratio)
    if cache.kind is LayerKind.MLA:
        raise _PagesDiffer
    return dataclasses.replace(cache, padded_bytes=page)


def _promoted(caches: Sequence[Cache]) -> Sequence[Cache]:
    """Return `caches` where odd pages got more tokens, if all others can follow.

    Odd is a page that does not divide the largest. The promoted block must divide the primary
    one, else the scheduler's unit would not be a multiple of it.
    Source: HyperQwen, `hybrid-sw-block-promote`.
    """
    page = max(cache.page_bytes for cache in caches)

    def is_odd(cache: Cache) -> bool:
        return cache.kind is not LayerKind.LINEAR and page % cache.page_bytes != 0

    if not any(is_odd(cache) for cache in caches):
        return caches
    primary = {
        cache.block_size
        for cache in caches
        if cache.kind is not LayerKind.LINEAR and cache.page_bytes == page
    }
    only = next(iter(primary)) if len(primary) == 1 else None
    result = []
    for cache in caches:
        if not is_odd(cache):
            result.append(cache)
            continue
        block = _covering(cache, page, only)
        grown = None if block is None else dataclasses.replace(cache, block_size=block)
        if grown is None or grown.page_bytes < page:
            return caches
        result.append(grown)
    largest = max(cache.page_bytes for cache in result)
    can_follow = all(
        cache.kind is not LayerKind.MLA or largest % cache.page_bytes == 0 for cache in result
    )
    return result if can_follow else caches


def _covering(cache: Cache, page: int, primary: int | None) -> int | None:
    """Return the smallest block whose page covers `page` and that divides the primary block."""
    block = cache.block_size * -(-page // cache.page_bytes)
    if primary is None or primary % block == 0:
        return block
    return next((size for size in range(block, primary + 1) if primary % size == 0), None)


def _of_equal_size(caches: Sequence[Cache], engine: Engine) -> tuple[Group, ...]:
    """Cut buckets of like layers into groups of one size.

    Source: vLLM, _get_kv_cache_groups_uniform_page_size.
    """
    buckets = _buckets(caches)
    counts = [bucket.layers for bucket in buckets]
    smallest, largest = min(counts), max(counts)
    if largest < smallest * _NEAR:
        size = largest
    elif Rule.PADS_SLIDING_GROUPS in engine.rules:
        size = _padding_sliding(buckets, smallest)
    else:
        size = smallest
    result = []
    for bucket in buckets:
        number = -(-bucket.layers // size)
        for index in range(number):
            layers = len(range(index, bucket.layers, number))
            result.append(Group(caches=(dataclasses.replace(bucket, layers=layers),)))
    return tuple(result)


def _buckets(caches: Sequence[Cache]) -> list[Cache]:
    found: dict[Cache, int] = {}
    for cache in caches:
        alike = dataclasses.replace(cache, layers=0)
        found[alike] = found.get(alike, 0) + cache.layers
    return [dataclasses.replace(alike, layers=layers) for alike, layers in found.items()]


def _padding_sliding(buckets: Sequence[Cache], smallest: int) -> int:
    """Return the group size that pads a small sliding bucket and cuts the others evenly.

    The largest divisor of the other buckets by which no sliding bucket more than doubles.
    Source: HyperQwen, `hybrid-kv-groups-v2-cudagraph`.
    """
    sliding = [bucket.layers for bucket in buckets if bucket.kind is LayerKind.SLIDING]
    others = [bucket.layers for bucket in buckets if bucket.kind is not LayerKind.SLIDING]
    if not sliding or not others or min(sliding) != smallest:
        return smallest
    common = math.gcd(*others)
    for size in range(common, smallest, -1):
        if common % size == 0 and all(-layers % size <= layers for layers in sliding):
            return size
    return smallest
