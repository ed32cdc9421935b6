"""Which cards a plan uses, and what is wrong with them. Pure."""

import dataclasses
from collections.abc import Collection, Iterator, Sequence

from studio.domain.geometry import ModelGeometry
from studio.domain.hardware import Gpu, HostSnapshot, LinkKind
from studio.domain.units import bytes_text
from studio.planner.outcome import Lack, Shortfall

_MOST_HOLDERS = 4


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class CardNeeds:
    """What the engine asks of cards."""

    count: int
    min_capability: str | None = None
    max_capability: str | None = None
    min_driver: str | None = None
    newest_driver: str | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """The cards of a plan. `shortfalls` say why these, or none, will not do."""

    cards: tuple[Gpu, ...] = ()
    shortfalls: tuple[Shortfall, ...] = ()
    warnings: tuple[str, ...] = ()


def choose(host: HostSnapshot, needs: CardNeeds, wanted: Sequence[int] | None = None) -> Chosen:
    """Return the cards to use: those `wanted` (by NVML index), else the freest able ones.

    A card that drives a display comes last, and equal cards go together.
    """
    if needs.count == 0:
        return Chosen()
    if not host.gpus:
        note = host.gpu_note or "It needs an NVIDIA card; none was found."
        return Chosen(shortfalls=(_rule(note),))
    driver = tuple(_driver_faults(host, needs))
    if wanted is not None:
        cards, faults = _named(host, wanted, needs)
    else:
        cards, faults = _best(host, needs)
    return Chosen(
        cards=cards,
        shortfalls=(*driver, *faults),
        warnings=tuple(_warnings(host, needs, cards, wanted)),
    )


def unable(card: Gpu, needs: CardNeeds) -> str | None:
    """Return why `card` cannot compute for this engine, whatever its memory; None when it can."""
    name = f"Card {card.index} ({card.name})"
    found = card.compute_capability
    if found is not None:
        if needs.min_capability and _version(found) < _version(needs.min_capability):
            return (
                f"{name} has compute capability {found}; the runtime needs {needs.min_capability} "
                "or newer."
            )
        if needs.max_capability and _version(found) > _version(needs.max_capability):
            return (
                f"{name} has compute capability {found}; the runtime is built for "
                f"{needs.max_capability} at most."
            )
    if card.mig_enabled:
        slices = len(card.mig_devices)
        return (
            f"{name} is split by MIG into {slices} slice{'' if slices == 1 else 's'}; the Studio "
            f"serves on whole cards. `nvidia-smi -i {card.index} -mig 0` makes it whole."
        )
    if card.compute_mode == "prohibited":
        return f"{name} refuses computing programs (compute mode `prohibited`)."
    return None


def free_bytes(card: Gpu, own_pids: Collection[int] = ()) -> int | None:
    """Return what an engine may take at its start, what our own engine holds counted as free.

    None when the driver does not say, or does not say what our own engine holds (WSL2).
    """
    if card.free_bytes is None or not own_pids:
        return card.free_bytes
    if card.processes is None:
        return None
    mine = [one.bytes for one in card.processes if one.pid in own_pids]
    if any(size is None for size in mine):
        return None
    return card.free_bytes + sum(size or 0 for size in mine)


def holders(card: Gpu, own_pids: Collection[int] = ()) -> str:
    """Return who holds a card's memory, in words; empty when nobody is known."""
    others = [one for one in card.processes or () if one.pid not in own_pids]
    others.sort(key=lambda one: -(one.bytes or 0))
    shown = []
    for one in others[:_MOST_HOLDERS]:
        size = f" {bytes_text(one.bytes)}" if one.bytes is not None else ""
        shown.append(f"`{one.name or 'another user’s program'}` (pid {one.pid}){size}")
    if len(others) > _MOST_HOLDERS:
        shown.append(f"{len(others) - _MOST_HOLDERS} more")
    return ", ".join(shown)


def rank_faults(
    model: ModelGeometry, ranks: int, *, is_asked_for: bool
) -> tuple[tuple[Shortfall, ...], tuple[str, ...]]:
    """Return why a model cannot be split over `ranks` cards, and what to know when it can.

    Heads are dealt out whole: the query heads must divide, and so must the KV heads. More cards
    than KV heads make the engine keep copies of them, so a card more brings no token more: refused
    when the person asks for it, said when the preset does or when there is no other way.
    Source: vLLM 0.26 to 0.32, `ModelConfig.verify_with_parallel_config`; HyperQwen: 2 or 4 cards.
    """
    kv_heads = max((one.kv_heads or 0 for one in model.layers), default=0)
    if ranks <= 1 or not kv_heads:
        return (), ()
    fitting = [n for n in range(1, kv_heads + 1) if kv_heads % n == 0 and _divides(model, n)]
    listed = ", ".join(str(n) for n in fitting)
    is_whole = _divides(model, ranks) and (kv_heads % ranks == 0 or ranks % kv_heads == 0)
    if is_whole and kv_heads % ranks == 0:
        return (), ()
    # One KV head, or the one vector of latent attention, can only be copied.
    if is_whole and (kv_heads == 1 or not is_asked_for):
        note = f"Its {kv_heads} KV heads are copied to make {ranks}: one for each card."
        if kv_heads == 1:
            note = f"Its KV head is copied to make {ranks}: one for each card."
        return (), (note,)
    sentence = (
        f"It cannot be split over {ranks} cards: its {kv_heads} KV heads go over {listed} "
        f"card{'' if listed == '1' else 's'}."
    )
    return (_rule(sentence),), ()


def _divides(model: ModelGeometry, ranks: int) -> bool:
    return model.query_heads is None or model.query_heads % ranks == 0


def _named(
    host: HostSnapshot, wanted: Sequence[int], needs: CardNeeds
) -> tuple[tuple[Gpu, ...], list[Shortfall]]:
    by_index = {card.index: card for card in host.gpus}
    missing = [index for index in wanted if index not in by_index]
    if missing:
        listed = ", ".join(f"{card.index} {card.name}" for card in host.gpus)
        numbers = " and ".join(str(index) for index in missing)
        return (), [_rule(f"There is no card {numbers} here; there are: {listed}.")]
    cards = tuple(by_index[index] for index in wanted)
    faults = [_rule(fault) for card in cards if (fault := unable(card, needs))]
    if len(cards) < needs.count:
        faults.append(
            _rule(f"It needs {_cards_text(needs.count)}; {_cards_text(len(cards))} named.")
        )
    return cards[: needs.count], faults


def _best(host: HostSnapshot, needs: CardNeeds) -> tuple[tuple[Gpu, ...], list[Shortfall]]:
    faults = {card.index: unable(card, needs) for card in host.gpus}
    able = [card for card in host.gpus if faults[card.index] is None]
    if len(able) < needs.count:
        why = [fault for fault in faults.values() if fault is not None]
        lead = f"It needs {_cards_text(needs.count)}; {_cards_text(len(able))} here will do."
        return tuple(able), [_rule(" ".join([lead, *why]))]
    groups: dict[tuple[str, int | None], list[Gpu]] = {}
    for card in able:
        groups.setdefault((card.name, card.total_bytes), []).append(card)
    alike = [group for group in groups.values() if len(group) >= needs.count]
    pools = alike or [able]
    best = max((_ordered(pool)[: needs.count] for pool in pools), key=_worth)
    return tuple(sorted(best, key=lambda card: card.index)), []


def _ordered(cards: Sequence[Gpu]) -> list[Gpu]:
    return sorted(
        cards, key=lambda card: (bool(card.display_active), -(card.free_bytes or 0), card.index)
    )


def _worth(cards: Sequence[Gpu]) -> tuple[bool, int]:
    """Return how good a set of cards is: no display before one, then the least free memory."""
    has_display = any(card.display_active for card in cards)
    return not has_display, min(card.free_bytes or card.total_bytes or 0 for card in cards)


def _driver_faults(host: HostSnapshot, needs: CardNeeds) -> Iterator[Shortfall]:
    if host.driver and needs.min_driver and _version(host.driver) < _version(needs.min_driver):
        yield _rule(
            f"The NVIDIA driver is {host.driver}; the runtime needs {needs.min_driver} or newer."
        )


def _warnings(
    host: HostSnapshot, needs: CardNeeds, cards: Sequence[Gpu], wanted: Sequence[int] | None
) -> Iterator[str]:
    if host.driver and needs.newest_driver:
        branch = _version(host.driver)[:1]
        if branch > _version(needs.newest_driver)[:1]:
            yield (
                f"The driver {host.driver} is newer than {needs.newest_driver}, the newest branch "
                "known to work with these cards."
            )
    if wanted is not None and len(wanted) > needs.count and cards:
        used = ", ".join(str(card.index) for card in cards)
        yield f"{len(wanted)} cards are named; {_cards_text(needs.count)} used: {used}."
    names = dict.fromkeys(card.name for card in cards)
    if len(names) > 1:
        yield (
            f"The cards differ ({', '.join(names)}): the smallest decides the pool, the slowest "
            "the speed."
        )
    for card in cards:
        if card.display_active:
            yield (
                f"A display is drawn by card {card.index} ({card.name}): a desktop takes about "
                "1.3 GiB, and more when windows open."
            )
    yield from _link_warnings(host, cards)


def _link_warnings(host: HostSnapshot, cards: Sequence[Gpu]) -> Iterator[str]:
    if len(cards) < 2:
        return
    first = cards[0].index
    links = [host.link(first, card.index) for card in cards[1:]]
    if any(link is not None and link.kind not in (None, LinkKind.NVLINK) for link in links):
        yield "The cards reach each other over PCIe: several cards are slower than with NVLink."


def _cards_text(count: int) -> str:
    return f"{count} card" if count == 1 else f"{count} cards"


def _rule(sentence: str) -> Shortfall:
    return Shortfall(lack=Lack.RULE, amount=1, sentence=sentence)


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".") if part.isdigit())
