"""Versions and what a feed offers."""

import pytest

from studio.domain.self_update import (
    DAY_S,
    Feed,
    FeedPackage,
    is_look_due,
    is_newer,
    version_key,
)


@pytest.mark.parametrize(
    ("one", "other", "answer"),
    [
        ("1.10.0", "1.9.9", True), ("1.0.0", "1.0.0", False), ("0.9.0", "1.0.0", False),
        ("2.0", "1.0.0", False), ("1.0.0", "devel", False), ("1.0.0-rc1", "0.1.0", False),
    ],
)  # fmt: skip
def test_versions_are_compared_by_their_numbers(one: str, other: str, *, answer: bool) -> None:
    """As text, 1.10 would come before 1.9; what is no version is never newer."""
    assert is_newer(one, other) is answer


def test_a_strange_number_is_no_version() -> None:
    """Also one that Python would read."""
    assert version_key("1.2.3") == (1, 2, 3)
    assert version_key("1.2.3\n") is None
    assert version_key("٢.0.0x") is None


def test_a_feed_gives_out_the_package_of_a_kind() -> None:
    """None where the release has none."""
    package = FeedPackage(file="a.run", kind="run", bytes=1, sha256="0" * 64)
    feed = Feed(
        schema_version=1, version="1.0.0", sequence=1, issued_at=0, expires_at=1,
        minimum_version="1.0.0", changes=(), packages=(package,),
    )  # fmt: skip
    assert feed.package("run") == package
    assert feed.package("deb") is None


def test_the_daily_look_comes_once_a_day_and_in_vain_once_an_hour() -> None:
    """Also when the clock was set back."""
    assert is_look_due(DAY_S, None, 0.0)
    assert not is_look_due(DAY_S, None, DAY_S - 60)
    looked_at = 40 * DAY_S
    assert not is_look_due(looked_at + 60, looked_at, 0.0)
    assert is_look_due(looked_at + DAY_S, looked_at, 0.0)
    assert is_look_due(looked_at - DAY_S, looked_at, 0.0)
