"""The ledger of the cards: what lies on each, what is left over, what is too much. Pure."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from studio.domain.hardware import Gpu, HostSnapshot
from studio.domain.plans import LedgerItem
from studio.domain.units import bytes_text, percent_text
from studio.planner import cards as card_rules
from studio.planner.memory import DEFAULT_SHARE
from studio.planner.outcome import Lack, Shortfall


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """The host as far as cards are concerned."""

    host: HostSnapshot
    lines: Mapping[str, int] = dataclasses.field(default_factory=dict)
    """Card (UUID) to the line of dedicated memory that was measured."""
    own_pids: frozenset[int] = frozenset()
    """Processes of our own engine, which ends before a new one starts."""
    allow_spill: bool = False
    is_replay: bool = False
    """Whether `host` is a machine from a file and not this one."""


def line_of(card: Gpu, ground: Ground) -> int | None:
    """Return the bytes of `card` that may be used before any spill; None: no such line here.

    Windows keeps the card's memory and moves what is too much into the machine's, without a word in
    any log. Measured here (Windows' own counters) or else what the driver calls free on a card that
    nothing else uses: 22.75 of 24.0 GiB were reported on a clean 4090 (HyperQwen, WSL2).
    """
    if not (ground.host.is_wsl or card.is_wddm):
        return None
    known = ground.lines.get(card.uuid) if card.uuid else None
    return known if known is not None else card_rules.free_bytes(card, ground.own_pids)


def alike(ground: Ground, cards: tuple[Gpu, ...]) -> list[list[Gpu]]:
    """Return the cards, those together of which the same is to be said."""
    groups: dict[tuple[object, ...], list[Gpu]] = {}
    for card in cards:
        held = card_rules.holders(card, ground.own_pids)
        key = (card.name, card.usable_bytes, card.total_bytes, room_of(ground, card), held)
        groups.setdefault(key, []).append(card)
    return list(groups.values())


def of_all(one: Shortfall, cards: Sequence[Gpu]) -> Shortfall:
    """Return what holds for the first of `cards` as what holds for all of them."""
    if len(cards) == 1:
        return one
    *most, last = [str(card.index) for card in cards[1:]]
    others = f"cards {', '.join(most)} and {last}" if most else f"card {last}"
    return dataclasses.replace(one, sentence=f"{one.sentence} The same holds for {others}.")


def on_cards(
    ground: Ground, cards: tuple[Gpu, ...], items: tuple[LedgerItem, ...], used: int | None
) -> tuple[list[LedgerItem], int | None]:
    """Return the ledger of the cards (one for all where they are alike) and the least left over."""
    if not cards:
        return list(items), None
    rooms = [room_of(ground, card) for card in cards]
    lefts = [None if used is None or room is None else room - used for room in rooms]
    known = [left for left in lefts if left is not None]
    is_alike = len({(card.name, card.total_bytes) for card in cards}) == 1
    ledger: list[LedgerItem] = []
    rows = sorted(zip(cards, rooms, lefts, strict=True), key=lambda row: row[1] or 0)
    for card, room, left in rows[:1] if is_alike else sorted(rows, key=lambda row: row[0].index):
        gpu = None if is_alike else card.index
        ledger += [_on_gpu(item, gpu) for item in items]
        ledger += _rest(card, room, left, gpu)
    return ledger, min(known) if known and len(known) == len(lefts) else None


def _on_gpu(item: LedgerItem, gpu: int | None) -> LedgerItem:
    if gpu is None:
        return item
    return msgspec.structs.replace(item, gpu=gpu)


def _rest(card: Gpu, room: int | None, left: int | None, gpu: int | None) -> Iterator[LedgerItem]:
    total = card.total_bytes
    if total is not None and room is not None and total > room:
        yield LedgerItem(
            name="not-ours",
            title="Driver, other programs",
            gpu=gpu,
            bytes=total - room,
            source="what the driver reports of the card",
        )
    if left is not None and left > 0:
        yield LedgerItem(
            name="free", title="Left over", gpu=gpu, bytes=left, source="the rest of the card"
        )


def room_of(ground: Ground, card: Gpu) -> int | None:
    """Return what an engine may use of a card in all."""
    line = line_of(card, ground)
    if line is not None:
        return line
    free = card_rules.free_bytes(card, ground.own_pids)
    return free if free is not None else card.usable_bytes


def shortfalls(
    ground: Ground,
    card: Gpu,
    settings: Mapping[str, object],
    used: int | None,
    error: int | None,
) -> Iterator[Shortfall]:
    """Yield why `used` bytes do not go onto `card`; `error` is the forecast's half-width."""
    yield from _gate(ground, card, settings)
    room = room_of(ground, card)
    if used is None or room is None or used <= room:
        return
    over = used - room
    name = f"card {card.index} ({card.name})"
    if line_of(card, ground) is not None:
        sentence = (
            f"It takes {bytes_text(used)} of {name}; above {bytes_text(room)} Windows moves bytes "
            "into the machine's memory, which makes steps 2 to 6 times slower and prompts 5 to 10 "
            "times, without a word in any log."
        )
        yield from _above_all(card, used, error, ground)
        is_certain = over > (error or 0) and not ground.allow_spill
        yield Shortfall(lack=Lack.LINE, amount=over, sentence=sentence, is_certain=is_certain)
        return
    sentence = f"It takes {bytes_text(used)} of {name}, which has {bytes_text(room)} to give"
    others = card_rules.holders(card, ground.own_pids)
    sentence += f": {others} hold the rest." if others else "."
    yield Shortfall(lack=Lack.CARD, amount=over, sentence=sentence, is_certain=over > (error or 0))


def _above_all(card: Gpu, used: int, error: int | None, ground: Ground) -> Iterator[Shortfall]:
    """Yield that a spill is no help: an engine cannot have more than the whole card.

    Only asked where spilling is allowed; elsewhere the line comes first.
    """
    total = card.total_bytes
    if not ground.allow_spill or total is None or used - total <= (error or 0):
        return
    yield Shortfall(
        lack=Lack.CARD,
        amount=used - total,
        sentence=f"It takes {bytes_text(used)} of card {card.index} ({card.name}), which has "
        f"{bytes_text(total)} in all: more than that cannot be had, spilled or not.",
    )


def _gate(ground: Ground, card: Gpu, settings: Mapping[str, object]) -> Iterator[Shortfall]:
    """Yield that the engine refuses to start because too little of the card is free.

    It asks for its share of the whole card before it looks at pinned bytes.
    Source: vLLM 0.26 to 0.32, `request_memory` in v1/worker/utils.py.
    """
    share = settings.get("gpu_memory_utilization", DEFAULT_SHARE)
    free, total = card_rules.free_bytes(card, ground.own_pids), card.usable_bytes
    if isinstance(share, bool) or not isinstance(share, int | float):
        return
    if free is None or total is None or free >= share * total:
        return
    others = card_rules.holders(card, ground.own_pids)
    held = f" {others} hold memory of it." if others else ""
    yield Shortfall(
        lack=Lack.FREE,
        amount=share * total - free,
        sentence=f"{bytes_text(free)} of card {card.index} ({card.name}) are free; its share of "
        f"{percent_text(float(share))} is {bytes_text(share * total)}, and the engine asks for "
        f"that before it starts.{held}",
    )
