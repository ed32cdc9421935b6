"""What this machine did before, as a figure to be held against."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from studio.monitor import own_speeds
from studio.monitor.own_speeds import Served, Sums
from tests.monitor.history_samples import BEGIN, new_file

DAY = 86_400.0
WHAT = Served("27b-mtp", "RTX 3090 at 350 W", "runtime1")


@pytest.fixture
def file(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """Return an empty file."""
    connection = new_file(tmp_path / "history.db")
    yield connection
    connection.close()


def test_earlier_days_are_the_figure(file: sqlite3.Connection) -> None:
    """Not today, which is what is being judged."""
    for day, decode in ((1, 50.0), (2, 54.0), (3, 20.0)):
        sums = Sums().plus(300, decode, 3.0).plus(300, decode, 3.0)
        own_speeds.add(file, WHAT, sums, BEGIN + day * DAY)

    found = own_speeds.figure(own_speeds.before(file, WHAT, BEGIN + 3 * DAY), WHAT)

    assert found is not None
    assert found.decode_tokens_per_s == pytest.approx(52)
    assert found.tokens_per_step == pytest.approx(3)
    assert found.step_s == pytest.approx(3 / 52)
    assert not found.is_published
    assert found.source == "20 min on this machine"


def test_on_the_first_day_today_has_to_do(file: sqlite3.Connection) -> None:
    """Once there are two minutes of it."""
    own_speeds.add(file, WHAT, Sums().plus(60, 50, None), BEGIN)
    assert own_speeds.figure(own_speeds.before(file, WHAT, BEGIN), WHAT) is None

    own_speeds.add(file, WHAT, Sums().plus(60, 50, None), BEGIN)
    found = own_speeds.figure(own_speeds.before(file, WHAT, BEGIN), WHAT)
    assert found is not None
    assert found.tokens_per_step is None


def test_another_card_or_preset_is_another_figure(file: sqlite3.Connection) -> None:
    """A lowered power limit too; another runtime is not."""
    own_speeds.add(file, WHAT, Sums().plus(600, 50, None), BEGIN)

    for other in (WHAT._replace(cards="RTX 3090 at 250 W"), WHAT._replace(preset="27b-long")):
        assert own_speeds.before(file, other, BEGIN + DAY) == Sums()
    assert own_speeds.before(file, WHAT._replace(runtime_id="2"), BEGIN + DAY).seconds == 600


def test_days_are_bounded(file: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    """The newest ones stay."""
    monkeypatch.setattr(own_speeds, "KEPT_DAYS", 3)
    for day in range(10):
        own_speeds.add(file, WHAT, Sums().plus(1, 50, None), BEGIN + day * DAY)

    assert file.execute("SELECT count(*) FROM speeds").fetchone() == (3,)
