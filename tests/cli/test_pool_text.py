"""The pool in words."""

from studio.cli.pool_text import pool_text
from studio.domain.pool import PoolReport, Resident, Room
from tests.cli.monitor_samples import POOL


def test_everything_known_has_its_line() -> None:
    """In the words of people who are no experts."""
    text = pool_text(POOL)

    assert "128 of 380 blocks of 448 tokens" in text
    assert "2 of 8 taken" in text
    assert "the pool holds 1.0 requests of 65,536 tokens at a time" in text
    assert "3 (no room or no seat: 3)" in text
    assert "86 % of prompt tokens in the pool, 2 % behind it" in text
    assert "4 times since the start" in text
    assert "1,058 tokens that no request of the gateway explains" in text
    assert "to the token" in text


def test_estimates_are_marked_and_exact_counts_are_not() -> None:
    """And the mark is explained."""
    lines = pool_text(POOL).splitlines()

    laptop = next(line for line in lines if "laptop" in line)
    other = next(line for line in lines if "日本" in line)
    assert "~20,480" in laptop
    assert "~20,992" in laptop
    assert "1,050" in other
    assert "~" not in other
    assert lines[-1].startswith("~ estimated")


def test_what_is_not_known_is_a_dash_or_not_there() -> None:
    """Never a zero."""
    bare = PoolReport(
        at=1, running=1, room=Room(sentence="x"), residents=(Resident(request_id="\x1bq"),)
    )
    text = pool_text(bare)

    assert "– of –, –" in text
    assert "how many there are is not known" in text
    assert "\x1b" not in text
    assert " 0 " not in text


def test_no_engine_is_no_pool() -> None:
    """In one sentence."""
    assert pool_text(PoolReport(at=1, room=Room(sentence="x"))).startswith("No engine is serving")
