"""Helpers, with real processes: what they may know, and that none outlives us."""

import asyncio
import os
import shutil
import signal
import sys
import time
from pathlib import Path

import psutil
import pytest

from studio.domain.errors import HostLacks
from studio.host import process
from tests.fakes.waiting import until, until_async

WAIT_S = 20.0

FAMILY = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time\\nwhile True: time.sleep(60)"])
print("family", os.getpid(), child.pid, flush=True)
if "leave" in sys.argv:
    sys.exit(5)
while True:
    time.sleep(60)
"""

PARENT = """
import asyncio, os, sys
from studio.host import process
async def main():
    await process.run([sys.executable, "-c", sys.argv[1]], env=process.helper_environment(),
                      timeout_s=600, on_line=lambda line: print(line, flush=True))
asyncio.run(main())
"""


def python(*arguments: str) -> list[str]:
    """Return a command that runs Python code."""
    return [sys.executable, "-c", *arguments]


def gone(pids: list[int]) -> bool:
    """Wait until the processes are gone; zombies, which wait for init, do not count."""
    living = [psutil.Process(pid) for pid in pids if psutil.pid_exists(pid)]
    deadline = time.monotonic() + WAIT_S
    while living and time.monotonic() < deadline:
        _ended, left = psutil.wait_procs(living, timeout=0.05)
        living = [p for p in left if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]
    return not living


class Ears:
    """Hears a helper's lines and tells when the family has been announced."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.spoke = asyncio.Event()

    def hear(self, line: str) -> None:
        """Take a line."""
        self.lines.append(line)
        if line.startswith("family"):
            self.spoke.set()

    @property
    def pids(self) -> list[int]:
        """Return the family's process ids."""
        return [int(word) for word in self.lines[0].split()[1:]]


async def test_lines_end_at_carriage_returns_too() -> None:
    """Progress bars draw over themselves; taken as one line they would be megabytes."""
    code = r"import sys; sys.stdout.write('a 1\ra 2\r\nb\n\nlast')"
    heard: list[str] = []

    result = await process.run(
        python(code), env=process.helper_environment(), timeout_s=WAIT_S, on_line=heard.append
    )

    assert heard == ["a 1", "a 2", "b", "last"]
    assert result == process.RunResult(exit_code=0, tail=("a 1", "a 2", "b", "last"))


async def test_both_streams_and_the_exit_code_arrive() -> None:
    """A helper's reason for failing stands on standard error."""
    code = "import sys; print('why', file=sys.stderr); sys.exit(7)"

    result = await process.run(python(code), env=process.helper_environment(), timeout_s=WAIT_S)

    assert (result.exit_code, result.tail) == (7, ("why",))


async def test_a_line_without_end_is_cut() -> None:
    """A program that prints megabytes without a newline must not fill our memory."""
    code = "import sys; [sys.stdout.write('x' * 100_000) for _ in range(50)]; print(); print('end')"

    result = await process.run(python(code), env=process.helper_environment(), timeout_s=WAIT_S)

    assert result.tail[-1] == "end"
    assert max(map(len, result.tail)) <= 16_384


async def test_bytes_that_are_no_text_do_not_stop_it() -> None:
    """File names and compilers print what they like."""
    code = r"import sys; sys.stdout.buffer.write(b'caf\xe9 \xff\n')"

    result = await process.run(python(code), env=process.helper_environment(), timeout_s=WAIT_S)

    assert result.tail[0].startswith("caf")


def test_the_environment_is_an_allow_list() -> None:
    """Keys of ours, and settings of another Python, must not reach a helper."""
    ours = {
        "PATH": "/bin",
        "HTTPS_PROXY": "http://proxy:1",
        "LC_ALL": "C",
        "VLLM_API_KEY": "secret",
        "HF_TOKEN": "secret",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "PYTHONPATH": "/elsewhere",
        "PYTHONDONTWRITEBYTECODE": "1",
        "VIRTUAL_ENV": "/venv",
        "CONDA_PREFIX": "/conda",
        "LD_PRELOAD": "/evil.so",
    }

    kept = process.helper_environment({"OWN": "1"}, environ=ours)

    assert kept == {"PATH": "/bin", "HTTPS_PROXY": "http://proxy:1", "LC_ALL": "C", "OWN": "1"}


async def test_a_missing_program_is_named() -> None:
    """The person must learn which program is missing, not see a traceback."""
    with pytest.raises(HostLacks) as caught:
        await process.run(["weir-no-such-program"], env={"PATH": "/bin"}, timeout_s=WAIT_S)

    assert caught.value.code == "program-missing"
    assert "weir-no-such-program" in caught.value.message


async def test_a_time_limit_ends_the_whole_group() -> None:
    """A helper's children hold files and ports as well."""
    ears = Ears()

    result = await process.run(
        python(FAMILY), env=process.helper_environment(), timeout_s=2.0, on_line=ears.hear
    )

    assert result.timed_out
    assert gone(ears.pids)


async def test_cancelling_ends_the_whole_group() -> None:
    """Ctrl+C during an installation must leave nothing running."""
    ears = Ears()

    async def cancel_when_up(task: asyncio.Task[object]) -> None:
        await asyncio.wait_for(ears.spoke.wait(), WAIT_S)
        task.cancel()

    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(
            process.run(
                python(FAMILY), env=process.helper_environment(), timeout_s=600, on_line=ears.hear
            )
        )
        tasks.create_task(cancel_when_up(running))

    assert running.cancelled()
    assert gone(ears.pids)


async def test_a_grandchild_that_keeps_the_pipe_does_not_hold_us_up() -> None:
    """Daemons that a helper leaves behind inherit its output; waiting for them would hang."""
    ears = Ears()

    result = await process.run(
        python(FAMILY, "leave"), env=process.helper_environment(), timeout_s=60, on_line=ears.hear
    )

    assert (result.exit_code, result.timed_out) == (5, False)
    assert gone(ears.pids)


@pytest.mark.parametrize("has_setpriv", [True, False])
async def test_a_helper_dies_when_we_are_killed(tmp_path: Path, *, has_setpriv: bool) -> None:
    """An orphaned installer would write into the folder that the next one is building."""
    if has_setpriv and shutil.which("setpriv") is None:
        pytest.skip("util-linux's setpriv is not on this machine")
    path = os.environ["PATH"] if has_setpriv else str(tmp_path)
    code = "import os, time; print(os.getpid(), flush=True)\nwhile True: time.sleep(60)"
    parent = await asyncio.create_subprocess_exec(
        *python(PARENT, code),
        stdout=asyncio.subprocess.PIPE,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "PATH": path},
    )
    assert parent.stdout is not None
    helper = int(await asyncio.wait_for(parent.stdout.readline(), WAIT_S))

    parent.send_signal(signal.SIGKILL)
    await parent.communicate()

    assert gone([helper])


async def test_a_running_helper_can_be_watched() -> None:
    """Progress of an installation is what its process really writes."""
    seen: list[int | None] = []
    code = (
        "import tempfile, sys\nf = tempfile.TemporaryFile(); f.write(b'x' * 3_000_000)\nf.flush()\n"
    )
    code += "print('written', flush=True)\nimport time\nwhile True: time.sleep(60)"

    def look(pid: int) -> None:
        seen.append(process.written_bytes(pid))
        if (seen[-1] or 0) >= 3_000_000:
            os.kill(pid, signal.SIGTERM)

    result = await process.run(
        python(code), env=process.helper_environment(), timeout_s=WAIT_S, on_tick=look
    )

    assert result.exit_code == -signal.SIGTERM
    assert not result.timed_out


async def test_raw_output_and_status_are_handed_over() -> None:
    """For a helper that speaks another encoding; one that hangs has no status."""
    code = "import sys; sys.stdout.buffer.write(b'\\xff\\xfe\\0'); sys.exit(7)"
    environment = process.helper_environment()

    status, raw = await process.capture(python(code), env=environment, timeout_s=WAIT_S)
    hung = await process.capture(
        python("import time; time.sleep(600)"), env=environment, timeout_s=0.2
    )

    assert (status, raw) == (7, b"\xff\xfe\0")
    assert hung == (None, b"")
    with pytest.raises(HostLacks):
        await process.capture(["no-such-program"], env=environment, timeout_s=WAIT_S)


def test_a_program_that_goes_on_writes_into_its_log(tmp_path: Path) -> None:
    """It has no input and a session of its own."""
    log = tmp_path / "lögs/out.log"
    running = process.outliving(
        python("import sys; print(sys.stdin.read() == '')"), os.environ, log
    )

    assert running.wait(WAIT_S) == 0
    assert log.read_text(encoding="utf-8") == "True\n"
    (tmp_path / "file").touch()
    with pytest.raises(HostLacks):
        process.outliving(python(""), os.environ, tmp_path / "file/out.log")


def hold_up(before: set[int]) -> None:
    """Keep the loop busy until every shell that was started has started its program."""
    for child in psutil.Process().children():
        if child.pid not in before:
            until(lambda child=child: child.children() != [], "the program of the shell")


@pytest.mark.parametrize("how", ["run", "start", "capture"])
async def test_a_cancellation_at_any_step_of_a_start_ends_it(how: str) -> None:
    """asyncio alone waits for ever when it comes before the pipes are there, and a program that the
    helper started holds on to them: seen at a shutdown.
    """
    argv, env = ["sh", "-c", "sleep 600; :"], dict(os.environ)
    calls = {
        "run": lambda: process.run(argv, env=env, timeout_s=WAIT_S),
        "start": lambda: process.start(argv, env=env),
        "capture": lambda: process.capture(["sleep", "600"], env=env, timeout_s=WAIT_S),
    }
    before = {child.pid for child in psutil.Process().children()}

    for steps in range(1, 9):
        async with asyncio.timeout(WAIT_S), asyncio.TaskGroup() as tasks:
            task = tasks.create_task(calls[how]())
            for _ in range(steps):
                await asyncio.sleep(0)
            if how != "capture":
                hold_up(before)
            task.cancel()
        if not task.cancelled():
            task.result().end()
            await task.result().last_words()  # its end, heard of while the loop runs

    await until_async(
        lambda: {child.pid for child in psutil.Process().children()} <= before, "the end of all"
    )
