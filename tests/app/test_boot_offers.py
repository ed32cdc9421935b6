"""What is offered after a boot."""

from studio.app.boot_offers import pin_offer, pinned_bytes
from studio.domain.remedies import RemedyKind
from studio.domain.units import GIB
from tests.app.boot_samples import about, boot


def test_a_warm_unpinned_pool_on_a_card_may_be_pinned() -> None:
    """With the figure, the command and what is lost."""
    offer = pin_offer(about(), boot(kv_bytes=31 * GIB, pool_tokens=493_062))

    assert offer is not None
    assert offer.kind is RemedyKind.COMMAND
    assert offer.command == "weir presets pin p"
    assert "31.00 GiB a card, 493,062 tokens" in offer.text
    assert "no longer grows" in offer.text


def test_nothing_is_offered_where_it_would_be_wrong_or_useless() -> None:
    """A cold pool is too small to keep; a pinned one is pinned; a processor has no card."""
    good = boot(kv_bytes=GIB)

    assert pin_offer(about(can_pin=False), good) is None
    assert pin_offer(about(), boot(kv_bytes=GIB, is_cold=True)) is None
    assert pin_offer(about(), boot(kv_bytes=GIB, is_cold=None)) is None
    assert pin_offer(about(), boot(kv_bytes=None)) is None


def test_where_the_log_rounds_the_lower_end_is_pinned() -> None:
    """5 MiB too many would be refused on a full card."""
    assert pinned_bytes(boot(kv_bytes=1000, kv_error_bytes=10)) == 990
    assert pinned_bytes(boot(kv_bytes=1000)) == 1000
    assert pinned_bytes(boot(kv_bytes=None)) is None
