"""Pages of a log's files: nothing twice, nothing left out, whatever is rotated meanwhile."""

import random
from pathlib import Path

import pytest

from studio.domain.errors import BadInput
from studio.domain.logs import LogPage
from studio.serving import log_pages
from studio.serving.log_file import file_of
from studio.serving.logs import LogKeeper


class Log:
    """A log that is written while it is read."""

    def __init__(self, folder: Path, *, max_bytes: int = 2000, backups: int = 50) -> None:
        self.folder = folder
        self.now = 1000.0
        self.count = 0
        self.keeper = LogKeeper(
            file_of(folder, "engine"),
            clock=lambda: self.now,
            on_lines=lambda _lines, _dropped: None,
            max_bytes=max_bytes,
            backups=backups,
        )

    def write(self, count: int) -> None:
        """Write numbered lines, one a second."""
        for _ in range(count):
            self.keeper.feed(b"line %d %s\n" % (self.count, b"x" * (self.count % 40)))
            self.count += 1
            self.now += 1


@pytest.fixture
def log(tmp_path: Path) -> Log:
    """Return an empty log of small files."""
    return Log(tmp_path / "日志 logs")


def _numbers(page: LogPage) -> list[int]:
    return [int(line.text.split()[1]) for line in page.lines]


def _back(log: Log, lines: int, since: float | None = None) -> list[int]:
    found: list[int] = []
    before: str | None = None
    while True:
        page = log_pages.newest(log.folder, "engine", lines=lines, before=before, since=since)
        found = _numbers(page) + found
        assert page.before is None or len(page.lines) == lines
        before = page.before
        if before is None:
            return found


@pytest.mark.parametrize("lines", [1, 7, 50, 20_000])
def test_going_back_finds_every_line_once(log: Log, lines: int) -> None:
    """Through a dozen files, whatever the size of the page."""
    log.write(300)

    assert _back(log, lines) == list(range(300))


def test_going_back_ends_at_the_time_asked_for(log: Log) -> None:
    """Files that are older are not read."""
    log.write(300)

    assert _back(log, 20_000, since=1250.0) == list(range(250, 300))
    assert _back(log, 20_000, since=9999.0) == []


def test_what_has_no_time_is_older_than_any_time_asked_for(tmp_path: Path) -> None:
    """A version that wrote no times left hours of it; the next line with one is of now."""
    old = "".join(f"line {number}\n" for number in range(100))
    (tmp_path / "engine.log.1").write_text(old)
    (tmp_path / "engine.log").write_text("line 100\nline 101\n")
    log = Log(tmp_path)
    log.count = 102
    log.write(3)

    for lines in (1, 2, 4, 50, 20_000):
        assert _texts(tmp_path, "engine", lines, since=990.0) == ["102", "103", "104"]
    assert _back(log, 20_000) == list(range(105))


def test_what_follows_a_line_with_a_time_is_of_that_time(tmp_path: Path) -> None:
    """A traceback in the service's log; also where a page, or a file, begins in its middle."""
    (tmp_path / "service.log.1").write_text("1970-01-01T00:16:40.000Z ERROR x: a\n b\n c\n")
    (tmp_path / "service.log").write_text(
        " d\n1970-01-01T00:16:50.000Z ERROR x: e\n f\n g\n1970-01-01T00:16:51.000Z ERROR x: h\n"
    )

    for lines in (4, 5, 7, 20_000):
        assert _texts(tmp_path, "service", lines, since=999.0) == list("abcdefgh")
        assert _texts(tmp_path, "service", lines, since=1005.0) == list("efgh")


def _texts(folder: Path, source: str, lines: int, since: float) -> list[str]:
    found: list[str] = []
    before: str | None = None
    while True:
        page = log_pages.newest(folder, source, lines=lines, before=before, since=since)
        found = [line.text.rstrip("x").split()[-1] for line in page.lines] + found
        before = page.before
        if before is None:
            return found


def test_following_finds_every_line_once_while_files_are_rotated() -> None:
    """Writer and reader take turns at random."""
    for seed in range(5):
        _follow_at_random(random.Random(seed))


def _follow_at_random(chance: random.Random) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        log = Log(Path(folder), max_bytes=chance.choice([200, 1000, 5000]))
        after = log_pages.newest(log.folder, "engine", lines=5).after
        found: list[int] = []
        for _ in range(60):
            log.write(chance.randrange(12))
            page = log_pages.following(
                log.folder, "engine", lines=chance.choice([1, 10, 1000]), after=after
            )
            assert not page.is_gap
            found += _numbers(page)
            after = page.after
        while page.lines:
            page = log_pages.following(log.folder, "engine", lines=1000, after=after)
            found += _numbers(page)
            after = page.after

        assert found == list(range(log.count))


def test_a_gap_is_told(tmp_path: Path) -> None:
    """The place that was reached is gone; a new file may even have its inode."""
    log = Log(tmp_path, max_bytes=300, backups=1)
    log.write(3)
    after = log_pages.newest(log.folder, "engine", lines=1).after
    log.write(300)

    page = log_pages.following(log.folder, "engine", lines=1000, after=after)

    assert page.is_gap
    assert _numbers(page)[-1] == 302


def test_a_line_is_handed_out_when_it_is_whole(tmp_path: Path) -> None:
    """Half a line would be shown as one, and its rest as another."""
    path = file_of(tmp_path, "engine")
    path.write_text("one\ntw")
    page = log_pages.newest(tmp_path, "engine", lines=9)
    start = log_pages.following(tmp_path, "engine", lines=9, after="0-0-0")

    assert [line.text for line in page.lines] == ["one", "tw"]
    assert [line.text for line in start.lines] == ["one"]
    with path.open("a") as file:
        file.write("o\n")
    again = log_pages.following(tmp_path, "engine", lines=9, after=start.after)
    assert [line.text for line in again.lines] == ["two"]


@pytest.mark.parametrize("place", ["", "1", "a-b-c", "1-2", "-1-2-3", "1-2-3-4", "9" * 40])
def test_a_place_that_is_none_is_refused(log: Log, place: str) -> None:
    """Places come from clients."""
    with pytest.raises(BadInput) as caught:
        log_pages.following(log.folder, "engine", lines=1, after=place)

    assert caught.value.code == "log-place-invalid"


def test_a_folder_that_is_missing_is_an_empty_log(tmp_path: Path) -> None:
    """Nothing was started yet."""
    assert log_pages.newest(tmp_path / "x", "engine", lines=9).lines == ()
    assert log_pages.following(tmp_path / "x", "engine", lines=9, after="0-0-0").lines == ()


def test_binary_junk_and_endless_lines_are_lines_too(tmp_path: Path) -> None:
    """A log may be anything that somebody put there."""
    file_of(tmp_path, "engine").write_bytes(b"\xff\0\r\n" * 3 + b"y" * 3_000_000 + b"\nend\n")

    page = log_pages.newest(tmp_path, "engine", lines=9)

    assert [line.text[:3] for line in page.lines][-2:] == ["yyy", "end"]
    assert len(page.lines) == 5
