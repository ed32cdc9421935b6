"""What a card's memory goes to beside the KV pool, and what that leaves for the pool. Pure.

The items are data (`presets/planner/memory.toml`): bytes for each thing that an engine holds, with
an error bar and a source; no published pool is among them. The sum is vLLM's own:
`utilisation × total − weights − activation peak − graphs − what is not torch's`.
Source of the sum: vLLM 0.26 to 0.32, `v1/worker/gpu_worker.py`, determine_available_memory.
"""

import json
import math
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from studio.domain.geometry import LayerKind, ModelGeometry
from studio.domain.hardware import Gpu
from studio.domain.manifests import Document
from studio.domain.plans import LedgerItem, LedgerPlace
from studio.domain.units import GIB, bytes_text, percent_text
from studio.planner.demand import Demand, demand
from studio.planner.engine import Engine, Rule
from studio.planner.pool import pool

DEFAULT_SHARE = 0.92
"""vLLM's own `gpu_memory_utilization`. Source: 0.26 to 0.32, `config/cache.py`."""
_ON_HOST = frozenset({"ple_table", "engram"})
"""Parts of a model that the presets keep off the card."""
_ELASTIC = "experts"
"""The part of which the card takes what it has room for (1Cat-vLLM, offloaded experts)."""
_PARTLY_KNOWN = 0.1
"""Error of a pool that is as large as a model's layers, known in part, ask for."""
_ROW_BYTES = 8
"""A logit in float32, and its copy while it is sampled."""
_LARGE_CARD_BYTES = 30_000_000_000
_GRAPH_TOKENS = 32
_KVARN_TILE = 128
_KVARN_SPARE = 32
_LEAST_TILES = 64


class Term(Document, frozen=True, kw_only=True):
    """One thing that an engine holds on the card: a sum of products, where its conditions hold."""

    name: str
    """Of the line in the ledger; terms of one name are added."""
    title: str
    engines: tuple[str, ...] = ()
    """Words in the engine's name; empty: every engine."""
    when: dict[str, bool] = msgspec.field(default_factory=dict)
    """Conditions that must be met or not: `eager`, `cold`, `wsl`, `several` (cards), `speculates`,
    `mtp`, `dflash`, `verify_kernel`, `fp8`, `kvarn`, `int8_act`, `vision`, `large_card` (30 GB)."""
    base_bytes: int = 0
    per_budget_token_bytes: int = 0
    """For each token of the batch budget."""
    per_hidden_byte: float = 0.0
    """… and each byte of its hidden state in 16 bits."""
    per_logit_byte: float = 0.0
    """For each byte of the logits that a full batch of seats samples from."""
    per_graph_token_bytes: int = 0
    """For each token of the largest captured graph."""
    per_draft_token_bytes: int = 0
    per_whole_context_byte: float = 0.0
    """For each byte of one layer's keys and values of the longest context in 16 bits."""
    per_tile_byte: float = 0.0
    """For each byte of KVarN's tail: tiles that are not full yet, in 16 bits."""
    is_outside: bool = False
    """Beside the engine's share and not of it: held before it looks at the card, or taken once the
    pool is cut."""
    error_bytes: int
    source: str


class MemoryTable(Document, frozen=True, kw_only=True):
    """`presets/planner/memory.toml`."""

    schema_version: int
    terms: tuple[Term, ...]

    @property
    def outside(self) -> frozenset[str]:
        """Return the names of what lies beside an engine's share."""
        return frozenset(term.name for term in self.terms if term.is_outside)


class Memory(msgspec.Struct, frozen=True, kw_only=True):
    """What one card holds, and what is left of it for the KV cache."""

    items: tuple[LedgerItem, ...]
    """All that lies beside the pool."""
    kv_bytes: int | None
    """None: not known; never negative."""
    kv_error_bytes: int | None
    kv_source: str
    in_memory: tuple[LedgerItem, ...] = ()
    """What the card has no room for, and the machine's memory holds instead."""
    unknown: tuple[str, ...] = ()
    """What is missing for a figure, in words."""
    assumptions: tuple[str, ...] = ()


def forecast(
    target: ModelGeometry,
    drafter: ModelGeometry | None,
    settings: Mapping[str, object],
    engine: Engine,
    *,
    card: Gpu | None,
    table: MemoryTable,
    is_wsl: bool = False,
    is_cold: bool = False,
) -> Memory:
    """Return what `card` holds beside the pool and what that leaves for it.

    Pinned bytes are no matter here: the figure is what the profiler would leave.
    Raises: BadInput, if a setting has no meaning.
    """
    wanted = demand(target, drafter, settings, engine)
    is_warm = Rule.PROFILES_WARM in engine.rules
    total = card.usable_bytes if card is not None else None
    facts = _Facts(
        target,
        wanted,
        settings,
        is_wsl=is_wsl,
        is_cold=is_cold and not is_warm,
        is_large=total is not None and total >= _LARGE_CARD_BYTES,
    )
    weights = tuple(_weights(target, drafter, wanted, settings))
    items = (*weights, *_lines(table, engine, facts))
    outside = table.outside
    share = _share(settings)
    source = f"{percent_text(share)} of the card, less all that lies beside it"
    unknown = tuple(_unknown(weights, total))
    if total is None or unknown:
        return Memory(
            items=items, kv_bytes=None, kv_error_bytes=None, kv_source=source, unknown=unknown
        )
    # Independent errors: the sum's is the root of the squares.
    error = math.isqrt(sum((item.error_bytes or 0) ** 2 for item in items))
    held = sum(item.bytes or 0 for item in items if item.name not in outside)
    left = math.ceil(total * share) - held
    experts = _experts(target, drafter, settings, engine, wanted, left=left)
    away: tuple[LedgerItem, ...] = ()
    if experts is not None:
        items, left = (*items, experts), left - (experts.bytes or 0)
        away = (_experts_away(target, wanted, experts),)
        if experts.bytes:
            # What the rest turns out to leave, the experts take or give: the pool is as much as
            # its seats need, which is known as well as the model's layers are.
            experts = msgspec.structs.replace(experts, error_bytes=error)
            items, error = (*items[:-1], experts), round(left * _PARTLY_KNOWN)
    return Memory(
        items=items,
        kv_bytes=max(0, left),
        kv_error_bytes=error,
        kv_source=source,
        in_memory=away,
        assumptions=tuple(_assumptions(table, engine, facts)),
    )


def _experts(
    target: ModelGeometry,
    drafter: ModelGeometry | None,
    settings: Mapping[str, object],
    engine: Engine,
    wanted: Demand,
    *,
    left: int,
) -> LedgerItem | None:
    """Return the experts that lie on the card: what is left when every seat has its KV cache.

    The others are in the machine's memory and are copied ahead of their use.
    """
    whole = target.weight_bytes.get(_ELASTIC, 0)
    if not whole:
        return None
    share = _on_card(whole, wanted)
    one = pool(target, drafter, settings, engine, 0)
    seats = settings.get("max_num_seqs")
    count = seats if isinstance(seats, int) and not isinstance(seats, bool) else 1
    room = max(0, left - one.reserved_bytes - one.request_bytes * max(1, count))
    size = min(share, room)
    away = bytes_text((share - size) * wanted.shards * wanted.stages)
    return LedgerItem(
        name="experts",
        title="Experts on the card",
        bytes=size,
        error_bytes=0,
        source=f"what the rest leaves of them; {away} lie in the machine's memory",
    )


def _experts_away(target: ModelGeometry, wanted: Demand, there: LedgerItem) -> LedgerItem:
    """Return the experts that lie in the machine's memory: those of all cards together."""
    share = _on_card(target.weight_bytes.get(_ELASTIC, 0), wanted)
    return LedgerItem(
        name="experts",
        title="Experts in memory",
        place=LedgerPlace.MEMORY,
        bytes=(share - (there.bytes or 0)) * wanted.shards * wanted.stages,
        source="the experts that the cards have no room for",
    )


def _unknown(weights: Iterable[LedgerItem], total: int | None) -> Iterator[str]:
    if total is None:
        yield "The size of the card is not known."
    for item in weights:
        if item.bytes is None:
            yield f"The size of the {item.title.lower()} is not known."


def _assumptions(table: MemoryTable, engine: Engine, facts: "_Facts") -> Iterator[str]:
    if facts.conditions["cold"] or Rule.PROFILES_WARM in engine.rules:
        return
    cold = facts.when_cold()
    more = sum(
        term.base_bytes
        for term in table.terms
        if "cold" in term.when and _is_of(term, engine) and cold.hold(term)
    )
    if more:
        yield (
            "Kernels are compiled already; the first start of all may leave up to "
            f"{bytes_text(more)} less."
        )


def _share(settings: Mapping[str, object]) -> float:
    value = settings.get("gpu_memory_utilization")
    if isinstance(value, int | float | str) and not isinstance(value, bool):
        try:
            share = float(value)
        except ValueError:
            return DEFAULT_SHARE
        return share if 0.0 < share <= 1.0 else DEFAULT_SHARE
    return DEFAULT_SHARE


def _lines(table: MemoryTable, engine: Engine, facts: "_Facts") -> Iterator[LedgerItem]:
    terms = [term for term in table.terms if _is_of(term, engine) and facts.hold(term)]
    for name in dict.fromkeys(term.name for term in terms):
        yield _line([term for term in terms if term.name == name], facts)


def _is_of(term: Term, engine: Engine) -> bool:
    return not term.engines or any(word in engine.name for word in term.engines)


def _line(terms: Iterable[Term], facts: "_Facts") -> LedgerItem:
    alike = list(terms)
    return LedgerItem(
        name=alike[0].name,
        title=alike[0].title,
        bytes=max(0, sum(facts.bytes_of(term) for term in alike)),
        error_bytes=math.isqrt(sum(term.error_bytes**2 for term in alike)),
        source="; ".join(dict.fromkeys(term.source for term in alike)),
    )


def _weights(
    target: ModelGeometry,
    drafter: ModelGeometry | None,
    wanted: Demand,
    settings: Mapping[str, object],
) -> Iterator[LedgerItem]:
    """Return the weights of one card: every part that is loaded, shared by all cards."""
    if not target.weight_bytes:
        yield _weight("weights", "Weights", None)
    else:
        loaded = {
            part: size
            for part, size in target.weight_bytes.items()
            if part not in {*_ON_HOST, _ELASTIC} and (part != "mtp" or wanted.spec_method == "mtp")
        }
        vision = loaded.pop("vision", 0)
        if _is_on(settings, "embed_uva"):
            loaded.pop("embedding", None)
        yield _weight("weights", "Weights", _on_card(sum(loaded.values()), wanted))
        left = _vision(vision, settings)
        if left:
            yield _weight("vision", "Vision tower", _on_card(left, wanted))
    if drafter is not None and wanted.draft_tokens:
        size = sum(drafter.weight_bytes.values()) if drafter.weight_bytes else None
        yield _weight("drafter", "Drafter", None if size is None else _on_card(size, wanted))


def _vision(size: int, settings: Mapping[str, object]) -> int:
    """Return what of the vision tower stays on the card."""
    is_used = settings.get("vision")
    if is_used is False or _is_on(settings, "language_model_only"):
        return 0
    # Up to 1 GiB is kept in the machine's memory, which is more than the tower.
    return 0 if _is_on(settings, "vision_offload") else size


def _on_card(size: int, wanted: Demand) -> int:
    return size // (wanted.shards * wanted.stages)


def _weight(name: str, title: str, size: int | None) -> LedgerItem:
    return LedgerItem(
        name=name,
        title=title,
        bytes=size,
        error_bytes=None if size is None else round(0.05 * GIB),
        source="the sizes of the model's tensors",
    )


def _is_on(settings: Mapping[str, object], name: str) -> bool:
    value = settings.get(name)
    return value is True or str(value).strip().lower() in {"true", "1", "yes", "on"}


class _Facts:
    """What the terms multiply, and what their conditions ask."""

    def __init__(
        self,
        target: ModelGeometry,
        wanted: Demand,
        settings: Mapping[str, object],
        *,
        is_wsl: bool,
        is_cold: bool,
        is_large: bool,
    ) -> None:
        self._target = target
        self._wanted = wanted
        self._settings = settings
        is_kvarn = wanted.kv_cache_dtype.startswith("kvarn")
        is_eager = _is_on(settings, "enforce_eager")
        self.conditions: dict[str, bool] = {
            "eager": is_eager,
            "wsl": is_wsl,
            "cold": is_cold,
            "large_card": is_large,
            "mtp": wanted.spec_method == "mtp",
            "dflash": wanted.spec_method == "dflash",
            "speculates": wanted.draft_tokens > 0,
            "kvarn": is_kvarn,
            "several": wanted.shards * wanted.stages > 1,
            "fp8": wanted.kv_cache_dtype.startswith("fp8"),
            "verify_kernel": _is_on(settings, "spec_decode_attn") and not is_kvarn and not is_eager,
            "int8_act": str(settings.get("int8_act") or "off") not in {"off", "False", "none"},
            "vision": settings.get("vision") is not False
            and not _is_on(settings, "language_model_only")
            and "vision" in target.weight_bytes,
        }

    def when_cold(self) -> "_Facts":
        """Return the same for the first start of all."""
        wsl, large = self.conditions["wsl"], self.conditions["large_card"]
        return _Facts(
            self._target, self._wanted, self._settings, is_wsl=wsl, is_cold=True, is_large=large
        )

    def hold(self, term: Term) -> bool:
        """Whether all conditions of `term` are met."""
        return all(self.conditions.get(name) is value for name, value in term.when.items())

    def bytes_of(self, term: Term) -> int:
        """Return the bytes of `term`."""
        budget, context = self._number("max_num_batched_tokens", 2048), self._wanted.max_model_len
        hidden = 2 * (self._target.hidden_size or 0)
        return round(
            term.base_bytes
            + term.per_budget_token_bytes * budget
            + term.per_hidden_byte * hidden * budget
            + term.per_logit_byte * self._logit_bytes()
            + term.per_graph_token_bytes * self._graph_tokens()
            + term.per_draft_token_bytes * self._wanted.draft_tokens
            + term.per_whole_context_byte * self._whole_layer_bytes() * context
            + term.per_tile_byte * self._tile_bytes()
        )

    def _number(self, name: str, default: int) -> int:
        value = self._settings.get(name)
        return value if isinstance(value, int) and not isinstance(value, bool) else default

    def _seats(self) -> int:
        return self._number("max_num_seqs", 256)

    def _logit_bytes(self) -> int:
        rows = self._seats() * (1 + self._wanted.draft_tokens)
        return rows * (self._target.vocabulary or 0) * _ROW_BYTES // self._wanted.shards

    def _graph_tokens(self) -> int:
        config = self._settings.get("compilation_config")
        if isinstance(config, str):
            try:
                config = json.loads(config)
            except ValueError:
                config = None
        most = config.get("max_cudagraph_capture_size") if isinstance(config, Mapping) else None
        if isinstance(most, int) and not isinstance(most, bool):
            return most
        return min(_GRAPH_TOKENS, self._seats() * (1 + self._wanted.draft_tokens))

    def _whole_layer_bytes(self) -> int:
        """One layer's keys and values of one token in 16 bits."""
        for layers in self._target.layers:
            if layers.kind is LayerKind.FULL and layers.kv_heads and layers.head_size:
                return 4 * max(1, layers.kv_heads // self._wanted.shards) * layers.head_size
        return 0

    def _tile_bytes(self) -> int:
        """KVarN's tail: two tiles a seat, those of a prefill chunk, and some to spare, all layers.

        Source: KVarN's quantisation config, pool_slots.
        """
        chunk = -(-self._number("max_num_batched_tokens", 2048) // _KVARN_TILE)
        tiles = max(2 * self._seats() + chunk + _KVARN_SPARE, _LEAST_TILES)
        layers = sum(item.count for item in self._target.layers if item.kind is LayerKind.FULL)
        layers += self._wanted.draft_modules
        return tiles * _KVARN_TILE * self._whole_layer_bytes() * layers
