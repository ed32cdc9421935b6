"""Outcomes: what is missing, and how sure that is."""

from studio.planner.outcome import Lack
from tests.planner.plan_samples import outcome, short


def test_what_is_not_certain_is_not_in_the_way() -> None:
    """A forecast inside its own error bar must not keep anybody from trying."""
    found = outcome({}, short(Lack.CARD, 5, is_certain=False))

    assert found.fits
    assert found.missing(Lack.CARD) == 0


def test_shortfalls_of_one_kind_add_up() -> None:
    """Two cards may each lack something."""
    found = outcome({}, short(Lack.CARD, 5), short(Lack.CARD, 7), short(Lack.POOL, 1))

    assert found.missing(Lack.CARD) == 12
    assert not found.fits


def test_resident_requests_are_what_the_engine_prints() -> None:
    """`Maximum concurrency for 65,536 tokens per request: 1.05x`."""
    found = outcome({}, pool_tokens=68_605, max_model_len=65_536)

    assert round(found.resident_requests or 0, 2) == 1.05
    assert outcome({}).resident_requests is None
