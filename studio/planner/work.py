"""One set of settings on one set of cards, worked out: ledger, pool, what is missing. Pure.

The order is the engine's: the start is allowed or refused by what is free, the weights go in, the
profiler leaves the KV bytes (or they are pinned), the pool is cut from them.
"""

import dataclasses
from collections.abc import Iterator, Mapping

import msgspec

from studio.domain.errors import BadInput
from studio.domain.geometry import ModelGeometry
from studio.domain.hardware import Gpu
from studio.domain.plans import LedgerItem, LedgerPlace, PoolPart
from studio.domain.units import bytes_text, tokens_text
from studio.planner import card_ledger, needs
from studio.planner import cards as card_rules
from studio.planner.budget import Budget
from studio.planner.card_ledger import Ground
from studio.planner.engine import Device, Engine
from studio.planner.needs import Demands
from studio.planner.outcome import Lack, Outcome, Shortfall
from studio.planner.pool import LONGEST, Pool, PoolGroup, pool

_BLOCKS = "num_gpu_blocks_override"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What is planned, and where: all that no setting changes."""

    engine: Engine
    ground: Ground
    target: ModelGeometry | None
    drafter: ModelGeometry | None = None
    demands: Demands = dataclasses.field(default_factory=Demands)
    asked_for: frozenset[str] = frozenset()
    """Settings that the person gave."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One set of settings, and the cards that they are for."""

    settings: Mapping[str, object]
    cards: tuple[Gpu, ...] = ()
    budget: Budget
    shortfalls: tuple[Shortfall, ...] = ()
    """Already known: a runtime that does not run here, a refusal of the preset."""
    warnings: tuple[str, ...] = ()


def work_out(subject: Subject, attempt: Attempt) -> Outcome:
    """Return what `attempt` comes to."""
    settings = attempt.settings
    is_cpu = subject.engine.device is Device.CPU
    made, faults = _pool(subject, settings, attempt.budget)
    budget = _allocated(settings, attempt.budget, made)
    split, notes = _split(subject, settings, attempt.cards)
    items = _items(budget, made, in_memory=is_cpu)
    on_host = items if is_cpu else budget.in_memory
    host = needs.of(subject.demands, settings, subject.ground.host, in_memory=on_host)
    ledger, headroom, lacks = _cards(subject, attempt, () if is_cpu else items)
    return Outcome(
        settings=settings,
        ledger=(*ledger, *host.items),
        kv_bytes=budget.kv_bytes,
        pool_tokens=made.tokens if made else None,
        pool_tokens_error=_pool_error(subject, settings, budget, made),
        blocks=made.blocks if made else None,
        block_size=made.block_size if made else None,
        blocks_per_request=made.blocks_per_request if made else None,
        page_bytes=made.page_bytes if made else None,
        parts=_parts(made) if made else (),
        max_model_len=made.max_model_len if made else whole(settings, "max_model_len"),
        longest_context=_longest(made),
        seats=whole(settings, "max_num_seqs"),
        headroom_bytes=headroom,
        headroom_error_bytes=budget.error_bytes if headroom is not None else None,
        shortfalls=(
            *split,
            *attempt.shortfalls,
            *_too_long(subject, settings),
            *faults,
            *lacks,
            *(one for one in host.shortfalls if not _is_said(one, attempt)),
        ),
        unknown=tuple(_unknown(subject, attempt)),
        warnings=(*attempt.warnings, *notes, *host.warnings),
        assumptions=tuple(_assumptions(subject, budget, made)),
    )


def _is_said(one: Shortfall, attempt: Attempt) -> bool:
    """Tell whether a preset's own needs say the same already, and what the memory is for."""
    head = one.sentence.partition(";")[0]
    return any(other.sentence.startswith(head) for other in attempt.shortfalls)


def whole(settings: Mapping[str, object], name: str) -> int | None:
    """Return a setting that is a whole number, else None."""
    value = settings.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _split(
    subject: Subject, settings: Mapping[str, object], cards: tuple[Gpu, ...]
) -> tuple[tuple[Shortfall, ...], tuple[str, ...]]:
    ranks = whole(settings, "tensor_parallel_size") or 1
    if subject.target is None:
        return (), ()
    # Copies of KV heads are what a context is shared among.
    is_shared = (whole(settings, "decode_context_parallel_size") or 1) > 1
    is_asked_for = "tensor_parallel_size" in subject.asked_for and not is_shared
    faults, notes = card_rules.rank_faults(subject.target, ranks, is_asked_for=is_asked_for)
    return faults, (notes if cards else ())


def _too_long(subject: Subject, settings: Mapping[str, object]) -> Iterator[Shortfall]:
    """Yield that the engine refuses a context longer than the model's own.

    Source: vLLM 0.26 to 0.32, `_get_and_verify_max_len` in config/model.py.
    """
    asked = whole(settings, "max_model_len")
    most = subject.target.context_tokens if subject.target is not None else None
    if asked is None or most is None or asked <= most or "hf_overrides" in settings:
        return
    yield Shortfall(
        lack=Lack.CONTEXT,
        amount=asked - most,
        sentence=f"The model is made for {tokens_text(most)}; {tokens_text(asked)} are more.",
    )


def _cards(
    subject: Subject, attempt: Attempt, items: tuple[LedgerItem, ...]
) -> tuple[list[LedgerItem], int | None, list[Shortfall]]:
    ground, error = subject.ground, attempt.budget.error_bytes
    if not items or _is_without_cards(attempt):
        return [], None, []
    used = _used(items)
    lacks: list[Shortfall] = []
    for alike in card_ledger.alike(ground, attempt.cards):
        found = card_ledger.shortfalls(ground, alike[0], attempt.settings, used, error)
        lacks += (card_ledger.of_all(one, alike) for one in found)
    is_whole = all(item.bytes is not None for item in items)
    known = used if is_whole else None
    ledger, headroom = card_ledger.on_cards(ground, attempt.cards, items, known)
    return ledger, headroom, lacks


def _is_without_cards(attempt: Attempt) -> bool:
    """Tell whether there is no card to speak of, and a reason for it that is said already."""
    return not attempt.cards and bool(attempt.shortfalls)


def _unknown(subject: Subject, attempt: Attempt) -> Iterator[str]:
    if subject.target is None:
        yield "The shape of the model is not known: its config.json is not here."
    if subject.engine.device is not Device.CPU and _is_without_cards(attempt):
        return
    yield from attempt.budget.unknown
    for item in attempt.budget.items:
        if item.bytes is None:  # pinned bytes make the pool exact, not what lies beside it
            yield f"The size of the {item.title.lower()} is not known."
    is_cpu = subject.engine.device is Device.CPU
    if not is_cpu and not attempt.cards:
        yield subject.ground.host.gpu_note or "No card is known to plan for."


def _assumptions(subject: Subject, budget: Budget, made: Pool | None) -> Iterator[str]:
    said = [
        *([subject.engine.doubt] if subject.engine.doubt else ()),
        *(subject.target.assumptions if subject.target else ()),
        *(subject.drafter.assumptions if subject.drafter else ()),
        *budget.assumptions,
        *(made.assumptions if made else ()),
    ]
    yield from dict.fromkeys(said)


# The pool


def _pool(
    subject: Subject, settings: Mapping[str, object], budget: Budget
) -> tuple[Pool | None, list[Shortfall]]:
    kv_bytes = budget.kv_bytes
    if kv_bytes is None and whole(settings, _BLOCKS):
        kv_bytes = 1  # blocks that are counted need no bytes to be known
    if subject.target is None or kv_bytes is None:
        return None, []
    if budget.kv_bytes is not None and budget.kv_bytes <= 0:
        missing = bytes_text(-budget.kv_bytes)
        sentence = (
            f"Nothing is left for the KV cache: {missing} are missing before its first block."
        )
        return None, [_nothing_left(budget.kv_bytes, budget, sentence)]
    try:
        made = pool(subject.target, subject.drafter, settings, subject.engine, kv_bytes)
    except BadInput as error:
        return None, [Shortfall(lack=Lack.RULE, amount=1, sentence=error.message)]
    if made.refusal is None:
        return made, []
    return made, [_refused(subject, settings, budget, made)]


def _longest(made: Pool | None) -> int | None:
    """Return the longest context; None where the model's states hold one of any length."""
    return made.longest_context if made is not None and made.longest_context < LONGEST else None


def _allocated(settings: Mapping[str, object], budget: Budget, made: Pool | None) -> Budget:
    """Return the budget of a pool whose blocks are counted: they are allocated, whatever is left.

    Source: vLLM 0.26 to 0.32, `v1/core/kv_cache_utils.py`, may_override_num_blocks.
    """
    if made is None or not whole(settings, _BLOCKS):
        return budget
    return dataclasses.replace(
        budget,
        kv_bytes=made.card_blocks * made.bytes_per_block,
        kv_error_bytes=0,
        kv_source=f"`{_BLOCKS}`",
    )


def _nothing_left(kv_bytes: int, budget: Budget, sentence: str) -> Shortfall:
    return Shortfall(
        lack=Lack.CARD,
        amount=max(1, -kv_bytes),
        sentence=sentence,
        is_certain=kv_bytes + (budget.kv_error_bytes or 0) <= 0,
    )


def _refused(
    subject: Subject, settings: Mapping[str, object], budget: Budget, made: Pool
) -> Shortfall:
    """Return that the engine would not start with this pool; sure unless the error says else."""
    is_certain = True
    if budget.kv_error_bytes and subject.target is not None:
        most = budget.kv_bytes or 0
        most += budget.kv_error_bytes
        best = pool(subject.target, subject.drafter, settings, subject.engine, most)
        is_certain = best.refusal is not None
    return Shortfall(
        lack=Lack.POOL,
        amount=max(1, made.blocks_per_request - made.blocks),
        sentence=_pool_sentence(made),
        is_certain=is_certain,
    )


def _pool_sentence(made: Pool) -> str:
    missing = made.blocks_per_request - made.blocks
    if missing <= 0 and made.refusal:
        return made.refusal
    longest = (
        f"the longest that would start is {tokens_text(made.longest_context)}"
        if made.longest_context > 0
        else "no request of any length would start"
    )
    return (
        f"One request of {tokens_text(made.max_model_len)} takes {made.blocks_per_request:,} "
        f"blocks ({bytes_text(made.request_bytes)}); the pool has {made.blocks:,} "
        f"({bytes_text(made.kv_bytes)}); {longest}."
    )


def _pool_error(
    subject: Subject, settings: Mapping[str, object], budget: Budget, made: Pool | None
) -> int | None:
    """Return the half-width of the pool in tokens: 0 when it is arithmetic, None when unknown."""
    if made is None or subject.target is None or budget.kv_error_bytes is None:
        return None
    if budget.kv_error_bytes == 0:
        return 0 if made.is_exact else _share_of(made.tokens, budget.geometry_error)
    sides = []
    for kv_bytes in (made.kv_bytes - budget.kv_error_bytes, made.kv_bytes + budget.kv_error_bytes):
        if kv_bytes > 0:
            side = pool(subject.target, subject.drafter, settings, subject.engine, kv_bytes)
            sides.append(abs(side.tokens - made.tokens))
    error = max(sides, default=made.tokens)
    more = 0 if made.is_exact else _share_of(made.tokens, budget.geometry_error)
    return None if more is None else error + more


def _share_of(tokens: int, share: float) -> int | None:
    """Return the part of a pool that a model known in part makes doubtful.

    None: what is doubtful is a guess, and nobody knows how far off it is.
    """
    return max(1, round(tokens * share)) if share else None


def _parts(made: Pool) -> tuple[PoolPart, ...]:
    """Return the groups of the pool, alike ones together, in the engine's order."""
    alike: dict[tuple[str, int, int, int, int], list[PoolGroup]] = {}
    for one in made.groups:
        key = (
            one.kind.value,
            one.block_size,
            one.page_bytes,
            one.used_bytes,
            one.blocks_per_request,
        )
        alike.setdefault(key, []).append(one)
    return tuple(
        PoolPart(
            kind=kind,
            groups=len(groups),
            layers=sum(one.layers for one in groups),
            block_size=block_size,
            page_bytes=page_bytes,
            used_bytes=used_bytes,
            blocks_per_request=each * len(groups),
        )
        for (kind, block_size, page_bytes, used_bytes, each), groups in alike.items()
    )


# The ledger


def _items(budget: Budget, made: Pool | None, *, in_memory: bool) -> tuple[LedgerItem, ...]:
    place = LedgerPlace.MEMORY if in_memory else LedgerPlace.CARD
    kv_bytes = budget.kv_bytes
    pool_item = LedgerItem(
        name="kv-pool",
        title="KV pool",
        place=place,
        bytes=kv_bytes,
        error_bytes=budget.kv_error_bytes,
        source=budget.kv_source
        + (f"; {made.card_blocks:,} blocks of {bytes_text(made.bytes_per_block)}" if made else ""),
    )
    return (*(_placed(item, place) for item in budget.items), pool_item)


def _placed(item: LedgerItem, place: LedgerPlace) -> LedgerItem:
    return msgspec.structs.replace(item, place=place)


def _used(items: tuple[LedgerItem, ...]) -> int:
    """Return the sum of what is known of the items."""
    return sum(item.bytes or 0 for item in items)
