"""The keeper of an engine's log: ring, rotated file, batches, disks that fill up."""

import errno
import functools
import os
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import pytest

from studio.domain.metrics import LogLine
from studio.serving.logs import BATCH_LINES, LogKeeper, Timer

STAMP = "1970-01-01T00:16:40.000Z "
"""What the clock of these tests says."""


class Clock:
    """A clock that stands still until told otherwise."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        """Return the time that was set."""
        return self.now


class Listener:
    """Remembers what was announced."""

    def __init__(self) -> None:
        self.batches: list[tuple[tuple[LogLine, ...], int]] = []

    def __call__(self, lines: tuple[LogLine, ...], dropped: int) -> None:
        """Take a batch."""
        self.batches.append((lines, dropped))

    @property
    def texts(self) -> list[str]:
        """Return all announced lines."""
        return [line.text for lines, _dropped in self.batches for line in lines]


@pytest.fixture
def clock() -> Clock:
    """Return the test's clock."""
    return Clock()


@pytest.fixture
def listener() -> Listener:
    """Return the test's listener."""
    return Listener()


class Make(Protocol):
    """Makes a keeper whose path holds a blank and Chinese characters."""

    def __call__(
        self,
        *,
        secrets: tuple[str, ...] = ...,
        timer: Timer | None = ...,
        max_bytes: int = ...,
        backups: int = ...,
        ring: int = ...,
    ) -> LogKeeper:
        """Return a keeper with these settings."""


@pytest.fixture
def make(tmp_path: Path, clock: Clock, listener: Listener) -> Make:
    """Return a maker of keepers on the test's clock and listener."""
    path = tmp_path / "日志 folder" / "engine.log"
    return functools.partial(LogKeeper, path, clock=clock, on_lines=listener)


def test_lines_are_numbered_timed_and_levelled(make: Make, clock: Clock) -> None:
    """`GET /logs?after=SEQ` relies on numbers without gaps."""
    keeper = make()
    keeper.feed(b"(APIServer pid=1) INFO 11-29 13:42:03 [a.py:1] one\nERROR:    two\n")
    clock.now += 1
    keeper.note("The engine was asked to stop.")

    assert keeper.tail(9) == [
        LogLine(
            seq=1,
            at=1000.0,
            source="engine",
            level="info",
            text="(APIServer pid=1) INFO 11-29 13:42:03 [a.py:1] one",
        ),
        LogLine(seq=2, at=1000.0, source="engine", level="error", text="ERROR:    two"),
        LogLine(
            seq=3, at=1001.0, source="studio", level="info", text="The engine was asked to stop."
        ),
    ]


def test_feed_returns_what_a_reader_of_phases_needs(make: Make) -> None:
    """Also the states of a bar that never reach the log."""
    keeper = make()

    seen = keeper.feed(b"Capturing 0%\rCapturing 50%\rCapturing 100%\n")

    assert seen == ["Capturing 0%", "Capturing 50%", "Capturing 100%"]
    assert [line.text for line in keeper.tail(9)] == ["Capturing 100%"]


def test_secrets_reach_neither_ring_nor_file_nor_listener(
    make: Make, listener: Listener, tmp_path: Path
) -> None:
    """Each boot has a key of its own, added when it is made."""
    keeper = make(secrets=("first-boot-key",))
    keeper.add_secrets("second-boot-key", "")
    keeper.feed(b"first-boot-key second-boot-key sk-weir-abcdefgh hf_abcdefghijk Bearer abcdefgh\n")
    keeper.note("Started with second-boot-key.")
    keeper.close()

    assert listener.texts == ["*** *** *** *** Bearer ***", "Started with ***."]
    written = (tmp_path / "日志 folder" / "engine.log").read_text().splitlines()
    assert written == [f"{STAMP}{listener.texts[0]}", f"{STAMP}studio info: Started with ***."]


def test_announcements_come_ten_times_a_second_at_most(
    make: Make, clock: Clock, listener: Listener
) -> None:
    """A burst of single announcements would stall the window."""
    keeper = make()

    for _ in range(100):
        keeper.feed(b"line\n")
        keeper.flush(clock.now)
        clock.now += 0.01
    wait_s = keeper.flush(clock.now)
    assert wait_s is None or 0 < wait_s <= 0.1
    clock.now += 0.1
    keeper.flush(clock.now)

    assert 9 <= len(listener.batches) <= 12
    assert len(listener.texts) == 100


def test_a_batch_holds_the_newest_500_lines_and_counts_the_rest(
    make: Make, listener: Listener
) -> None:
    """The tail is what a person looks for."""
    keeper = make()
    keeper.feed(b"".join(b"line %d\n" % n for n in range(2000)))

    assert keeper.flush() is None
    assert keeper.flush() is None

    [(lines, dropped)] = listener.batches
    assert dropped == 2000 - BATCH_LINES
    assert [line.seq for line in lines] == list(range(1501, 2001))


def test_a_timer_that_was_handed_in_drives_the_announcements(
    make: Make, clock: Clock, listener: Listener
) -> None:
    """The service hands in its loop's `call_later`; nobody needs to remember to flush."""
    calls: list[tuple[float, Callable[[], None]]] = []
    keeper = make(timer=lambda delay_s, callback: calls.append((delay_s, callback)))

    keeper.feed(b"one\n")
    keeper.feed(b"two\n")
    assert len(calls) == 1
    clock.now += calls[0][0]
    calls.pop()[1]()
    keeper.feed(b"three\n")

    assert listener.texts == ["one", "two"]
    assert len(calls) == 1


def test_a_clock_set_back_does_not_silence_the_log(
    make: Make, clock: Clock, listener: Listener
) -> None:
    """Time servers move clocks."""
    keeper = make()
    keeper.feed(b"one\n")
    keeper.flush()
    clock.now -= 3600

    keeper.feed(b"two\n")
    keeper.flush()

    assert listener.texts == ["one", "two"]


def test_after_continues_where_the_caller_stopped(make: Make) -> None:
    """Also when the ring has moved on: then from its oldest line."""
    keeper = make(ring=10)
    keeper.feed(b"".join(b"line %d\n" % n for n in range(1, 31)))

    assert [line.seq for line in keeper.after(25, 3)] == [26, 27, 28]
    assert [line.seq for line in keeper.after(0, 2)] == [21, 22]
    assert keeper.after(30) == []
    assert [line.seq for line in keeper.tail(2)] == [29, 30]
    assert keeper.tail(0) == []
    assert keeper.seq == 30


def test_the_file_is_private_rotated_and_bounded(make: Make, tmp_path: Path) -> None:
    """A log must not fill the disk, and prompts in it are nobody else's business."""
    keeper = make(max_bytes=1000, backups=2)
    folder = tmp_path / "日志 folder"

    for number in range(400):
        keeper.feed(b"line number %d\n" % number)
    keeper.close()

    files = sorted(folder.iterdir())
    assert [path.name for path in files] == ["engine.log", "engine.log.1", "engine.log.2"]
    assert all(path.stat().st_size <= 1000 for path in files)
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in files)
    text = "".join(path.read_text() for path in reversed(files))
    numbers = [int(line.split()[-1]) for line in text.splitlines()]
    assert numbers == list(range(numbers[0], 400))


def test_one_read_larger_than_the_file_is_spread_over_its_backups(
    make: Make, tmp_path: Path
) -> None:
    """100,000 lines a second come in large reads."""
    keeper = make(max_bytes=1000, backups=3)

    keeper.feed(b"".join(b"line %d\n" % n for n in range(5000)))
    keeper.close()

    files = sorted((tmp_path / "日志 folder").iterdir())
    assert len(files) == 4
    assert all(path.stat().st_size <= 1000 for path in files)
    assert files[0].read_text().splitlines()[-1] == f"{STAMP}line 4999"


def test_an_older_log_is_continued(make: Make, tmp_path: Path) -> None:
    """A restarted service keeps what the last one wrote, and makes it private."""
    path = tmp_path / "日志 folder" / "engine.log"
    path.parent.mkdir()
    path.write_text("before\n")
    path.chmod(0o644)

    keeper = make()
    keeper.feed(b"after\n")
    keeper.close()

    assert path.read_text() == f"before\n{STAMP}after\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_full_disk_costs_lines_in_the_file_and_nothing_else(
    make: Make, clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk fills up in the middle of a line, stays full, and is freed."""
    real_write = os.write
    room = [10]

    def write(descriptor: int, data: bytes | memoryview) -> int:
        if room[0] <= 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        written = real_write(descriptor, bytes(data)[: room[0]])
        room[0] -= written
        return written

    monkeypatch.setattr(os, "write", write)
    keeper = make()
    keeper.feed(b"a line that is longer than the room\n")
    keeper.feed(b"second\n")
    assert keeper.file_error is not None
    assert "full" in keeper.file_error
    room[0] = 10**9
    keeper.feed(b"within the pause\n")
    clock.now += 6
    keeper.feed(b"works again\n")
    keeper.close()

    assert keeper.file_error is None
    assert [line.text for line in keeper.tail(9) if line.source == "engine"] == [
        "a line that is longer than the room",
        "second",
        "within the pause",
        "works again",
    ]
    notes = [line for line in keeper.tail(9) if line.source == "studio"]
    assert [note.level for note in notes] == ["warning", "warning"]
    assert (tmp_path / "日志 folder" / "engine.log").read_text().splitlines()[:2] == [
        "1970-01-01",
        "1970-01-01T00:16:46.000Z works again",
    ]


def test_a_folder_that_cannot_be_made_is_no_reason_to_die(tmp_path: Path, clock: Clock) -> None:
    """Here a file lies where the folder should be."""
    (tmp_path / "logs").write_text("in the way")
    keeper = LogKeeper(tmp_path / "logs" / "engine.log", clock=clock, on_lines=Listener())

    keeper.feed(b"one\n")

    assert keeper.tail(1)[0].source == "studio"
    assert keeper.file_error is not None
    keeper.close()


def test_closing_gives_out_the_last_words(make: Make, listener: Listener) -> None:
    """An engine killed in mid line leaves it without a newline."""
    keeper = make()
    keeper.feed(b"last words")
    keeper.close()

    assert listener.texts == ["last words"]


def test_a_flood_keeps_its_tail_and_leaves_time_for_the_rest(
    make: Make, listener: Listener
) -> None:
    """100,000 lines a second are the goal; a second of them must cost well under a second."""
    keeper = make()
    flood = b"".join(
        b"(EngineCore pid=2709) INFO 11-29 13:47:36 [core.py:1] line %d of a long flood\n" % n
        for n in range(100_000)
    )

    started = time.process_time()
    for start in range(0, len(flood), 1 << 16):
        keeper.feed(flood[start : start + (1 << 16)])
        keeper.flush()
    elapsed_s = time.process_time() - started
    keeper.close()

    assert keeper.tail(1)[0].text.endswith("line 99999 of a long flood")
    assert len(keeper.tail(10_000)) == 5000
    assert sum(len(lines) + dropped for lines, dropped in listener.batches) == 100_000
    assert elapsed_s < 1.0


def test_the_limits_can_be_changed_while_it_runs(make: Make, tmp_path: Path) -> None:
    """A disk that fills up is no reason to restart what serves."""
    keeper = make(max_bytes=1000, backups=9)
    keeper.feed(b"".join(b"line %d\n" % n for n in range(300)))
    keeper.limit(max_bytes=500, files=2)
    keeper.feed(b"".join(b"line %d\n" % n for n in range(100)))
    keeper.close()

    files = sorted((tmp_path / "日志 folder").iterdir())
    assert [path.name for path in files] == ["engine.log", "engine.log.1"]


def test_a_line_that_a_kill_cut_off_does_not_swallow_the_next(make: Make, tmp_path: Path) -> None:
    """SIGKILL in the middle of a write leaves half a line."""
    path = tmp_path / "日志 folder" / "engine.log"
    path.parent.mkdir()
    path.write_text("half a li")

    keeper = make()
    keeper.feed(b"next\n")
    keeper.close()

    assert path.read_text().splitlines() == ["half a li", f"{STAMP}next"]


def test_keys_of_a_thousand_boots_cost_no_more_than_a_few(make: Make) -> None:
    """Each boot has a key; a machine that restarts for months must not get slower by it."""
    keeper = make()
    for number in range(1000):
        keeper.add_secrets(f"boot-key-{number:04d}")

    keeper.feed(b"boot-key-0999 boot-key-0990\n")

    assert keeper.tail(1)[0].text == "*** ***"
    assert len(keeper.__dict__["_secrets"]) < 100


def test_the_ring_hands_out_the_same_lines_however_they_came(make: Make) -> None:
    """Lines are kept in the reads that they came in; nobody may notice."""
    keeper = make(ring=7)
    for count in (3, 1, 5, 2, 4):
        keeper.feed(b"x\n" * count)
        for first in range(keeper.seq + 1):
            expected = list(range(max(first, keeper.seq - 7) + 1, keeper.seq + 1))[:3]
            assert [line.seq for line in keeper.after(first, 3)] == expected
        assert len(keeper.tail(100)) == min(7, keeper.seq)
