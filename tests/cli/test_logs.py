"""`weir logs`: which lines, whole tracebacks, and none lost while following."""

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from studio.cli.logs import entry_text
from studio.domain.tracebacks import LogEntry
from studio.serving.log_file import file_of
from studio.serving.logs import LogKeeper
from tests.cli.fake_service import FakeConnector
from tests.cli.terminal import Terminal, piped
from tests.cli.typed import Ran
from tests.fakes.waiting import until
from tests.fakes.weir import Weir as RealWeir
from tests.fakes.weir import fake_weir

RUNAWAY_CPU_S = 2.0
"""More than starting takes: from then on it matches."""

Weir = Callable[..., Ran]
AT = 1_760_000_000.0
HEADER = "ERROR 11-29 14:29:59 [core.py:9]"
TRACEBACK = """\
(Worker_TP0 pid=7) ERROR 11-29 14:29:59 [core.py:9] Traceback (most recent call last):
(Worker_TP1 pid=8) ERROR 11-29 14:29:59 [core.py:9] Traceback (most recent call last):
(Worker_TP0 pid=7) ERROR 11-29 14:29:59 [core.py:9]   File "/srv/a.py", line 3, in load
(Worker_TP1 pid=8) ERROR 11-29 14:29:59 [core.py:9]   File "/srv/b.py", line 4, in save
(Worker_TP0 pid=7) ERROR 11-29 14:29:59 [core.py:9] ValueError: too small
(APIServer pid=1) INFO 11-29 14:30:00 [api.py:1] goes on
(Worker_TP1 pid=8) ERROR 11-29 14:29:59 [core.py:9] OSError: no room
"""


class Log:
    """The engine's log of one home, written as the service writes it."""

    def __init__(self, home: Path, **limits: int) -> None:
        self.now = AT
        self.folder = home / "logs"
        self.keeper = LogKeeper(
            file_of(self.folder, "engine"),
            clock=lambda: self.now,
            on_lines=lambda _lines, _dropped: None,
            **limits,
        )

    def say(self, text: str, *, later_s: float = 0.0) -> None:
        """Write lines, so much later than the last ones."""
        self.now += later_s
        self.keeper.feed(text.encode())


@pytest.fixture
def log(tmp_path: Path, connector: FakeConnector) -> Iterator[Log]:
    """Return the log of the home that the command looks at; no service writes there."""
    connector.home = tmp_path / "wéir home"
    connector.is_running = False
    made = Log(connector.home)
    yield made
    made.keeper.close()


def _entry(text: str, source: str = "engine", level: str = "info") -> LogEntry:
    return LogEntry(seq=1, at=AT, source=source, level=level, text=text)


def test_our_own_lines_are_marked() -> None:
    """Two programs write one log; the engine's lines stay as it wrote them."""
    assert entry_text(_entry("INFO ready")) == "INFO ready"
    assert entry_text(_entry("ready", source="studio")) == "studio: ready"
    assert entry_text(_entry("INFO x: y", source="service")).endswith(" INFO x: y")


def test_the_newest_lines_are_shown_without_a_service(weir: Weir, log: Log) -> None:
    """After everything has ended is when a log is wanted most."""
    log.say("".join(f"line {n}\n" for n in range(300)))

    assert weir("logs", "-n", "2").out == "line 298\nline 299\n"
    assert weir("logs").out.count("\n") == 200


def test_a_filter_looks_through_all_files(weir: Weir, log: Log) -> None:
    """The one error of the day may be a hundred thousand lines back, in a file of its own."""
    log.keeper.limit(max_bytes=1 << 20, files=9)
    log.say("INFO:     before\nERROR:    the error\nits reason\nINFO:     after\n")
    log.say("".join(f"INFO:     line {n}\n" for n in range(60_000)))

    assert len(list(log.folder.iterdir())) > 2
    assert weir("logs", "-n", "5", "--level", "error").out == "ERROR:    the error\nits reason\n"
    assert weir("logs", "--grep", "THE err.r").out == "ERROR:    the error\n"
    assert (
        weir("logs", "--grep", "line (3|59999)$").out == "INFO:     line 3\nINFO:     line 59999\n"
    )


def test_since_counts_each_line_s_own_time(weir: Weir, log: Log) -> None:
    """The file's time says nothing of a line, and a restart of the service must not matter."""
    log.now = time.time() - 7200
    log.say("long ago\n")
    log.say("an hour ago\n", later_s=3600)
    log.say("just now\n", later_s=3590)

    assert weir("logs", "--since", "10m").out == "just now\n"
    assert weir("logs", "--since", "61m").out == "an hour ago\njust now\n"
    assert weir("logs", "--since", "2099-01-01").err == "The log has no such lines.\n"


def test_since_shows_all_and_lines_bounds_it(weir: Weir, log: Log) -> None:
    """Whoever names a time means everything since, unless a number is named too."""
    log.now = time.time()
    log.say("".join(f"line {n}\n" for n in range(3000)))

    assert weir("logs", "--since", "1h").out.count("\n") == 3000
    assert weir("logs", "--since", "1h", "-n", "3").out.count("\n") == 3


def test_tracebacks_are_folded_by_process_and_whole_on_request(weir: Weir, log: Log) -> None:
    """Two workers fail at once; nobody can read their lines shuffled together."""
    log.say(TRACEBACK)

    assert weir("logs").out.splitlines() == [
        f"(Worker_TP0 pid=7) {HEADER} ValueError: too small [a.py:3 in load, traceback of 3 lines]",
        f"(Worker_TP1 pid=8) {HEADER} OSError: no room [b.py:4 in save, traceback of 3 lines]",
        "(APIServer pid=1) INFO 11-29 14:30:00 [api.py:1] goes on",
    ]
    whole = weir("logs", "--full").out.splitlines()
    assert [line for line in whole if "TP0" in line] == whole[:3]
    assert sorted(whole) == sorted(TRACEBACK.splitlines())


def test_a_search_inside_a_traceback_finds_it(weir: Weir, log: Log) -> None:
    """The file that is looked for stands in a frame, not in the root cause."""
    log.say(TRACEBACK)

    assert weir("logs", "--grep", r"/srv/b\.py").out.startswith("(Worker_TP1 pid=8)")


def test_a_search_finds_what_is_shown(weir: Weir, log: Log) -> None:
    """`studio:` stands before our own lines on the screen, and is typed after `--grep`."""
    log.say("INFO:     of the studio: no\n")
    log.keeper.note("Removed 2 regions.")

    shown = "studio: Removed 2 regions.\n"
    assert weir("logs", "--grep", "^studio").out == shown
    assert weir("logs", "--grep", "studio: rem").out == shown
    assert weir("logs", "--grep", "^removed").out == shown


def test_a_traceback_across_pages_is_one(weir: Weir, log: Log) -> None:
    """Logs are read in pieces; what is shown must not show where they were cut."""
    log.say("INFO:     begin\n" + TRACEBACK.splitlines(keepends=True)[0])
    frame = '(Worker_TP0 pid=7) ERROR 11-29 14:29:59 [core.py:9]   File "/srv/a.py", line 3, in f\n'
    log.say(frame * 3000)
    log.say("(Worker_TP0 pid=7) ERROR 11-29 14:29:59 [core.py:9] ValueError: deep\n")

    shown = weir("logs", "-n", "1").out

    assert shown.endswith("ValueError: deep [a.py:3 in f, traceback of 3002 lines]\n")


def test_json_holds_both_the_root_cause_and_the_whole(weir: Weir, log: Log) -> None:
    """Programs need not ask twice."""
    log.say(TRACEBACK)

    first = json.loads(weir("logs", "--json").out)[0]

    assert first["process"] == "Worker_TP0 pid=7"
    assert first["seq"] == 1
    assert "ValueError: too small" in first["text"]
    assert len(first["whole"]) == 3
    assert first["at"] == AT


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--grep", "("), "pattern-invalid"),
        (("--since", "soon"), "time-invalid"),
        (("--since", "99999999999d"), "time-invalid"),
        (("--set", "files=0"), "log-limit-invalid"),
        (("--set", "files=x"), "log-limit-invalid"),
        (("--set", "colour=red"), "log-limit-unknown"),
    ],
)
def test_what_makes_no_sense_is_named(
    weir: Weir, log: Log, words: tuple[str, ...], code: str
) -> None:
    """Each with what would be right."""
    ran = weir("logs", *words)

    assert (ran.status, ran.out) == (3, "")
    assert f"code: {code}" in ran.err


def test_a_level_that_does_not_exist_is_a_usage_error(weir: Weir) -> None:
    """The levels that exist are listed."""
    ran = weir("logs", "--level", "loud")

    assert ran.status == 2
    assert "debug, info, warning, error" in ran.err


def test_no_such_line_is_said_beside_the_output(weir: Weir) -> None:
    """A filter that finds nothing must not look like a fault, nor become data in a pipe."""
    ran = weir("logs", "--grep", "nothing")

    assert (ran.status, ran.out, ran.err) == (0, "", "The log has no such lines.\n")


def test_the_service_s_own_log_is_shown_on_request(weir: Weir, log: Log) -> None:
    """Also lines that an older version wrote, with the local clock and a comma."""
    log.folder.mkdir(parents=True)
    file_of(log.folder, "service").write_text(
        "2026-11-29 15:57:52,962 INFO studio.a: old\n2026-11-29T15:57:53.001Z ERROR studio.b: new\n"
        "Traceback (most recent call last):\n  File \"x.py\", line 1, in f\nKeyError: 'a'\n"
    )

    lines = weir("logs", "--service").out.splitlines()

    assert [line[20:] for line in lines] == [
        "INFO studio.a: old",
        "ERROR studio.b: new",
        "KeyError: 'a' [x.py:1 in f, traceback of 3 lines]",
    ]


def test_how_much_is_kept_can_be_set_without_a_service(weir: Weir, log: Log) -> None:
    """The next service takes it up."""
    ran = weir("logs", "--set", "file_mib=2", "--set", "files=9")

    assert ran.out == "At most nine files of 2 MiB are kept of the engine's log.\n"
    assert json.loads(weir("logs", "--set", "files=4", "--json").out) == {
        "file_mib": 2, "files": 4,
    }  # fmt: skip


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
        assert "Traceback" not in terminal.text


class Following:
    """A `weir logs -f` that runs, and what it has printed."""

    def __init__(self, weir: RealWeir, *words: str) -> None:
        self.process = weir.start("logs", "-f", *words)
        self.lines: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))

    def wait(self, text: str) -> None:
        """Wait until a line holds `text`."""
        until(lambda: any(text in line for line in self.lines), text)

    def end(self) -> tuple[int, str]:
        """Press Ctrl+C; return exit status and errors."""
        os.kill(self.process.pid, signal.SIGINT)
        assert self.process.stderr is not None
        status = self.process.wait(30)
        self._reader.join(30)
        return status, self.process.stderr.read()


@pytest.fixture
def real(tmp_path: Path) -> Iterator[RealWeir]:
    """Return the real command line in a home where nothing runs."""
    with fake_weir(tmp_path, boot_s=0.05) as made:
        yield made


def test_following_loses_no_line_of_a_burst_across_rotations(real: RealWeir) -> None:
    """A hundred thousand lines, and the files are rotated under the reader's hands."""
    log = Log(real.paths.home, max_bytes=2 << 20, backups=9)
    log.say("first\n")
    following = Following(real)
    following.wait("first")

    for start in range(0, 100_000, 2000):
        log.say("".join(f"line {n}\n" for n in range(start, start + 2000)))
    following.wait("line 99999")
    status, errors = following.end()

    assert following.lines == ["first", *(f"line {n}" for n in range(100_000))]
    assert status == 130
    assert "Traceback" not in errors


def test_following_says_where_lines_are_missing(real: RealWeir) -> None:
    """A gap that is not marked would be read as silence."""
    log = Log(real.paths.home, max_bytes=2000, backups=1)
    log.say("first\n")
    following = Following(real)
    following.wait("first")
    os.kill(following.process.pid, signal.SIGSTOP)
    log.say("".join(f"line {n}\n" for n in range(2000)))
    os.kill(following.process.pid, signal.SIGCONT)
    following.wait("line 1999")

    _, errors = following.end()

    assert "lines are left out here" in errors


def test_a_traceback_that_never_ends_is_shown_all_the_same(real: RealWeir) -> None:
    """An engine that was killed in mid traceback has said its last word."""
    log = Log(real.paths.home)
    log.say("first\n")
    following = Following(real)
    following.wait("first")

    log.say('Traceback (most recent call last):\n  File "x.py", line 1, in f\n')

    following.wait("traceback of 2 lines")
    following.end()


def test_following_survives_restarts_of_engine_and_service(real: RealWeir) -> None:
    """Whoever watches a machine overnight wants to see the morning too."""
    following = Following(real)
    for words in (("up", "--detach"), ("restart",), ("down",), ("up", "--detach")):
        done = real.run(*words)
        assert done.returncode == 0, done.stderr

    until(
        lambda: sum("startup complete" in line for line in following.lines) == 3,
        "three boots, each once",
    )
    assert sum(line.startswith("studio: Starting fake-demo") for line in following.lines) == 3
    status, _ = following.end()
    assert status == 130


def test_the_regular_expression_of_a_person_runs_away_from_the_service(real: RealWeir) -> None:
    """One that never ends costs the one who typed it Ctrl+C, and nobody an answer."""
    log = Log(real.paths.home)
    log.say("a" * 40 + "!\n")
    process = real.start("logs", "--grep", "(a+)+$")

    child = psutil.Process(process.pid)
    until(lambda: child.cpu_times().user > RUNAWAY_CPU_S, "the expression that runs away")
    os.kill(process.pid, signal.SIGINT)

    assert process.wait(10) == 130
