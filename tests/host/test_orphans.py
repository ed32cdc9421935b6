"""Engine processes that nobody owns: found by three signs, and nobody else's are touched."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from studio.host import orphans
from studio.host.child import MARKER
from tests.fakes.waiting import is_alive, until

IDLE = "import sys; print('up', flush=True); sys.stdin.read()"
CHANGED = f"""
import os, sys
sys.path.insert(0, {str(Path(__file__).resolve().parents[2])!r})
from tests.fakes.vllm import tree
os.chdir("/")
tree.rename("VLLM::Worker", "VLLM::Worker_TP0")
print('up', flush=True); sys.stdin.read()
"""
FORKED = f"""
import os, sys
sys.path.insert(0, {str(Path(__file__).resolve().parents[2])!r})
from tests.fakes.vllm import tree
pids = []
for name in ("VLLM::EngineCore", "somebody"):
    reader, writer = os.pipe()
    pids.append(os.fork())
    if pids[-1] == 0:
        tree.rename(name, name)
        os.write(writer, b"x")
        sys.stdin.read(); os._exit(0)
    os.read(reader, 1)
print(*pids, flush=True); sys.stdin.read()
"""
PARENT = (
    "import subprocess, sys, os\n"
    "clean = {name: value for name, value in os.environ.items() if name != 'WEIR_ENGINE'}\n"
    "child = subprocess.Popen([sys.executable, '-c', 'import sys; sys.stdin.read()'],"
    " stdin=subprocess.PIPE, env=clean, start_new_session=True)\n"
    "print(child.pid, flush=True); sys.stdin.read()"
)
Start = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def start() -> Iterator[Start]:
    """Return a function that starts a process of a session of its own; all are ended after."""
    started: list[subprocess.Popen[bytes]] = []

    def begin(home: Path | None, code: str = IDLE) -> subprocess.Popen[bytes]:
        environment = {name: value for name, value in os.environ.items() if name != MARKER}
        if home is not None:
            environment[MARKER] = str(home)
        process = subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            start_new_session=True,
        )
        started.append(process)
        return process

    yield begin
    for process in started:
        process.kill()
        process.communicate(timeout=20)


def said(process: subprocess.Popen[bytes]) -> bytes:
    """Return the first line that it prints."""
    assert process.stdout is not None
    return process.stdout.readline().strip()


def test_a_process_that_changed_its_name_and_folder_is_found(start: Start, tmp_path: Path) -> None:
    """vLLM's workers call themselves what they like; they are named so when they are ended."""
    orphan = start(tmp_path, CHANGED)
    said(orphan)

    (ended,) = orphans.sweep(tmp_path)

    assert (ended.pid, ended.name, ended.is_gone) == (orphan.pid, "VLLM::Worker_TP0", True)
    assert orphans.in_words([ended]) == f"VLLM::Worker_TP0 ({orphan.pid})"
    assert not is_alive(orphan.pid)


def test_a_process_without_the_marker_is_found_by_its_session(start: Start, tmp_path: Path) -> None:
    """A title written over the environment takes the marker with it."""
    orphan, bystander = start(None), start(None)
    said(orphan)
    said(bystander)
    orphans.own(tmp_path, orphan.pid)

    assert [one.pid for one in orphans.sweep(tmp_path)] == [orphan.pid]

    assert bystander.poll() is None
    assert orphans.recorded(tmp_path) is None


def test_a_child_of_a_marked_one_in_a_session_of_its_own_is_found(
    start: Start, tmp_path: Path
) -> None:
    """A compile worker that was started with another environment."""
    orphan = start(tmp_path, PARENT)
    child = int(said(orphan))

    assert {one.pid for one in orphans.sweep(tmp_path)} == {orphan.pid, child}

    until(lambda: not is_alive(child), "its end")


def test_a_number_that_another_process_got_is_not_ours(start: Start, tmp_path: Path) -> None:
    """The leader is long dead, and somebody's shell leads a session of the same number."""
    stranger = start(None)
    said(stranger)
    kept = orphans.own(tmp_path, stranger.pid)
    assert kept is not None
    file = orphans.record_file(tmp_path)

    earlier = msgspec.structs.replace(kept, started_at=kept.started_at - 3600)
    file.write_bytes(msgspec.json.encode(earlier))
    assert orphans.sweep(tmp_path) == []
    other_boot = msgspec.structs.replace(kept, boot="another run of the machine")
    file.write_bytes(msgspec.json.encode(other_boot))
    assert orphans.sweep(tmp_path) == []

    assert stranger.poll() is None


def test_a_session_whose_leader_is_dead_is_still_ours(start: Start, tmp_path: Path) -> None:
    """SIGKILL of the API server, the guard and the service: EngineCore stays, without a parent."""
    leader = start(None, FORKED)
    core, stranger = (int(word) for word in said(leader).split())
    orphans.own(tmp_path, leader.pid)
    leader.send_signal(signal.SIGKILL)
    leader.wait(20)

    assert [one.pid for one in orphans.sweep(tmp_path)] == [core]

    assert is_alive(stranger)  # the number may have gone to a session of somebody else's
    os.kill(stranger, signal.SIGKILL)


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b'{"session": "x"}', b"\xff" * 40])
def test_a_record_that_cannot_be_read_is_none(tmp_path: Path, text: bytes) -> None:
    """A start must not fail for it."""
    file = orphans.record_file(tmp_path)
    file.parent.mkdir()
    file.write_bytes(text)

    assert orphans.recorded(tmp_path) is None
    assert orphans.sweep(tmp_path) == []


def test_regions_are_added_to_what_is_written_down(tmp_path: Path) -> None:
    """Whoever comes after a kill knows what to remove."""
    orphans.own(tmp_path, os.getpid())
    orphans.add_regions(tmp_path, ["b", "a"])
    orphans.add_regions(tmp_path, ["a", "c"])

    kept = orphans.recorded(tmp_path)
    assert kept is not None
    assert kept.regions == ("a", "b", "c")
    assert orphans.record_file(tmp_path).stat().st_mode & 0o077 == 0

    orphans.forget(tmp_path)
    orphans.add_regions(tmp_path, ["d"])
    assert orphans.recorded(tmp_path) is None


def test_a_leader_that_is_gone_is_not_written_down(tmp_path: Path) -> None:
    """An engine that dies in its first millisecond."""
    assert orphans.own(tmp_path, 999_999_999) is None
    assert not orphans.record_file(tmp_path).exists()
