"""One engine: ready means a generated token, and nothing is left at the end."""

import asyncio
import contextlib
import dataclasses
import itertools
import shutil
import signal
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from studio.domain.errors import EngineFailed
from studio.domain.server import BootPhase, EngineSnapshot, EngineState
from studio.host import processes
from studio.serving.command import Launch
from studio.serving.life import Life
from studio.serving.logs import LogKeeper
from tests.fakes.waiting import until_async
from tests.serving.keeping import LIMIT_S, fake_launch

BOOTING = EngineSnapshot(state=EngineState.STARTING, preset="fake-demo")
READY = EngineSnapshot(state=EngineState.READY, preset="fake-demo")

LIAR = """
import http.server, os, socketserver, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self): self.answer(200, b"")
    def do_POST(self): self.answer({status}, {body!r})
    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def address_string(self): return "someone"
print("engine version nobody knows", flush=True)
socketserver.UnixStreamServer(sys.argv[1], Handler).serve_forever()
"""


@dataclasses.dataclass(slots=True, kw_only=True)
class Told:
    """What a life said."""

    life: Life
    log: LogKeeper
    home: Path
    news: int = 0
    ready: int = 0
    unusable: int = 0
    started: list[int] = dataclasses.field(default_factory=list)
    part_died: asyncio.Event = dataclasses.field(default_factory=asyncio.Event)

    def on_ready(self) -> None:
        """It generated a token."""
        self.ready += 1

    def on_unusable(self) -> None:
        """It will not."""
        self.unusable += 1
        self.life.kill()

    def left(self) -> list[str]:
        """Return what still exists of it."""
        found = [str(process.pid) for process in processes.marked(self.home)]
        return found + [path.name for path in self.home.glob("*.sock")]


@pytest.fixture
def home() -> Iterator[Path]:
    """Return a folder short enough for a socket."""
    folder = Path(tempfile.mkdtemp(prefix="wéir "))
    yield folder
    shutil.rmtree(folder)


@contextlib.asynccontextmanager
async def living(launch: Launch, home: Path) -> AsyncIterator[Told]:
    """Yield a life that runs; it must end by itself or be ended inside."""
    told: Told

    def on_news() -> None:
        told.news += 1

    log = LogKeeper(home / "engine.log", clock=time.time, on_lines=lambda _lines, _dropped: None)
    told = Told(life=Life(launch, home=home, log=log, on_news=on_news), log=log, home=home)
    try:
        async with asyncio.timeout(LIMIT_S), asyncio.TaskGroup() as tasks:
            running = told.life.run(
                on_start=told.started.append,
                on_ready=told.on_ready,
                on_unusable=told.on_unusable,
                on_part_died=lambda _killed: told.part_died.set(),
            )
            tasks.create_task(running)
            yield told
        assert told.left() == []
    finally:
        log.close()


async def test_it_is_ready_once_and_only_after_a_token(home: Path, tmp_path: Path) -> None:
    """`/health` says 200 before anything was computed."""
    async with living(fake_launch(home, tmp_path), home) as told:
        await until_async(lambda: told.ready > 0, "its readiness")
        at_ready = told.life.complete(READY)
        authorization = (b"authorization", f"Bearer {told.life.key}".encode())
        _, _, metrics = await told.life.upstream.fetch(
            "GET", "/metrics", headers=[authorization], timeout_s=5
        )
        told.life.terminate()

    assert (told.ready, told.unusable) == (1, 0)
    counted = [line for line in metrics.splitlines() if b"generation_tokens_total{" in line]
    assert float(counted[0].split()[-1]) >= 1
    assert at_ready.pool_tokens == 23_296
    assert at_ready.boot_s == at_ready.phases[-1].ended_s
    assert told.life.exit_code == 0
    assert told.life.pid is None


async def test_phases_follow_each_other_without_gaps(home: Path, tmp_path: Path) -> None:
    """The forecast bar is drawn from them; two open phases would be two bars."""
    async with living(fake_launch(home, tmp_path, boot_s=0.3), home) as told:
        await until_async(lambda: len(told.life.complete(BOOTING).phases) > 2, "some phases")
        booting = told.life.complete(BOOTING)
        await until_async(lambda: told.ready > 0, "its readiness")
        phases = told.life.complete(READY).phases
        told.life.kill()

    assert booting.phase is booting.phases[-1].phase
    assert [phase.ended_s is None for phase in booting.phases] == [
        *[False] * (len(booting.phases) - 1),
        True,
    ]
    order = list(BootPhase)
    places = [order.index(phase.phase) for phase in phases]
    assert places == sorted(set(places))
    for earlier, later in itertools.pairwise(phases):
        assert earlier.ended_s == later.started_s


async def test_an_engine_whose_words_are_unknown_is_found_all_the_same(home: Path) -> None:
    """A new version may change every line of its log; the slow look still finds it."""
    launch = fake_launch(home, home, program=LIAR.format(status=200, body=b'{"choices": []}'))

    async with living(launch, home) as told:
        await until_async(lambda: told.ready > 0, "its readiness")
        told.life.kill()

    assert told.life.complete(READY).pool_tokens is None


@pytest.mark.parametrize(
    ("status", "body"),
    [(500, b'{"choices": []}'), (200, b"<html>a proxy</html>"), (404, b""), (401, b"{}")],
)
async def test_an_engine_that_cannot_generate_is_of_no_use(
    home: Path, status: int, body: bytes
) -> None:
    """It listens, and that is all: wrong key, wrong model, wrong program."""
    launch = fake_launch(home, home, program=LIAR.format(status=status, body=body))

    async with living(launch, home) as told:
        pass

    assert (told.ready, told.unusable) == (0, 1)
    problem = told.life.last_words()
    assert problem.code == "engine-cannot-generate"
    assert str(status) in problem.message
    assert problem.exit_status == EngineFailed.exit_status


async def test_the_last_words_hold_the_last_lines(home: Path) -> None:
    """What no signature explains is at least shown."""
    code = "import sys\nfor n in range(20): print('line', n)\nsys.exit(9)"

    async with living(fake_launch(home, home, program=code), home) as told:
        pass

    words = told.life.last_words()
    assert words.code == "engine-died"
    assert "exit code 9" in words.message
    assert "before it was ready" in words.message
    assert words.evidence == ("line 15", "line 16", "line 17", "line 18", "line 19")
    assert told.unusable == 0


async def test_an_unfinished_last_line_is_kept(home: Path) -> None:
    """A crash in C ends without a line break, and that line is the cause."""
    code = "import os; os.write(2, b'free(): invalid pointer'); os.abort()"

    async with living(fake_launch(home, home, program=code), home) as told:
        pass

    assert told.life.exit_code == -signal.SIGABRT
    assert [line.text for line in told.log.tail(9)] == ["free(): invalid pointer"]


async def test_output_that_is_no_text_ends_nothing(home: Path) -> None:
    """Progress bars, colours, zero bytes, half a UTF-8 letter."""
    code = (
        "import os\n"
        "os.write(1, b'\\x1b[31mred\\x1b[0m \\xff\\xfe \\x00 \\xc3')\n"
        "os.write(1, b'\\xa9t\\xc3\\xa9\\r\\n' + b'x' * 3_000_000 + b'\\nend\\n')"
    )

    async with living(fake_launch(home, home, program=code), home) as told:
        pass

    lines = [line.text for line in told.log.tail(9)]
    assert lines[-1] == "end"
    assert "\x1b" not in "".join(lines)
    assert "été" in lines[0]
    assert told.life.exit_code == 0


async def test_a_kill_before_its_birth_is_not_forgotten(home: Path, tmp_path: Path) -> None:
    """`stop` may come while the process is being made."""
    async with living(fake_launch(home, tmp_path, boot_s=60.0), home) as told:
        told.life.kill()

    assert told.life.exit_code == -signal.SIGKILL
    assert told.ready == 0
