"""What the cards do, with a monitor and without."""

import asyncio
import threading

import pytest

from studio.app import live_cards
from studio.app.live_cards import LiveCards
from studio.domain.cards import CardSample, CardsReading
from studio.domain.metrics import Tick
from studio.host.card_nvml import Session, Tell
from studio.host.card_reader import CardReader
from studio.host.card_smi import Program
from tests.fakes.waiting import until_async

CARD = CardSample(index=0, name="NVIDIA H200", temperature_c=47)


class Asked(Session):
    """Tells of a card whose link is known from the second look on."""

    def __init__(self) -> None:
        super().__init__()
        self.times = 0
        self.is_open = True

    def read(self, tell: Tell) -> None:
        """Tell."""
        self.times += 1
        known = self.times > 1
        tell(CardSample(index=0, name="x", pcie_rx_bytes_per_s=1.0 if known else None))


def live(session: Session, tick: Tick | None, program: Program | None = None) -> LiveCards:
    """Return cards of a machine whose monitor saw this last, at second 100."""
    reader = CardReader(session, program or Program(lambda: None))
    return LiveCards(reader, lambda: tick, clock=lambda: 100.0)


async def test_while_the_monitor_runs_its_figures_are_told() -> None:
    """Two readers would cost twice, and show two things."""
    session = Asked()

    reading = await live(session, Tick(at=99.0, cards=(CARD,), cards_note="Late.")).now()

    assert reading == CardsReading(cards=(CARD,), note="Late.")
    assert session.times == 0


async def test_without_a_monitor_the_cards_are_asked_until_links_are_known() -> None:
    """And the next look need not wait any more."""
    session = Asked()
    cards = live(session, None)

    first = await cards.now()
    second = await cards.now()

    for reading in (first, second):
        assert reading.cards is not None
        assert reading.cards[0].pcie_rx_bytes_per_s == 1.0
    assert session.times == 3


async def test_a_tick_of_long_ago_is_not_told_as_now() -> None:
    """The machine slept, or the service stands still."""
    session = Asked()

    await live(session, Tick(at=10.0, cards=(CARD,))).now()

    assert session.times > 0


async def test_a_first_answer_of_nvidia_smi_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes a second, and "not known" would be the only answer of a single look."""
    monkeypatch.setattr(live_cards, "EVERY_S", 60.0)  # a busy machine takes its time
    let_go = threading.Event()

    class Missing(Session):
        times = 0

        def read(self, _tell: Tell) -> None:
            self.fault = "no-driver"
            self.times += 1

    def ask() -> tuple[CardSample, ...]:
        let_go.wait(20)
        return (CARD,)

    session = Missing()
    async with asyncio.TaskGroup() as tasks:
        asked = tasks.create_task(live(session, None, Program(ask)).now())
        await until_async(lambda: session.times > 2, "the second look")
        let_go.set()

    assert asked.result().cards == (CARD,)
    assert asked.result().source == "nvidia-smi"


async def test_an_answer_of_nvidia_smi_between_two_looks_is_read() -> None:
    """It ends while one asks whether it is at work, which is after the look that it missed."""
    let_go = threading.Event()

    class Missing(Session):
        def read(self, _tell: Tell) -> None:
            self.fault = "no-driver"

    def ask() -> tuple[CardSample, ...]:
        let_go.wait(20)
        return (CARD,)

    class EndsWhenAsked(Program):
        @property
        def is_under_way(self) -> bool:
            if self._under_way is not None:
                let_go.set()
                self._under_way.join()
            return super().is_under_way

    async with asyncio.timeout(30):
        reading = await live(Missing(), None, EndsWhenAsked(ask)).now()

    assert reading.cards == (CARD,)


async def test_a_machine_without_a_driver_is_answered_at_once() -> None:
    """Nobody is waited for."""

    class Missing(Session):
        def read(self, _tell: Tell) -> None:
            self.fault, self.note = "not-loaded", "The driver is not loaded."

    async with asyncio.timeout(30):
        reading = await live(Missing(), None).now()

    assert (reading.cards, reading.note) == (None, "The driver is not loaded.")
