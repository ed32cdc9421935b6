"""The memory of the cards between two engines: waited for, and asked who holds it.

A driver gives back what an ended process held 0.5 to 1.5 s after its end (seen with vLLM 0.26 on an
H200); an engine that starts earlier finds too little and dies of it.
"""

import asyncio
import dataclasses
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence

from studio.domain.errors import HostLacks
from studio.domain.hardware import Gpu, GpuProcess
from studio.domain.remedies import Remedy, RemedyKind
from studio.domain.units import bytes_text

LOOK_S = 0.25
WITHIN_S = 10.0
"""How long memory may take to come back, and a stranger to let go of it."""
_STEADY_BYTES = 32 << 20
"""Less than this between two looks is no release."""

Look = Callable[[], Awaitable[Sequence[Gpu]]]
Say = Callable[[str | None], None]
Who = Callable[[int], str | None]
"""Process id to the name of its user."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Lack:
    """One card with less free memory than the start needs."""

    card: Gpu
    needed_bytes: int
    free_bytes: int


async def wait_until_back(cards: Sequence[int], look: Look, say: Say) -> None:
    """Wait until the cards give nothing back any more, at most `WITHIN_S`."""
    if not cards:
        return
    before = _free(await look(), cards)
    deadline = time.monotonic() + WITHIN_S
    while before and time.monotonic() < deadline:
        await asyncio.sleep(LOOK_S)
        now = _free(await look(), cards)
        if not _is_rising(before, now):
            break
        say("Waiting until the cards have given the engine's memory back.")
        before = now
    say(None)


async def wait_for_room(
    needs: Mapping[int, int], look: Look, say: Say, *, what: str, who: Who
) -> None:
    """Wait until each card has the memory that the start needs; `needs` is empty where unknown.

    Raises: HostLacks (`card-memory-held`), with who holds it and what can be done.
    """
    if not needs:
        return
    deadline = time.monotonic() + WITHIN_S
    seen = await look()
    while lacks := _lacks(seen, needs):
        if time.monotonic() >= deadline:
            raise _refusal(lacks[0], what, who)
        say(_waiting(lacks[0]))
        await asyncio.sleep(LOOK_S)
        seen = await look()
    say(None)


def _free(seen: Sequence[Gpu], cards: Sequence[int]) -> dict[int, int]:
    return {
        card.index: card.free_bytes
        for card in seen
        if card.index in cards and card.free_bytes is not None
    }


def _is_rising(before: Mapping[int, int], now: Mapping[int, int]) -> bool:
    return any(free - before.get(index, free) > _STEADY_BYTES for index, free in now.items())


def _lacks(seen: Sequence[Gpu], needs: Mapping[int, int]) -> list[Lack]:
    """Return the cards that are known to have too little; what is not known is no reason."""
    return [
        Lack(card=card, needed_bytes=needs[card.index], free_bytes=card.free_bytes)
        for card in seen
        if card.free_bytes is not None and card.free_bytes < needs.get(card.index, 0)
    ]


def _waiting(lack: Lack) -> str:
    missing = lack.needed_bytes - lack.free_bytes
    return (
        f"Waiting for card {lack.card.index}: {bytes_text(missing)} more have to be free "
        f"({bytes_text(lack.free_bytes)} of {bytes_text(lack.needed_bytes)} are)."
    )


def _refusal(lack: Lack, what: str, who: Who) -> HostLacks:
    card = lack.card
    holders = sorted(card.processes or (), key=lambda one: -(one.bytes or 0))
    named = [_holder(one, who) for one in holders[:3]]
    held = f" Held by {'; '.join(named)}." if named else _nobody_named(card)
    remedies = tuple(
        _end(one, card) for one in holders[:3] if one.name is not None and not one.is_graphics
    )
    less = Remedy(
        kind=RemedyKind.CHOOSE,
        text="Serve something that needs less of the card, or another card.",
        command=f"weir plan {what}",
    )
    return HostLacks(
        "card-memory-held",
        f"Card {card.index} ({card.name}) has {bytes_text(lack.free_bytes)} free, and `{what}` "
        f"needs {bytes_text(lack.needed_bytes)}.{held}",
        hint="End what holds the memory, then start again; `weir plan` says what fits beside it.",
        data={
            "card": card.index,
            "needed_bytes": lack.needed_bytes,
            "free_bytes": lack.free_bytes,
            "pid": holders[0].pid if holders else None,
        },
        remedies=(*remedies, less),
    )


def _holder(one: GpuProcess, who: Who) -> str:
    user = who(one.pid)
    by = f" of {user}" if user else ""
    held = "an unknown amount" if one.bytes is None else bytes_text(one.bytes)
    return (
        f"{one.name or 'a program that cannot be seen from here'}{by} (process {one.pid}): {held}"
    )


def _nobody_named(card: Gpu) -> str:
    if card.processes is None:
        return " The driver does not say who holds the rest (Windows does, in its Task Manager)."
    return " No process of this machine is named for it; it may run in another container."


def _end(one: GpuProcess, card: Gpu) -> Remedy:
    held = f": it holds {bytes_text(one.bytes)}" if one.bytes is not None else ""
    return Remedy(
        kind=RemedyKind.COMMAND,
        text=f"End {one.name} (process {one.pid}) if it is not needed{held} of card {card.index}.",
        command=f"kill {one.pid}",
    )
