"""The unfinished file: its ranges, its journal, its lock; against a plain set of bytes."""

import os
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.host.transfer import journal as journals
from studio.host.transfer.journal import SLOT_BYTES, Entry, Journal
from studio.host.transfer.part import RECORD_EVERY_BYTES, PartFile
from studio.host.transfer.progress import Tracker
from studio.host.transfer.spans import Spans, valid

SIZE = 60
RANGES = st.lists(st.tuples(st.integers(0, SIZE), st.integers(0, SIZE)).map(sorted), max_size=12)


@given(RANGES)
def test_ranges_are_what_a_set_of_bytes_would_be(ranges: list[list[int]]) -> None:
    """In any order, overlapping, touching, empty."""
    spans, plain = Spans(), set[int]()
    for start, end in ranges:
        spans.add(start, end)
        plain |= set(range(start, end))

    found = [at for start, end in spans.all() for at in range(start, end)]
    missing = [at for start, end in spans.holes(SIZE) for at in range(start, end)]

    assert found == sorted(plain)
    assert missing == [at for at in range(SIZE) if at not in plain]
    assert spans.count == len(plain)
    assert spans.end == (max(plain) + 1 if plain else 0)
    assert spans.front == next((at for at in range(SIZE + 1) if at not in plain), SIZE)
    assert valid(spans.all(), SIZE)
    assert all(b[0] > a[1] for a, b in zip(spans.all(), spans.all()[1:], strict=False))


@pytest.mark.parametrize("spans", [[(5, 5)], [(5, 3)], [(-1, 3)], [(0, 9), (8, 10)], [(0, 99)]])
def test_ranges_that_cannot_be_are_not_believed(spans: list[tuple[int, int]]) -> None:
    """They come from a disk."""
    assert not valid(spans, SIZE)


# -- the journal ---------------------------------------------------------------------------------


def entry(number: int) -> Entry:
    """Return a record."""
    return Entry(bytes=1000, spans=((0, number),), synced=((0, 1),), validator=f'"{number}"')


def test_the_newest_record_is_found(tmp_path: Path) -> None:
    """Two slots, written in turn."""
    journal = Journal(tmp_path / "j")
    assert journal.read() is None
    for number in (1, 2, 3):
        journal.write(entry(number))
    journal.close()

    again = Journal(tmp_path / "j")
    found = again.read()
    again.close()

    assert found is not None
    assert found.spans == ((0, 3),)
    assert found.validator == '"3"'


@pytest.mark.parametrize("slot", [0, 1])
@pytest.mark.parametrize("at", [0, 4, 8, 40])
def test_a_torn_record_leaves_the_other(tmp_path: Path, slot: int, at: int) -> None:
    """A power cut in the midst of a write, at any byte of it."""
    path = tmp_path / "j"
    journal = Journal(path)
    for number in (1, 2):
        journal.write(entry(number))
    with path.open("r+b") as file:
        file.seek(slot * SLOT_BYTES + at)
        file.write(b"\xff\xff\xff\xff")

    found = journal.read()
    journal.close()

    assert found is not None
    assert found.spans == ((0, 2 if slot == 1 else 1),)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"x" * 10_000,
        struct.pack("<II", 1 << 31, 0),
        bytes(SLOT_BYTES * 2),
        b"\x00" * 3,
    ],
)
def test_a_journal_of_rubbish_is_none(tmp_path: Path, raw: bytes) -> None:
    """Whatever a sync tool or another program left under the name."""
    path = tmp_path / "j"
    path.write_bytes(raw)
    journal = Journal(path)

    assert journal.read() is None

    journal.write(entry(1))
    assert journal.read() is not None
    journal.close()


def test_after_a_power_cut_only_what_was_flushed_is_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel keeps what a killed process wrote, but not what a dead machine had in memory."""
    journal = Journal(tmp_path / "j")
    journal.write(entry(9))
    found = journal.read()
    journal.close()
    assert found is not None

    assert found.believed() == ((0, 9),)
    monkeypatch.setattr(journals, "boot_id", lambda: "another boot")
    assert found.believed() == ((0, 1),)
    monkeypatch.setattr(journals, "boot_id", lambda: None)
    assert found.believed() == ((0, 1),)


def test_more_ranges_than_fit_are_cut_at_the_end(tmp_path: Path) -> None:
    """Then the last ones are fetched again; the record is never torn for it."""
    spans = tuple((number * 10, number * 10 + 5) for number in range(2000))
    journal = Journal(tmp_path / "j")
    journal.write(Entry(spans=spans))
    found = journal.read()
    journal.close()

    assert found is not None
    assert len(found.spans) > 50
    assert found.spans == spans[: len(found.spans)]


# -- the part ------------------------------------------------------------------------------------


def opened(path: Path, *, sha256: str | None = "a" * 64, size: int | None = 1000) -> PartFile:
    """Return a part that is ours."""
    part = PartFile.try_open(path)
    assert part is not None
    part.resume(sha256=sha256, size=size, sources={"s"})
    return part


def abandoned(part: PartFile) -> None:
    """Let go of a part as a killed process does: without a word."""
    part._journal.close()
    os.close(part._file)


def test_a_part_has_one_owner(tmp_path: Path) -> None:
    """A second one waits; after a rename the lock on the old file counts for nothing."""
    part = opened(tmp_path / "f.part", size=4)

    assert PartFile.try_open(tmp_path / "f.part") is None
    part.write(0, b"data")
    part.publish(tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == b"data"
    another = PartFile.try_open(tmp_path / "f.part")
    assert another is not None
    another.close()
    part.close()
    assert [path.name for path in tmp_path.iterdir()] == ["f"]


def test_a_killed_writer_loses_less_than_a_record(tmp_path: Path) -> None:
    """Nothing is said at the end, so the journal is what it was after the last full step."""
    size = 3 * RECORD_EVERY_BYTES
    part = opened(tmp_path / "f.part", size=size)
    step = 1000
    for at in range(0, size - step, step):
        part.write(at, bytes(step))
    written = part.present
    abandoned(part)

    again = opened(tmp_path / "f.part", size=size)

    assert written - RECORD_EVERY_BYTES < again.present <= written
    again.close()
    once_more = opened(tmp_path / "f.part", size=size)
    assert once_more.present == again.present
    once_more.close()


@pytest.mark.parametrize(
    ("sha256", "size", "is_kept"),
    [("a" * 64, 1000, True), ("a" * 64, None, True), ("b" * 64, 1000, False), (None, 1000, False)],
)
def test_a_part_of_another_file_is_not_taken_up(
    tmp_path: Path, sha256: str | None, size: int | None, is_kept: bool
) -> None:
    """The recipe has moved on to another build of the same name."""
    part = opened(tmp_path / "f.part")
    part.write(0, b"x" * 100)
    part.close()

    again = opened(tmp_path / "f.part", sha256=sha256, size=size)

    assert again.present == (100 if is_kept else 0)
    again.close()


def test_claims_do_not_overlap_and_come_back(tmp_path: Path) -> None:
    """Several connections take from one list, the beginning first."""
    part = opened(tmp_path / "f.part")
    part.write(100, b"x" * 100)

    assert part.claim(150) == (0, 100)
    assert part.claim(150) == (200, 350)
    assert part.missing() == 1000 - 100 - 100 - 150
    part.release((0, 100))
    assert part.claim(50) == (0, 50)
    part.close()


# -- progress ------------------------------------------------------------------------------------


def test_what_is_not_known_is_none() -> None:
    """No rate from one moment, no time left without a size or without movement."""
    tracker = Tracker()

    first = tracker.at(0.0, 5000, None)
    second = tracker.at(1.0, 6000, None)
    third = tracker.at(2.0, 7000, 10_000)

    assert (first.rate, first.left_s) == (None, None)
    assert (second.rate, second.left_s) == (1000.0, None)
    assert (third.rate, third.left_s) == (1000.0, 3.0)


def test_silence_is_said_and_the_rate_falls_to_nothing() -> None:
    """A bar that stands still with yesterday's rate is a lie."""
    tracker = Tracker()
    for second in range(4):
        tracker.at(float(second), second * 1000, 10_000)

    found = [tracker.at(3.0 + second, 3000, 10_000) for second in range(1, 12)]

    assert found[0].note is None
    assert found[4].note == "stalled: nothing has come for 5 s"
    assert found[-1].rate == 0.0
    assert found[-1].left_s is None


def test_beginning_anew_is_no_negative_rate() -> None:
    """A mirror that lied: what was here is gone."""
    tracker = Tracker()
    tracker.at(0.0, 0, 10_000)
    tracker.at(1.0, 9000, 10_000)

    assert tracker.at(2.0, 0, 10_000).rate is None
    assert tracker.at(3.0, 500, 10_000).rate == 500.0
