"""Our processes are known by their marker, nobody else's are touched."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from studio.host import orphans, processes
from studio.host.child import MARKER
from tests.fakes.waiting import is_alive, until

IDLE = "import sys; print('up', flush=True); sys.stdin.read()"
Start = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def start() -> Iterator[Start]:
    """Return a function that starts an idle process; all are ended after the test."""
    started: list[subprocess.Popen[bytes]] = []

    def begin(home: Path | None, *words: str, code: str = IDLE) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, "-c", code, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **({MARKER: str(home)} if home else {})},
        )
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline()
        return process

    yield begin
    for process in started:
        process.kill()
        process.communicate(timeout=20)


def test_a_sweep_ends_what_this_home_left_and_nothing_else(start: Start, tmp_path: Path) -> None:
    """Two homes may serve on one machine; a prefix of a path is another path."""
    home = tmp_path / "wéir home"
    orphan = start(home)
    bystanders = [start(None), start(tmp_path), start(tmp_path / "wéir home 2")]

    assert [one.pid for one in orphans.sweep(home)] == [orphan.pid]

    assert not is_alive(orphan.pid)
    assert all(process.poll() is None for process in bystanders)
    assert orphans.sweep(home) == []


def test_a_sweep_ends_even_a_stopped_process(start: Start, tmp_path: Path) -> None:
    """An orphan under a debugger still holds the card."""
    orphan = start(tmp_path)
    orphan.send_signal(signal.SIGSTOP)
    until(lambda: psutil.Process(orphan.pid).status() == psutil.STATUS_STOPPED, "the stop")

    orphans.sweep(tmp_path)

    assert not is_alive(orphan.pid)


def test_the_dead_are_not_counted(start: Start, tmp_path: Path) -> None:
    """A zombie cannot be killed again, and waiting for it would take for ever."""
    orphan = start(tmp_path)
    orphan.kill()
    until(lambda: not is_alive(orphan.pid), "its end")

    assert processes.marked(tmp_path) == []


@pytest.mark.parametrize(
    ("words", "role"),
    [
        (("serve", "/models/x", "--port", "1"), "engine"),
        (("/studio/host/guard.py", "3", "4.0", "python", "-m", "vllm", "serve", "x"), "guard"),
        (("VLLM::EngineCore",), "engine-core"),
        (("VLLM::Worker_TP0",), "worker"),
        (("from multiprocessing.resource_tracker import main",), "helper"),
        (("served", "--observe"), "helper"),
    ],
)
def test_each_process_has_its_part(start: Start, words: tuple[str, ...], role: str) -> None:
    """`weir ps` has to say which of five Python processes is which."""
    child = start(None, *words)

    rows = processes.tree(os.getpid(), own_role="service")

    assert rows[0].role == "service"
    assert rows[0].pid == os.getpid()
    row = next(row for row in rows if row.pid == child.pid)
    assert row.role == role
    assert row.parent == os.getpid()
    assert all(word in row.command for word in words)
    assert row.rss_bytes is not None
    assert row.rss_bytes > 1 << 20
    assert row.started_at is not None


def test_a_command_line_that_is_no_text_can_still_be_sent(start: Start) -> None:
    """The list goes through JSON; a file name in an old encoding must not break it."""
    child = start(None, os.fsdecode(b"\xff\xfe-name"))

    row = next(r for r in processes.tree(os.getpid(), own_role="x") if r.pid == child.pid)

    assert "-name" in row.command
    row.command.encode("utf-8")


def test_whoever_is_gone_is_unknown_and_not_zero(start: Start) -> None:
    """Zero bytes of memory would be drawn as a fact."""
    child = start(None)
    child.kill()
    child.wait(20)

    assert processes.tree(child.pid, own_role="service") == []
    assert processes.group_memory(child.pid) == (None, None)


def test_memory_counts_the_whole_family(start: Start) -> None:
    """The weights lie in a worker, not in the process that was started."""
    code = (
        "import subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', "
        "'x = bytearray(b\"1\") * (48 << 20); print(1, flush=True); input()'], "
        "stdin=subprocess.PIPE, stdout=subprocess.PIPE)\n"
        "child.stdout.readline(); print('up', flush=True); sys.stdin.read(); child.kill()"
    )
    family = start(None, code=code)

    total, swapped = processes.group_memory(family.pid)
    alone = psutil.Process(family.pid).memory_info().rss

    assert total is not None
    assert total >= alone + (48 << 20)
    assert swapped is not None
    assert swapped >= 0


def test_a_living_process_has_a_start_and_a_dead_one_has_none(start: Start) -> None:
    """A number alone may be anybody's by now; with its start it is one process."""
    process = start(None)
    mine = processes.started_at(os.getpid())
    theirs = processes.started_at(process.pid)

    assert mine is not None
    assert theirs is not None
    assert theirs >= mine
    process.kill()
    until(lambda: not is_alive(process.pid), "its end")
    assert processes.started_at(process.pid) is None
