"""The file among kills, full disks and damage: the service never notices."""

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from studio.domain.history import HistoryEvent, HistoryEventKind
from studio.monitor import history_read, history_write
from studio.monitor.history_file import HistoryFile, Unwritable
from tests.monitor.history_samples import BEGIN, reading

ROOT = Path(__file__).resolve().parents[2]
DEATH = HistoryEvent(at=1.0, kind=HistoryEventKind.DEATH, name="x")


def known(file: HistoryFile) -> dict[str, int]:
    """Return what series the file knows."""
    return file.read(history_read.known_series, {})


def made(path: Path) -> HistoryFile:
    """Return a file with a few readings, closed."""
    file = HistoryFile(path)
    file.write([reading(BEGIN + s, running=1.0) for s in range(5)], [DEATH])
    file.close()
    return file


def test_a_bound_that_was_changed_holds_from_the_next_writing_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who makes it smaller wants the room now, not when a day is over."""
    bounds: list[int] = []
    chosen = [1 << 30]
    monkeypatch.setattr(history_write, "tidy", lambda _file, most_bytes: bounds.append(most_bytes))
    file = HistoryFile(tmp_path / "history.db", most_bytes=lambda: chosen[0])

    for second in range(4):
        chosen[0] = 32 << 20 if second > 1 else 1 << 30
        file.write([reading(BEGIN + second, running=1.0)], [])
    file.close()

    assert bounds == [1 << 30, 32 << 20]


def test_the_file_is_its_owners_alone(tmp_path: Path) -> None:
    """It says when somebody worked, and for how long."""
    made(tmp_path / "history.db")

    assert (tmp_path / "history.db").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("damage", [b"no database at all " * 500, b"", b"\0" * 9_000])
def test_a_damaged_file_is_set_aside_and_a_new_one_begun(tmp_path: Path, damage: bytes) -> None:
    """An empty file is a new one; anything else is kept under another name."""
    path = tmp_path / "history.db"
    path.write_bytes(damage)
    file = HistoryFile(path, clock=lambda: 0.0)

    file.write([reading(BEGIN, running=1.0)], [])

    assert known(file) == {"running": 1}
    aside = path.with_name("history.db.damaged-19700101-000000")
    assert (file.set_aside is not None) == bool(damage)
    assert aside.exists() == bool(damage)
    if damage:
        assert aside.read_bytes() == damage
        assert "damaged-19700101-000000" in (file.set_aside or "")
    file.close()


def test_damage_that_shows_later_is_survived_too(tmp_path: Path) -> None:
    """Pages in the middle of the file that went bad while it was open or closed."""
    path = tmp_path / "history.db"
    made(path)
    raw = bytearray(path.read_bytes())
    raw[4096:] = os.urandom(len(raw) - 4096)
    path.write_bytes(raw)
    file = HistoryFile(path)

    for second in range(10, 14):
        file.write([reading(BEGIN + second, running=2.0)], [DEATH])

    assert file.set_aside is not None
    assert known(file) == {"running": 1}
    file.close()


def test_only_one_file_is_kept_aside(tmp_path: Path) -> None:
    """A disk that damages files again and again must not be filled by their copies."""
    path = tmp_path / "history.db"
    for second in range(3):
        path.write_bytes(b"damage " * 100)
        file = HistoryFile(path, clock=lambda second=second: float(second))
        file.write([], [DEATH])
        file.close()

    assert len(list(tmp_path.glob("history.db.damaged-*"))) == 1


def test_a_file_of_a_newer_version_is_kept_and_not_touched(tmp_path: Path) -> None:
    """Whoever goes back to an older version goes forward again some day."""
    path = tmp_path / "history.db"
    made(path)
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.commit()
    connection.close()
    file = HistoryFile(path)

    file.open()

    assert "newer version" in (file.set_aside or "")
    (aside,) = tmp_path.glob("history.db.damaged-*")
    assert sqlite3.connect(aside).execute("PRAGMA user_version").fetchone() == (99,)
    file.close()


def test_a_folder_that_cannot_be_written_is_said_and_nothing_more(tmp_path: Path) -> None:
    """Root may write anywhere, so it is a file that stands where the folder should be."""
    (tmp_path / "folder").write_text("in the way")
    file = HistoryFile(tmp_path / "folder" / "history.db")

    with pytest.raises(Unwritable):
        file.write([reading(BEGIN, running=1.0)], [])
    assert known(file) == {}
    assert file.size() is None


def test_a_full_disk_loses_nothing_that_was_written(tmp_path: Path) -> None:
    """And what comes after it has room again is written."""
    path = tmp_path / "history.db"
    file = HistoryFile(path)
    file.write([reading(BEGIN, running=1.0)], [])
    assert file._connection is not None
    file._connection.execute("PRAGMA max_page_count = 12")

    with pytest.raises(Unwritable, match="full"):
        file.write(
            [reading(BEGIN + s, **{f"s{n}": 1.0 for n in range(200)}) for s in range(1, 90)], []
        )
    file.write([reading(BEGIN + 100, running=2.0)], [])

    assert known(file) == {"running": 1}
    count = "SELECT count(*) FROM tail WHERE tier = 0"
    rows = file.read(lambda connection: connection.execute(count).fetchone()[0], 0)
    assert rows == 2
    file.close()


def test_another_program_that_holds_the_file_is_waited_for(tmp_path: Path) -> None:
    """A backup, or somebody who looks at it."""
    path = tmp_path / "history.db"
    made(path)
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    timer = threading.Timer(0.2, lambda: other.execute("ROLLBACK"))
    timer.start()

    file = HistoryFile(path)
    file.write([reading(BEGIN + 9, running=1.0)], [])

    timer.join()
    other.close()
    file.close()


def test_without_a_service_it_is_read_and_not_changed(tmp_path: Path) -> None:
    """`weir history` works when nothing runs, and leaves no trace."""
    path = tmp_path / "a folder, größer" / "history.db"
    made(path)
    before = path.read_bytes()

    file = HistoryFile(path)
    assert known(file) == {"running": 1}
    file.close()

    assert path.read_bytes() == before
    assert HistoryFile(tmp_path / "none.db").read(history_read.known_series, {}) == {}
    assert not (tmp_path / "none.db").exists()


def test_it_can_be_read_while_another_process_writes(tmp_path: Path) -> None:
    """The command line beside the service."""
    path = tmp_path / "history.db"
    writer, reader = HistoryFile(path), HistoryFile(path)
    writer.write([reading(BEGIN, running=1.0)], [])

    assert known(reader) == {"running": 1}
    writer.write([reading(BEGIN + 1, waiting=1.0)], [])
    assert known(reader) == {"running": 1, "waiting": 2}

    writer.close()
    reader.close()


_CHILD = """
import sys
from pathlib import Path
from studio.monitor.history_file import HistoryFile
from tests.monitor.history_samples import BEGIN, reading

file = HistoryFile(Path(sys.argv[1]))
for second in range(int(sys.argv[2]), 10**9):
    file.write([reading(BEGIN + second, running=1.0)], [])
    print(second, flush=True)
"""


def _killed(path: Path, begin: int, enough: Callable[[int], bool]) -> int:
    """Write in a child until it is killed; return the last second that it said was written."""
    child = subprocess.Popen(
        [sys.executable, "-c", _CHILD, str(path), str(begin)], cwd=ROOT, stdout=subprocess.PIPE
    )
    assert child.stdout is not None
    last = begin - 1
    for line in child.stdout:
        last = int(line)
        if enough(last):
            break
    child.send_signal(signal.SIGKILL)
    rest = child.stdout.read().split()
    child.stdout.close()
    child.wait()
    return int(rest[-1]) if rest else last


def test_a_kill_loses_nothing_that_was_written(tmp_path: Path) -> None:
    """Three times in a row, across the end of a block, at whatever instant it happens to be."""
    path = tmp_path / "history.db"
    last = -1
    for upto in (40, 650, 700):
        last = _killed(path, last + 1, lambda done, upto=upto: done >= upto)

    file = HistoryFile(path)
    seconds = file.read(
        lambda c: [one[0] for one in history_read.points_of(c, 0, 1, BEGIN, BEGIN + 10_000)],
        [],
    )
    assert file.set_aside is None
    assert seconds[: last + 1] == [BEGIN + s for s in range(last + 1)]
    minute = BEGIN - BEGIN % 60 + 60
    assert (
        file.read(
            lambda c: [one[4] for one in history_read.points_of(c, 2, 1, minute, minute + 600)],
            [],
        )
        == [60] * 10
    )
    file.close()
