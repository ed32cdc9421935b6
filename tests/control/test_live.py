"""The calls about what happens right now."""

import msgspec

from studio.app.live_cards import LiveCards
from studio.control.calls import answered
from studio.control.live import Live
from studio.control.transport import PREFIX
from studio.domain.cards import CardSample, CardsReading
from studio.domain.metrics import Tick
from studio.host.card_reader import CardReader

CARD = CardSample(index=0, name="NVIDIA H200")


async def test_cards_are_answered_from_the_monitor() -> None:
    """As the record that the client reads."""
    cards = LiveCards(CardReader(), lambda: Tick(at=5.0, cards=(CARD,)), clock=lambda: 5.0)

    status, body = await answered(Live(cards).routes(), "GET", f"{PREFIX}/cards", "", b"", {})

    assert status == 200
    assert msgspec.json.decode(body, type=CardsReading) == CardsReading(cards=(CARD,))


async def test_nothing_can_be_posted_there() -> None:
    """Cards are only looked at."""
    cards = LiveCards(CardReader(), lambda: None)

    status, _ = await answered(Live(cards).routes(), "POST", f"{PREFIX}/cards", "", b"{}", {})

    assert status == 405
