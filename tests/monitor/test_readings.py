"""Which numbers of a tick are kept over time."""

from studio.domain.cards import CardSample
from studio.domain.metrics import Tick
from studio.domain.spill import SpillFlow, SpillKind
from studio.monitor import readings


def test_every_known_number_is_kept_and_nothing_else() -> None:
    """Unknown is a gap and not a zero; zero is a number; a name is none."""
    tick = Tick(at=1000.0, pool_used_tokens=0, decode_tokens_per_s=41.5, running=None)

    assert readings.values(tick) == {"pool_used_tokens": 0.0, "decode_tokens_per_s": 41.5}


def test_cards_are_kept_one_by_one() -> None:
    """By their number; what a card is called is no number, whether it is lost neither."""
    cards = (
        CardSample(index=0, name="RTX 3090", power_w=250.0),
        CardSample(index=1, name="RTX 3090", temperature_c=61, is_lost=True),
    )

    assert readings.values(Tick(at=1.0, cards=cards)) == {
        "card0.power_w": 250.0,
        "card1.temperature_c": 61.0,
    }


def test_spill_of_one_kind_in_several_places_is_added_up() -> None:
    """Two adapters, one line in the chart; what one of them does not say is not zero."""
    spill = (
        SpillFlow(kind=SpillKind.WDDM_SHARED, bytes=100, where="a"),
        SpillFlow(kind=SpillKind.WDDM_SHARED, bytes=50, bytes_per_s=7.0, where="b"),
        SpillFlow(kind=SpillKind.SWAP),
    )

    assert readings.values(Tick(at=1.0, spill=spill)) == {
        "spill.wddm-shared.bytes": 150.0,
        "spill.wddm-shared.bytes_per_s": 7.0,
    }


def test_not_a_number_is_not_known() -> None:
    """It would poison every mean that it goes into."""
    assert readings.values(Tick(at=1.0, ttft_s=float("nan"))) == {}
