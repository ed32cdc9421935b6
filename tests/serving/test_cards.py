"""Memory of cards that comes back late, or that somebody else holds."""

import asyncio
import itertools
from collections.abc import Iterable, Sequence

import pytest

from studio.domain.errors import HostLacks
from studio.domain.hardware import Gpu, GpuProcess
from studio.domain.remedies import RemedyKind
from studio.serving import cards

GIB = 1 << 30


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the long waits out: they are figures, not behaviour."""
    monkeypatch.setattr(cards, "LOOK_S", 0.001)
    monkeypatch.setattr(cards, "WITHIN_S", 0.2)


def card(free_gib: float | None, *holders: GpuProcess, index: int = 0, says: bool = True) -> Gpu:
    """Return a card of 24 GiB."""
    return Gpu(
        index=index,
        name="RTX 4090",
        total_bytes=24 * GIB,
        free_bytes=None if free_gib is None else int(free_gib * GIB),
        processes=holders if says else None,
    )


class Driver:
    """Tells of the cards, differently each time; the last answer stays."""

    def __init__(self, *answers: Sequence[Gpu]) -> None:
        self.looks = 0
        self._answers: Iterable[Sequence[Gpu]] = itertools.chain(
            answers, itertools.repeat(answers[-1])
        )
        self._iterator = iter(self._answers)

    async def look(self) -> Sequence[Gpu]:
        """Return the next answer."""
        self.looks += 1
        await asyncio.sleep(0)
        return next(self._iterator)


async def room(driver: Driver, needs: dict[int, int]) -> list[str | None]:
    """Wait for room; return what was said meanwhile."""
    said: list[str | None] = []
    await cards.wait_for_room(
        needs, driver.look, said.append, what="27b", who=lambda pid: "anna" if pid == 7 else None
    )
    return said


async def test_memory_that_comes_back_late_is_waited_for() -> None:
    """0.5 to 1.5 s after its end a driver gives back what an engine held."""
    driver = Driver([card(2)], [card(9)], [card(21)])

    said = await room(driver, {0: 20 * GIB})

    assert driver.looks == 3
    assert said[-1] is None
    assert "card 0" in (said[0] or "")


async def test_a_start_that_needs_less_waits_for_nobody() -> None:
    """Two small models on one card are no conflict."""
    driver = Driver([card(8, GpuProcess(pid=7, name="blender", bytes=16 * GIB))])

    assert await room(driver, {0: 6 * GIB}) == [None]
    assert driver.looks == 1


async def test_whoever_holds_the_memory_is_named() -> None:
    """With what it holds, whose it is, and the command that ends it."""
    holders = (
        GpuProcess(pid=8, name="Xorg", bytes=1 * GIB, is_graphics=True),
        GpuProcess(pid=7, name="blender", bytes=15 * GIB),
    )

    with pytest.raises(HostLacks) as caught:
        await room(Driver([card(8, *holders)]), {0: 20 * GIB})

    error = caught.value
    assert error.code == "card-memory-held"
    assert "blender of anna (process 7): 15.00 GiB" in error.message
    assert error.message.index("blender") < error.message.index("Xorg")
    assert error.data["pid"] == 7
    commands = [one.command for one in error.remedies]
    assert commands == ["kill 7", "weir plan 27b"]  # nobody is told to kill their desktop
    assert all(one.kind is not RemedyKind.RESTART for one in error.remedies)


@pytest.mark.parametrize(("says", "words"), [(False, "does not say"), (True, "another container")])
async def test_what_nobody_names_is_said_so(says: bool, words: str) -> None:
    """WSL names no process, and a container sees none of the others'."""
    with pytest.raises(HostLacks, match=words):
        await room(Driver([card(1, says=says)]), {0: 20 * GIB})


async def test_a_stranger_of_another_container_has_no_command() -> None:
    """A kill of its number would end somebody else here."""
    with pytest.raises(HostLacks) as caught:
        await room(Driver([card(1, GpuProcess(pid=9, bytes=GIB))]), {0: 20 * GIB})

    assert "cannot be seen from here" in caught.value.message
    assert [one.command for one in caught.value.remedies] == ["weir plan 27b"]


async def test_what_is_not_known_is_no_reason() -> None:
    """A driver that does not tell, a card that is not used, a plan without figures."""
    await room(Driver([card(None)]), {0: 20 * GIB})
    await room(Driver([card(1, index=1), card(23)]), {0: 20 * GIB})
    await room(Driver([]), {0: 20 * GIB})
    unasked = Driver([card(1)])
    await room(unasked, {})
    assert unasked.looks == 0


async def test_after_an_end_memory_is_waited_for_as_long_as_it_comes() -> None:
    """`weir stop` returns when another program can have it."""
    said: list[str | None] = []
    driver = Driver([card(2)], [card(9)], [card(23)], [card(23)])

    await cards.wait_until_back((0,), driver.look, said.append)

    assert driver.looks == 4
    assert said[-1] is None


async def test_without_cards_the_driver_is_not_asked() -> None:
    """It may hang, and an engine on the processor has nothing to do with it."""
    driver = Driver([card(1)])

    await cards.wait_until_back((), driver.look, lambda _note: None)

    assert driver.looks == 0


async def test_memory_that_never_stops_coming_ends_the_wait_too() -> None:
    """Somebody else's program frees and takes all the time."""
    driver = Driver(*([card(1 + step / 10)] for step in range(200)), [card(23)])

    async with asyncio.timeout(30):
        await cards.wait_until_back((0,), driver.look, lambda _note: None)
