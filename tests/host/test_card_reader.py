"""Cards without a wait: what the loop gets while their driver takes its time."""

import asyncio
import threading

import pytest

from studio.domain.cards import CardSample
from studio.host.card_nvml import Session, Tell
from studio.host.card_reader import CardReader
from studio.host.card_smi import Program
from tests.fakes.waiting import until, until_async


class Slow(Session):
    """Tells one card, and the second when it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.go_on = threading.Event()
        self.answers = 0
        self.is_open = True

    def read(self, tell: Tell) -> None:
        """Tell, wait, tell."""
        tell(CardSample(index=0, name="first", temperature_c=40))
        self.go_on.wait()
        tell(CardSample(index=1, name="second", temperature_c=50))
        self.answers += 1


async def test_cards_that_answered_before_the_hang_keep_their_figures() -> None:
    """One broken card of eight must not hide the other seven."""
    session = Slow()
    session.go_on.set()
    reader = CardReader(session, Program(lambda: None))
    await reader.read(20)
    session.go_on.clear()

    partly = await reader.read(0.05)
    session.go_on.set()
    await until_async(lambda: session.answers == 2, "an answer of the driver")
    after = await reader.read(20)
    reader.close()

    assert partly.cards is not None
    assert after.cards is not None
    assert [one.temperature_c for one in partly.cards] == [40, None]
    assert partly.cards[1].faults
    assert [one.temperature_c for one in after.cards] == [40, 50]


class Broken(Session):
    """Fails as only a mistake of ours can."""

    def read(self, _tell: Tell) -> None:
        """Fail."""
        raise ZeroDivisionError


async def test_a_mistake_in_the_thread_holds_nobody_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its cards are not known, the next second asks again, and the mistake is not swallowed."""
    seen: list[type[BaseException]] = []
    monkeypatch.setattr(threading, "excepthook", lambda told: seen.append(told.exc_type))
    reader = CardReader(Broken(), Program(lambda: None))

    async with asyncio.timeout(30):
        first, second = await reader.read(20), await reader.read(20)

    assert (first.cards, second.cards) == (None, None)
    until(lambda: seen == [ZeroDivisionError] * 2, "both mistakes")


async def test_nvidia_smi_stands_in_where_the_library_is_missing() -> None:
    """Some containers have the program and not the library."""
    card = CardSample(index=0, name="NVIDIA H200", temperature_c=36)
    asked: list[int] = []

    class Missing(Session):
        def read(self, _tell: Tell) -> None:
            self.fault, self.note = "no-driver", "No NVIDIA driver was found on this machine."

    def ask() -> tuple[CardSample, ...]:
        asked.append(1)
        return (card,)

    program = Program(ask)
    reader = CardReader(Missing(), program)
    first = await reader.read(20)
    await until_async(lambda: not program.is_under_way and asked == [1], "its answer")
    reading = await reader.read(20)
    await reader.read(20)
    reader.close()

    assert first.cards is None
    assert reading.cards == (card,)
    assert reading.source == "nvidia-smi"
    assert reading.note is not None
    assert asked == [1]
