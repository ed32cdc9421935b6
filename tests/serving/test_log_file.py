"""Lines of logs on the disk, as they are written and as they are read again."""

import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.domain.metrics import LogLine
from studio.serving.log_file import Reader, RotatedFile, file_of, stamp, written

AT = 1_764_452_897.125


def _read(text: str, source: str = "engine") -> LogLine:
    return Reader(source, 5.0).read([text])[0]


def test_a_line_carries_its_own_time() -> None:
    """`weir logs --since` works after a restart of the service, and on a copied file."""
    assert stamp(AT) == "2025-11-29T21:48:17.125Z "
    assert _read(f"{stamp(AT)}INFO:     hello") == LogLine(
        seq=1, at=AT, source="engine", level="info", text="INFO:     hello"
    )


@given(st.floats(min_value=0, max_value=4e9))
def test_every_time_is_read_as_it_was_written(at: float) -> None:
    """To the millisecond."""
    assert abs(_read(f"{stamp(at)}x").at - at) <= 0.001


@pytest.mark.parametrize(
    ("text", "source", "level", "shown"),
    [
        (f"{stamp(AT)}studio warning: disk is full", "studio", "warning", "disk is full"),
        (f"{stamp(AT)}studio: not ours", "engine", "none", "studio: not ours"),
        (f"{stamp(AT)}  indented", "engine", "none", "  indented"),
        (f"{stamp(AT)}", "engine", "none", ""),
        ("no time at all", "engine", "none", "no time at all"),
        ("2026-13-45T99:99:99.000Z x", "engine", "none", "2026-13-45T99:99:99.000Z x"),
    ],
)
def test_whose_line_it_is_is_read_again(text: str, source: str, level: str, shown: str) -> None:
    """Lines of older versions have no time; the file's own stands in."""
    line = _read(text)

    assert (line.source, line.level, line.text) == (source, level, shown)


def test_a_line_without_a_time_takes_the_one_before() -> None:
    """A traceback in the service's log has one time for all of it."""
    lines = Reader("service", 5.0).read(
        [
            "x",
            f"{stamp(AT)}ERROR a: b",
            "Traceback (most recent call last):",
            f"{stamp(AT + 1)}INFO c",
        ]
    )

    assert [line.at for line in lines] == [AT, AT, AT, AT + 1]
    assert [line.level for line in lines] == ["none", "error", "none", "info"]


def test_the_local_clock_of_older_services_is_understood() -> None:
    """They wrote it with a comma and no zone."""
    moment = datetime.datetime(2026, 11, 29, 15, 57, 52).astimezone()

    assert _read("2026-11-29 15:57:52,962 INFO x: y", "service").at == moment.timestamp() + 0.962


def test_files_are_listed_newest_first_and_strangers_left_out(tmp_path: Path) -> None:
    """`engine.log.10` comes after `.9`, and somebody's `engine.log.bak` is none of ours."""
    for name in ("engine.log", "engine.log.2", "engine.log.10", "engine.log.bak", "engine.log.1"):
        (tmp_path / name).touch()

    names = [path.name for path in written(file_of(tmp_path, "engine"))]

    assert names == ["engine.log", "engine.log.1", "engine.log.2", "engine.log.10"]
    assert written(tmp_path / "none" / "x.log") == [tmp_path / "none" / "x.log"]


def test_a_smaller_count_removes_what_is_beyond_it(tmp_path: Path) -> None:
    """Otherwise what was kept once would lie there for ever."""
    path = tmp_path / "x.log"
    file = RotatedFile(path, max_bytes=10, backups=5)
    for number in range(6):
        file.write(b"line %d..\n" % number, 0.0)
    file.limit(max_bytes=10, backups=2)
    file.write(b"line 6..\n", 0.0)
    file.close()

    assert sorted(one.name for one in tmp_path.iterdir()) == ["x.log", "x.log.1", "x.log.2"]
