"""`weir logs`: which lines, and none lost while following."""

from collections.abc import Callable

import pytest

from studio.cli.logs import Filter, line_text
from studio.domain.metrics import LogLine
from tests.cli.conftest import Ran
from tests.cli.fake_service import FakeConnector, FakeService
from tests.cli.terminal import Terminal, piped

Weir = Callable[..., Ran]


def _line(seq: int, text: str = "", level: str = "info", source: str = "engine") -> LogLine:
    return LogLine(seq=seq, at=0.0, source=source, level=level, text=text or f"line {seq}")


def _passing(wanted: Filter, lines: list[LogLine]) -> list[int]:
    return [line.seq for line in lines if wanted.passes(line)]


def test_a_level_takes_the_more_serious_lines_too() -> None:
    """Asking for warnings means: whatever is at least a warning."""
    lines = [_line(1, level="debug"), _line(2, level="warning"), _line(3, level="error")]

    assert _passing(Filter(level="warning"), lines) == [2, 3]


def test_the_rest_of_a_traceback_belongs_to_its_error() -> None:
    """The lines that say why have no level of their own."""
    lines = [
        _line(1, level="error"),
        _line(2, "  File x", level="none"),
        _line(3, "studio says", source="studio"),
        _line(4, "ValueError", level="none"),
        _line(5),
        _line(6, "quiet", level="none"),
    ]

    assert _passing(Filter(level="error"), lines) == [1, 2, 4]


def test_grep_does_not_mind_the_case() -> None:
    """Nobody remembers whether it was KV or kv."""
    lines = [_line(1, "KV cache size"), _line(2, "other")]

    assert _passing(Filter(grep="kv CACHE"), lines) == [1]


def test_our_own_lines_are_marked() -> None:
    """Two programs write one log; the engine's lines stay as it wrote them."""
    assert line_text(_line(1, "INFO ready")) == "INFO ready"
    assert line_text(_line(1, "ready", source="studio")) == "studio: ready"


def test_the_newest_lines_are_shown(weir: Weir, service: FakeService) -> None:
    """`-n` counts from the end."""
    service.lines = [_line(seq) for seq in range(50)]

    assert weir("logs", "-n", "2").out == "line 48\nline 49\n"


def test_a_filter_looks_beyond_the_newest_lines(weir: Weir, service: FakeService) -> None:
    """The one error of the day may be a thousand lines back."""
    service.lines = [_line(seq) for seq in range(3000)]
    service.lines[10] = _line(10, "the error", level="error")

    assert weir("logs", "-n", "5", "--level", "error").out == "the error\n"


def test_no_such_line_is_said_beside_the_output(weir: Weir) -> None:
    """A filter that finds nothing must not look like a fault, nor become data in a pipe."""
    ran = weir("logs", "--grep", "nothing")

    assert (ran.status, ran.out, ran.err) == (0, "", "The log has no such lines.\n")


def test_following_shows_old_and_new_once(weir: Weir, service: FakeService) -> None:
    """A line that is in the tail and in the stream is one line."""
    service.lines = [_line(0), _line(1)]

    def append(it: FakeService) -> None:
        it.announce_log([_line(1), _line(2)])
        it.append_log([_line(3)])
        it.end_streams("asked to end")

    service.late_log = append

    ran = weir("logs", "-f")

    assert ran.out == "line 0\nline 1\nline 2\nline 3\n"
    assert "The service has ended: asked to end." in ran.err


def test_following_fetches_what_the_stream_had_no_room_for(
    weir: Weir, service: FakeService
) -> None:
    """A burst is announced in part; the rest is in the service's memory."""

    def burst(it: FakeService) -> None:
        it.append_log([_line(seq) for seq in range(2000)], dropped=1500)
        it.end_streams()

    service.late_log = burst

    assert weir("logs", "-f").out.splitlines() == [f"line {seq}" for seq in range(2000)]


def test_following_says_how_many_lines_are_lost(weir: Weir, service: FakeService) -> None:
    """A gap that is not marked would be read as silence."""

    def burst(it: FakeService) -> None:
        it.announce_log([_line(seq) for seq in range(100, 110)], dropped=100)
        it.end_streams()

    service.late_log = burst

    ran = weir("logs", "-f")

    assert "(100 lines left out)" in ran.err
    assert ran.out.startswith("line 100\n")


def test_following_needs_a_service(weir: Weir, connector: FakeConnector) -> None:
    """Nothing new can come from a service that is not there."""
    connector.is_running = False

    assert weir("logs", "-f").status == 6


def test_a_reader_that_has_enough_ends_the_log_quietly() -> None:
    """`weir logs | head -1` prints one line and no complaint."""
    ran = piped("pipe-closes", "logs", "-n", "5000")

    assert ran.returncode == 0
    assert b"Traceback" not in ran.stderr
    assert b"Broken" not in ran.stderr


def test_ctrl_c_ends_following_without_a_word() -> None:
    """It is the usual way out."""
    with Terminal("serving", "logs", "-f", "-n", "1") as terminal:
        terminal.expect("line 4999")
        terminal.interrupt()

        assert terminal.finish() == 130
        assert "error" not in terminal.text


@pytest.mark.parametrize("level", ["none", ""])
def test_a_line_before_any_level_counts_as_information(level: str) -> None:
    """The engine's banner has no level and is no error."""
    assert _passing(Filter(level="info"), [_line(1, level=level)]) == [1]
    assert _passing(Filter(level="warning"), [_line(1, level=level)]) == []
