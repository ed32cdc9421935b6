"""The guard as a program: what it reports, and when it ends what. See also test_child.py."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from studio.host.child import GUARD
from tests.fakes.waiting import is_alive, until

LIMIT_S = 20.0


class Guarded:
    """A guard with its three pipes."""

    def __init__(self, *command: str, grace_s: float) -> None:
        read_end, write_end = os.pipe()
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(GUARD), str(write_end), str(grace_s), *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=(write_end,),
            start_new_session=True,
        )
        os.close(write_end)
        self.report = os.fdopen(read_end, "r")
        word, number = self.report.readline().split()
        assert word == "pid"
        self.leader = int(number)

    def line(self) -> bytes:
        """Return the next line of the command's output."""
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def let_go(self) -> None:
        """Close the pipe that the service holds."""
        assert self.process.stdin is not None
        self.process.stdin.close()

    def end(self) -> None:
        """Leave nothing behind."""
        for pid in (self.leader, self.process.pid):
            if is_alive(pid):
                os.kill(pid, signal.SIGKILL)
        self.let_go()
        self.process.stdin = None
        self.process.communicate(timeout=LIMIT_S)
        self.report.close()


Start = Callable[..., Guarded]


@pytest.fixture
def start() -> Iterator[Start]:
    """Return a function that starts a guard; it is ended after the test."""
    started: list[Guarded] = []

    def begin(code: str, grace_s: float = 1.0) -> Guarded:
        started.append(Guarded(sys.executable, "-c", code, grace_s=grace_s))
        return started[-1]

    yield begin
    for guarded in started:
        guarded.end()


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("raise SystemExit(0)", 0),
        ("raise SystemExit(7)", 7),
        ("import os, signal; os.kill(os.getpid(), signal.SIGABRT)", -signal.SIGABRT),
    ],
)
def test_it_reports_the_exit_code_once_and_ends(start: Start, code: str, status: int) -> None:
    """A signal is told from an exit status: the out-of-memory killer is not a mistake."""
    guarded = start(code)

    assert guarded.report.read() == f"exit {status}\n"
    assert guarded.process.wait(LIMIT_S) == 0


def test_the_engine_leads_a_session_of_its_own_and_reads_nothing(start: Start) -> None:
    """Ctrl+C in the terminal must not reach it, and the service's pipe is not its input."""
    guarded = start(
        "import os, sys; print(os.getsid(0) == os.getpid(), sys.stdin.read() == '', flush=True)"
    )

    assert guarded.line() == b"True True\n"


def test_whoever_hears_of_the_engine_can_end_its_group_at_once(start: Start) -> None:
    """A stop in the first millisecond must not be lost: the engine would boot on for minutes."""
    for _ in range(5):
        guarded = start("import signal; signal.pause()")

        os.killpg(guarded.leader, signal.SIGKILL)

        assert guarded.report.read() == f"exit {-signal.SIGKILL}\n"


def test_no_pipe_of_the_service_leaks_into_the_engine(start: Start) -> None:
    """A copy of the report pipe in the engine would keep the service waiting for its end."""
    guarded = start("import os; print(sorted(map(int, os.listdir('/proc/self/fd')))[:-1])")

    assert guarded.line() == b"[0, 1, 2]\n"


def test_a_closed_pipe_asks_the_engine_to_end(start: Start) -> None:
    """However the service dies, its end of the pipe closes."""
    guarded = start(
        "import signal, sys, threading\n"
        "done = threading.Event()\n"
        "signal.signal(signal.SIGTERM, lambda *_: done.set())\n"
        "print('up', flush=True); done.wait(); sys.exit(5)",
        grace_s=LIMIT_S,
    )
    assert guarded.line() == b"up\n"

    guarded.let_go()

    assert guarded.report.read() == "exit 5\n"


def test_an_engine_that_will_not_end_is_killed_after_the_grace(start: Start) -> None:
    """Nobody is left to wait for it."""
    guarded = start(
        "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "print('up', flush=True)\nwhile True: signal.pause()",
        grace_s=0.2,
    )
    assert guarded.line() == b"up\n"

    guarded.let_go()

    assert guarded.report.read() == f"exit {-signal.SIGKILL}\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_to_the_guard_ends_the_engine(start: Start, number: signal.Signals) -> None:
    """Somebody who kills by name may hit the guard first."""
    guarded = start("import signal; print('up', flush=True); signal.pause()")
    assert guarded.line() == b"up\n"

    guarded.process.send_signal(number)

    assert guarded.report.read() == f"exit {-signal.SIGTERM}\n"


def test_orphans_of_orphans_are_ended_before_the_end_is_reported(start: Start) -> None:
    """A double fork is how daemons hide; the card is free only when they are gone."""
    guarded = start(
        "import os, signal, sys\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork() == 0:\n"
        "        signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "        print(os.getpid(), flush=True)\n"
        "        while True: signal.pause()\n"
        "    os._exit(0)\n"
        "os.wait()\n"
        "sys.stdin.read()\n"
        "import threading; threading.Event().wait()"
    )
    hidden = int(guarded.line())
    assert is_alive(hidden)

    os.kill(guarded.leader, signal.SIGKILL)

    assert guarded.report.read() == f"exit {-signal.SIGKILL}\n"
    assert not is_alive(hidden)


def test_a_killed_guard_takes_the_leader_along(start: Start) -> None:
    """The kernel does that; nobody else could."""
    guarded = start("import signal; print('up', flush=True); signal.pause()")
    assert guarded.line() == b"up\n"

    guarded.process.kill()

    until(lambda: not is_alive(guarded.leader), "the leader's end")


def test_after_a_killed_leader_only_the_tracker_gets_time(start: Start, tmp_path: Path) -> None:
    """EngineCore computes for nobody then; the tracker frees the shared memory of all of them."""
    done = tmp_path / "freed"
    code = (
        "import subprocess, sys, signal\n"
        "idle = 'import signal; signal.pause()'\n"
        "free = 'import pathlib, sys, time; time.sleep(0.2); pathlib.Path(sys.argv[1]).touch()'\n"
        "core = subprocess.Popen([sys.executable, '-c', idle])\n"
        "tracker = subprocess.Popen("
        f"[sys.executable, '-c', free, {str(done)!r}, 'resource_tracker'])\n"
        "print(core.pid, flush=True); signal.pause()"
    )
    guarded = start(code)
    core = int(guarded.line())

    os.kill(guarded.leader, signal.SIGKILL)
    until(lambda: not is_alive(core), "the end of the core")
    early = not done.exists()

    assert guarded.report.read() == f"exit {-signal.SIGKILL}\n"
    assert early
    assert done.exists()
