"""`weir top` in a real terminal and in pipes; a service that goes and comes back."""

import asyncio
import contextlib
import io
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence

import msgspec
import psutil
import pytest

from studio.cli import screen as screen_module
from studio.cli import top as top_module
from studio.cli.arguments import parse
from studio.cli.cells import Line, text_of
from studio.cli.console import Console
from studio.domain.metrics import Tick
from tests.cli.fake_service import FakeConnector, FakeService, ticked
from tests.cli.serving_samples import TICK, ready
from tests.cli.terminal import ROOT, Terminal, piped
from tests.cli.typed import Ran
from tests.fakes.waiting import until, until_async

ENTERED, LEFT = "\x1b[?1049h", "\x1b[?1049l"


def test_it_shows_the_figures_and_q_gives_the_terminal_back() -> None:
    """As it was: the old screen, the cursor, what is typed is seen."""
    with Terminal("serving", "top") as terminal:
        terminal.expect("Ready: cpu-demo")
        terminal.expect("q quit")
        assert ENTERED in terminal.raw
        assert not terminal.echoes()
        terminal.type("q")
        assert terminal.finish() == 0
        assert LEFT in terminal.raw
        assert "\x1b[?25h" in terminal.raw
        assert terminal.echoes()


def test_pages_open_and_close_by_keys() -> None:
    """Without Enter."""
    with Terminal("serving", "top") as terminal:
        terminal.expect("q quit")
        terminal.type("?")
        terminal.expect("any other key goes back")
        terminal.forget()
        terminal.type("x")
        terminal.expect("a alarms")
        terminal.type("p")
        terminal.expect("paused")
        terminal.type("q")
        assert terminal.finish() == 0


@pytest.mark.parametrize(
    ("end", "status"),
    [(Terminal.interrupt, 130), (lambda one: one.signal(signal.SIGTERM), 130)],
    ids=["ctrl-c", "sigterm"],
)
def test_every_end_gives_the_terminal_back(end: Callable[[Terminal], None], status: int) -> None:
    """A terminal without a cursor has to be closed."""
    with Terminal("serving", "top") as terminal:
        terminal.expect("q quit")
        end(terminal)
        assert terminal.finish() == status
        assert LEFT in terminal.raw
        assert terminal.echoes()


def test_a_new_size_is_drawn_at_once() -> None:
    """Also one that is too small."""
    with Terminal("serving", "top") as terminal:
        terminal.expect("q quit")
        terminal.forget()
        terminal.resize(70, 20)
        terminal.expect("70 × 20")
        terminal.forget()
        terminal.resize(120, 40)
        terminal.expect("q quit")
        terminal.type("q")
        assert terminal.finish() == 0


def test_ctrl_z_gives_the_terminal_back_until_it_goes_on() -> None:
    """The shell that comes up needs a cursor and its own screen."""
    with Terminal("serving", "top") as terminal:
        terminal.expect("q quit")
        terminal.forget()
        terminal.type("\x1a")
        process = psutil.Process(terminal.pid)
        until(lambda: process.status() == psutil.STATUS_STOPPED, "the stop")
        assert terminal.echoes()
        terminal.signal(signal.SIGCONT)
        terminal.expect("q quit")
        assert terminal.raw.index(LEFT) < terminal.raw.index(ENTERED)
        terminal.type("q")
        assert terminal.finish() == 0


def test_without_colour_there_is_none() -> None:
    """NO_COLOR is obeyed; nothing is told by colour alone."""
    with Terminal("serving", "top", NO_COLOR="1") as terminal:
        terminal.expect("q quit")
        terminal.type("q")
        assert terminal.finish() == 0
        assert re.search(r"\x1b\[[0-9;]*m", terminal.raw) is None


def test_a_dumb_terminal_is_refused_with_the_way_out() -> None:
    """It would show garbage."""
    with Terminal("serving", "top", TERM="dumb") as terminal:
        assert terminal.finish() == 3
        assert "weir top --json" in terminal.text
        assert ENTERED not in terminal.raw


def test_a_pipe_is_refused_with_the_way_out() -> None:
    """`weir top | less` cannot work."""
    done = piped("serving", "top")

    assert done.returncode == 3
    assert b"top-needs-terminal" in done.stderr


def test_without_a_service_there_is_nothing_to_watch() -> None:
    """As for `weir status`."""
    assert piped("fresh", "top").returncode == 6


def test_ticks_are_one_document_a_line_and_a_closed_pipe_ends_them() -> None:
    """`weir top --json | head -1` is over by itself."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.cli.fake_weir", "ticking", "top", "--json"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stdout, process.stderr:
        first = msgspec.json.decode(process.stdout.readline(), type=Tick)
        second = msgspec.json.decode(process.stdout.readline(), type=Tick)
        process.stdout.close()
        assert process.wait(20) == 0
        assert b"Traceback" not in process.stderr.read()
    assert first.decode_tokens_per_s == TICK.decode_tokens_per_s
    assert second.at > first.at


# In this process: a service that goes and comes back


class Shown:
    """Stands for the terminal, and keeps what was drawn."""

    def __init__(self, *_: object, **__: object) -> None:
        Shown.last = self
        self.lines: list[str] = []
        self.draws = 0
        self.press: Callable[[str], None] = lambda _key: None

    last: "Shown"

    @contextlib.contextmanager
    def opened(self, on_key: Callable[[str], None], _change: Callable[[], None]) -> Iterator[None]:
        """Take keys from the test."""
        self.press = on_key
        yield

    def size(self) -> tuple[int, int]:
        """Return the smallest size."""
        return 80, 24

    def draw(self, lines: Sequence[Line]) -> None:
        """Keep a screen."""
        self.draws += 1
        self.lines = [text_of(line) for line in lines]

    @property
    def text(self) -> str:
        """Return the screen."""
        return "\n".join(self.lines)


class Tty(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        """Say so."""
        return True


@pytest.fixture
def _on_paper(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(screen_module, "Screen", Shown)
    monkeypatch.setattr(top_module, "_RETRY_S", 0.01)


def begun(tasks: asyncio.TaskGroup, connector: FakeConnector) -> "asyncio.Task[int]":
    """Start `weir top`."""
    console = Console(Tty(), io.StringIO(), environ={})
    return tasks.create_task(top_module.top(parse(["top"]), connector, console))


@pytest.mark.usefixtures("_on_paper")
async def test_a_service_that_goes_is_said_and_found_again(
    connector: FakeConnector, service: FakeService
) -> None:
    """A restart of the service must not cost the screen."""
    service.engine = ready()
    async with asyncio.TaskGroup() as tasks:
        task = begun(tasks, connector)
        await until_async(lambda: bool(service.watchers), "the stream")
        service.announce(ticked())
        await until_async(lambda: "132 tok/s" in Shown.last.text, "a tick")
        watched = Shown.last
        service.end_streams("weir down")
        service.is_running = False
        await until_async(lambda: "service is gone (weir down)" in watched.text, "the end")
        assert "132 tok/s" in watched.text
        service.is_running = True
        await until_async(lambda: bool(service.watchers), "the stream again")
        await until_async(lambda: "gone" not in watched.text, "the service again")
        watched.press("q")
        assert await task == 0


@pytest.mark.usefixtures("_on_paper")
async def test_a_service_that_is_killed_is_found_again(
    connector: FakeConnector, service: FakeService
) -> None:
    """It said no word."""
    async with asyncio.TaskGroup() as tasks:
        task = begun(tasks, connector)
        await until_async(lambda: bool(service.watchers), "the stream")
        service.cut_streams()
        await until_async(lambda: "service is gone" in Shown.last.text, "the end")
        service.is_running = True
        await until_async(lambda: "gone" not in Shown.last.text, "the service again")
        Shown.last.press("q")
        assert await task == 0


@pytest.mark.usefixtures("_on_paper")
async def test_a_paused_screen_stands_still_and_goes_on(
    connector: FakeConnector, service: FakeService
) -> None:
    """To read a figure before it is gone."""
    service.engine = ready()
    async with asyncio.TaskGroup() as tasks:
        task = begun(tasks, connector)
        await until_async(lambda: bool(service.watchers), "the stream")
        service.announce(ticked(decode_tokens_per_s=11.0))
        await until_async(lambda: "11.0 tok/s" in Shown.last.text, "a tick")
        Shown.last.press("p")
        await until_async(lambda: "paused" in Shown.last.text, "the pause")
        service.announce(ticked(at=TICK.at + 1, decode_tokens_per_s=22.0))
        for _ in range(20):
            await asyncio.sleep(0)
        assert "22.0" not in Shown.last.text
        Shown.last.press("p")
        await until_async(lambda: "22.0 tok/s" in Shown.last.text, "what came meanwhile")
        Shown.last.press("q")
        assert await task == 0


async def test_the_stream_of_documents_survives_the_service(
    connector: FakeConnector, service: FakeService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What collects them overnight should not have to watch."""
    monkeypatch.setattr(top_module, "_RETRY_S", 0.01)
    out, err = io.StringIO(), io.StringIO()
    console = Console(out, err, json=True, environ={})
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(top_module.top(parse(["top", "--json"]), connector, console))
        await until_async(lambda: bool(service.watchers), "the stream")
        service.announce(ticked())
        await until_async(lambda: out.getvalue().count("\n") == 1, "a tick")
        service.end_streams("weir down")
        await until_async(lambda: "service is gone" in err.getvalue(), "the end")
        await until_async(lambda: "there again" in err.getvalue(), "the service again")
        await until_async(lambda: service.calls.count("GET /events") == 2, "the stream again")
        service.announce(ticked(at=TICK.at + 9))
        await until_async(lambda: out.getvalue().count("\n") == 2, "another tick")
        task.cancel()
    lines = out.getvalue().splitlines()
    assert [msgspec.json.decode(line, type=Tick).at for line in lines] == [TICK.at, TICK.at + 9]


def test_help_names_it(weir: Callable[..., Ran]) -> None:
    """It is found where commands are."""
    assert "top" in weir("--help").out
    assert "one JSON document a line" in " ".join(weir("top", "--help").out.split())
