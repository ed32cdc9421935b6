"""What is kept of readings: exact, bounded, and whole after a kill."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from studio.domain.history import HistoryEvent, HistoryEventKind
from studio.monitor import history_read, history_schema, history_write, tiers
from studio.monitor.history_write import Writer
from studio.monitor.tiers import TIERS, Stretch, Tier
from tests.monitor.history_samples import BEGIN, fill, load, new_file, one, reading

HOUR = BEGIN - BEGIN % 3_600


@pytest.fixture
def file(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """Return an empty file."""
    connection = new_file(tmp_path / "history.db")
    yield connection
    connection.close()


def stored(file: sqlite3.Connection, index: int, name: str) -> dict[int, Stretch]:
    """Return all that a tier holds of a series, without what it has not closed yet."""
    number = history_read.known_series(file)[name]
    tier = TIERS[index]
    found: dict[int, Stretch] = {}
    for begins, data in file.execute(
        "SELECT begins, data FROM blocks WHERE tier = ? AND series = ?", (index, number)
    ):
        for slot, value in tiers.unpack_block(data, tier.slots).stretches(0, tier.slots):
            found[begins + slot * tier.step_s] = value
    for at, data in file.execute("SELECT at, data FROM tail WHERE tier = ?", (index,)):
        value = tiers.unpack_row(data).get(number)
        if value is not None:
            found[at] = value
    return found


def test_a_minute_is_the_smallest_mean_and_largest_of_its_seconds(
    file: sqlite3.Connection,
) -> None:
    """Through the tier between, and with some seconds missing."""
    values = {HOUR + second: float(second % 17) for second in range(130) if second % 7}
    fill(file, (reading(at, ttft_s=value) for at, value in values.items()))

    expected = [value for at, value in values.items() if at < HOUR + 60]
    minute = stored(file, 2, "ttft_s")[HOUR]
    assert minute.low == min(expected)
    assert minute.high == max(expected)
    assert minute.readings == len(expected)
    assert minute.mean == pytest.approx(sum(expected) / len(expected), rel=1e-6)


def test_an_hour_is_made_of_all_its_seconds(file: sqlite3.Connection) -> None:
    """Four tiers up, with blocks closed in between."""
    fill(file, (reading(HOUR + s, running=float(s)) for s in range(3_601)))

    hour = stored(file, 4, "running")[HOUR]
    assert (hour.low, hour.high, hour.readings) == (0, 3_599, 3_600)
    assert hour.mean == pytest.approx(1_799.5, rel=1e-6)


def test_a_writer_that_was_killed_is_gone_on_from(file: sqlite3.Connection) -> None:
    """The minute that was open when the process died holds the seconds of both."""
    fill(file, (reading(HOUR + s, running=1.0) for s in range(25)))
    fill(file, (reading(HOUR + s, running=5.0) for s in range(25, 61)))

    assert stored(file, 2, "running")[HOUR].readings == 60
    assert stored(file, 1, "running")[HOUR + 20] == Stretch(1, pytest.approx(3), 5, 10)


def test_a_batch_is_written_whole_or_not_at_all(file: sqlite3.Connection) -> None:
    """What fails in the middle leaves nothing behind."""
    fill(file, (reading(HOUR + s, running=1.0) for s in range(5)))
    writer = Writer(file)

    with pytest.raises(ZeroDivisionError), history_schema.transaction(file):
        writer.add(reading(HOUR + 5 + s, running=1.0 / (3 - s)) for s in range(5))

    assert max(stored(file, 0, "running")) == HOUR + 4


def test_a_clock_that_is_set_back_writes_the_past_anew(file: sqlite3.Connection) -> None:
    """The newest reading of a moment counts, in the seconds and in what is made of them."""
    fill(file, (reading(HOUR + s, running=1.0) for s in range(1_300)))
    fill(file, (reading(HOUR + 60 + s, running=9.0) for s in range(200)))

    seconds = stored(file, 0, "running")
    assert len(seconds) == 1_300
    assert {value.mean for at, value in seconds.items() if HOUR + 60 <= at < HOUR + 260} == {9.0}
    assert stored(file, 2, "running")[HOUR + 60] == Stretch(9, 9, 9, 60)
    assert stored(file, 2, "running")[HOUR] == Stretch(1, 1, 1, 60)


def test_a_clock_far_ahead_for_a_while_does_not_empty_the_history(
    file: sqlite3.Connection,
) -> None:
    """What is old goes by how much came after it, not by what the clock says."""
    fill(file, (reading(HOUR + s, running=1.0) for s in range(1_300)))
    ahead = HOUR + 70 * 365 * 86_400
    fill(file, (reading(ahead + s, running=2.0) for s in range(0, 9_000, 3)))
    fill(file, (reading(HOUR + 1_500 + s, running=3.0) for s in range(3_900)))

    assert HOUR in stored(file, 2, "running")
    kept = [at for at in stored(file, 0, "running") if at < ahead]
    assert min(kept) <= HOUR + 1_800
    assert max(kept) == HOUR + 5_399
    assert not set(range(min(kept), HOUR + 5_400)) - set(kept)


def test_seconds_go_after_an_hour_and_ten_seconds_after_a_day(file: sqlite3.Connection) -> None:
    """Each tier keeps its newest blocks and the one that is open."""
    fill(file, (reading(HOUR + s, running=1.0) for s in range(0, 26 * 3_600, 5)))

    for index, tier in enumerate(TIERS[:2]):
        kept_s = max(stored(file, index, "running")) - min(stored(file, index, "running"))
        assert tier.kept_s <= kept_s + tier.block_s
        assert kept_s <= tier.kept_s + tier.block_s
    assert min(stored(file, 2, "running")) == HOUR


def test_no_more_series_are_kept_than_can_be_bounded(file: sqlite3.Connection) -> None:
    """A hundred cards, or names that an enemy makes up: the first ones stay."""
    fill(file, (reading(HOUR + s, **{f"s{s}_{n}": 1.0 for n in range(50)}) for s in range(10)))

    assert len(history_read.known_series(file)) == tiers.MOST_SERIES


def test_a_file_that_grows_too_large_loses_its_oldest_minutes(file: sqlite3.Connection) -> None:
    """The bound holds whatever was measured."""
    chance = load(HOUR, 5 * 86_400, step_s=120)
    fill(file, chance)
    whole = history_write.size_of(file)

    history_write.tidy(file, whole * 3 // 4)

    assert history_write.size_of(file) <= whole * 3 // 4
    minutes = stored(file, 2, "memory_used_bytes")
    assert minutes
    assert min(minutes) > HOUR


def test_events_are_bounded(file: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that dies every minute must not fill the disk."""
    monkeypatch.setattr(history_write, "MOST_EVENTS", 10)
    writer = Writer(file)
    death = HistoryEventKind.DEATH
    for n in range(25):
        writer.note([HistoryEvent(at=float(n), kind=death, name=str(n))])

    assert [one.name for one in history_read.events(file, 0, 99)] == [str(n) for n in range(15, 25)]


def test_what_one_series_can_take_is_known() -> None:
    """The sum over the tiers is what the documentation states: under 10 MB for pure noise."""
    bound = sum(
        (tier.blocks + 1) * len(tiers.pack_block(_noise(tier), tier.slots)) for tier in TIERS
    )

    assert bound < 10_000_000


def _noise(tier: Tier) -> dict[int, Stretch]:
    import random

    chance = random.Random(1)
    return {
        slot: Stretch(*sorted(chance.random() for _ in range(3)), chance.randrange(1, 65_535))
        for slot in range(tier.slots)
    }


def test_an_unknown_series_is_numbered_once(file: sqlite3.Connection) -> None:
    """Also over writers."""
    fill(file, iter([reading(HOUR, running=1.0)]))
    fill(file, iter([reading(HOUR + 1, running=1.0, waiting=2.0)]))

    assert history_read.known_series(file) == {"running": 1, "waiting": 2}
    assert one(2.0) == stored(file, 0, "waiting")[HOUR + 1]
