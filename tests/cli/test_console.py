"""Streams that break, terminals that cannot show everything, questions."""

import asyncio
import contextlib
import fcntl
import io
import os
import pty
import struct
import termios
import tty
from collections.abc import Iterator
from pathlib import Path

import pytest

from studio.cli.console import Console, OutputClosed, plain
from studio.domain.errors import ErrorInfo, HostLacks


@pytest.fixture
def terminal() -> Iterator[tuple[int, io.TextIOWrapper]]:
    """A pseudo-terminal: the person's side and the program's."""
    person, side = pty.openpty()
    tty.setraw(side)
    with os.fdopen(side, "r+b", buffering=0) as raw, io.TextIOWrapper(raw, "utf-8") as stream:
        yield person, stream
    os.close(person)


def _wrapper(encoding: str) -> tuple[io.BytesIO, io.TextIOWrapper]:
    raw = io.BytesIO()
    return raw, io.TextIOWrapper(raw, encoding=encoding)


def test_characters_that_the_terminal_lacks_become_near_ones() -> None:
    """A terminal in the C locale must show text, not a traceback."""
    raw, out = _wrapper("ascii")
    console = Console(out, io.StringIO(), environ={})

    console.say("pool – of 8 tokens · 3 → 4 模")

    assert raw.getvalue() == b"pool - of 8 tokens | 3 -> 4 ?\n"


def test_json_is_utf8_whatever_the_terminal_speaks() -> None:
    """A program that reads the document expects JSON, which is UTF-8."""
    raw, out = _wrapper("ascii")
    console = Console(out, io.StringIO(), json=True, environ={})

    console.document({"title": "模型 – 1"})

    assert raw.getvalue().decode() == '{"title":"模型 – 1"}\n'


def test_with_json_words_go_beside_the_document() -> None:
    """Standard output holds one document and nothing else."""
    out, err = io.StringIO(), io.StringIO()
    console = Console(out, err, json=True, environ={})

    console.say("hello")

    assert (out.getvalue(), err.getvalue()) == ("", "hello\n")


def test_a_reader_that_left_ends_the_output() -> None:
    """`weir logs | head` is no error."""
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as out:
        console = Console(out, io.StringIO(), environ={})

        with pytest.raises(OutputClosed):
            console.say("x")


def test_a_full_disk_is_an_error_in_words() -> None:
    """`weir status > file` on a full disk must not look like success."""
    with Path("/dev/full").open("w", encoding="utf-8") as out:
        console = Console(out, io.StringIO(), environ={})

        with pytest.raises(HostLacks) as caught:
            console.say("x")

    assert caught.value.code == "output-not-written"


def test_an_error_is_wrapped_and_names_its_code() -> None:
    """What failed, the lines that say why, what to do, and the code to search for."""
    console = Console(io.StringIO(), io.StringIO(), environ={})
    info = ErrorInfo(
        code="kv-refused",
        message="The KV cache does not fit. " * 4,
        hint="Lower `max_model_len`.",
        evidence=tuple(f"line {number}" for number in range(20)),
    )

    lines = console.error_text(info).splitlines()

    assert lines[0].startswith("error: The KV cache does not fit.")
    assert lines[1].startswith("       ")
    assert "  | line 19" in lines
    assert "  | line 7" not in lines
    assert lines[-2:] == ["hint: Lower `max_model_len`.", "code: kv-refused"]
    assert all(len(line) <= 80 for line in lines)


def test_control_characters_of_others_never_reach_the_terminal() -> None:
    """A log line could clear the screen or rename the window otherwise."""
    assert plain("\x1b[2Ja\x07b\x9bc\td\ne\r") == "[2Jabc\td\ne"


@pytest.mark.parametrize(
    ("environ", "has_style"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False), ({"NO_COLOR": ""}, True)],
)
def test_colour_follows_the_terminal_and_the_wish(
    terminal: tuple[int, io.TextIOWrapper], environ: dict[str, str], *, has_style: bool
) -> None:
    """NO_COLOR counts when it is not empty; a dumb terminal gets no escapes at all."""
    console = Console(io.StringIO(), terminal[1], environ=environ)

    assert ("\x1b" in console.styled("error:", "bad")) is has_style


@pytest.mark.parametrize(
    ("typed", "default", "answer"),
    [
        ("y\n", False, True),
        ("NO\n", True, False),
        ("\n", True, True),
        ("\n", False, False),
    ],
)
async def test_an_answer_is_yes_no_or_the_default(
    terminal: tuple[int, io.TextIOWrapper], typed: str, *, default: bool, answer: bool
) -> None:
    """The capital letter in the question is what Enter means."""
    person, stream = terminal
    console = Console(io.StringIO(), stream, stream, environ={})
    os.write(person, typed.encode())

    assert await console.ask("Go on? ", default=default) is answer


async def test_the_end_of_input_means_no() -> None:
    """Nobody there is nobody who agreed, even where Enter would mean yes."""
    reading, writing = os.pipe()
    os.close(writing)
    with os.fdopen(reading) as source:
        console = Console(io.StringIO(), io.StringIO(), source, environ={})

        assert not await console.ask("Go on? ", default=True)


async def test_other_tasks_run_while_a_person_thinks(
    terminal: tuple[int, io.TextIOWrapper],
) -> None:
    """The stream that holds the service must be read on, or the service would let go."""
    person, stream = terminal
    console = Console(io.StringIO(), stream, stream, environ={})
    async with asyncio.TaskGroup() as group:
        asking = group.create_task(console.ask("Go on? ", default=False))
        for _ in range(100):
            await asyncio.sleep(0)
        assert not asking.done()

        os.write(person, b"yes\n")

    assert asking.result()


def test_words_start_below_the_live_line() -> None:
    """An error must not be glued to the numbers."""
    err = io.StringIO()
    console = Console(io.StringIO(), err, environ={})

    console.live("pool 3 %")
    console.note("Stopped.")

    assert err.getvalue().endswith("\nStopped.\n")
    assert err.getvalue().startswith("\rpool 3 %")


def _drawn(texts: list[str], lines: int) -> str:
    """Return what a terminal of so many lines gets when these are drawn one after the other."""
    person, side = pty.openpty()
    tty.setraw(side)
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", lines, 80, 0, 0))
    with os.fdopen(side, "r+b", buffering=0) as raw, io.TextIOWrapper(raw, "utf-8") as stream:
        console = Console(stream, io.StringIO(), environ={})
        for text in texts:
            console.redraw(text)
        stream.flush()
    seen = b""
    with contextlib.suppress(OSError):  # the end, as Linux tells it
        while piece := os.read(person, 65_536):
            seen += piece
    os.close(person)
    return seen.decode()


def test_what_is_drawn_anew_takes_the_place_of_what_was() -> None:
    """A table that follows the cards does not scroll."""
    assert _drawn(["a\nb", "c"], 24) == "a\nb\n\x1b[2F\x1b[Jc\n"


def test_what_is_taller_than_the_terminal_is_drawn_from_its_top() -> None:
    """The cursor cannot go up to what has scrolled away."""
    tall = "\n".join("x" * 30)

    assert _drawn([tall, "c"], 24).endswith("\x1b[H\x1b[2Jc\n")


@pytest.mark.parametrize("environ", [{}, {"TERM": "dumb"}])
def test_in_a_pipe_drawings_follow_each_other(environ: dict[str, str]) -> None:
    """With a line between them, and no control characters."""
    out = io.StringIO()
    console = Console(out, io.StringIO(), environ=environ)

    console.redraw("a")
    console.redraw("b")

    assert out.getvalue() == "a\n\nb\n"


@pytest.mark.parametrize("environ", [{}, {"TERM": "dumb"}])
@pytest.mark.parametrize("writes", [False, True])
def test_a_terminal_that_is_gone_is_noticed_also_by_who_writes_first(
    environ: dict[str, str], writes: bool
) -> None:
    """`weir up` ends with its terminal; a line of progress may be what meets its end."""
    person, side = pty.openpty()
    with os.fdopen(side, "r+b", buffering=0) as raw, io.TextIOWrapper(raw, "utf-8") as stream:
        console = Console(io.StringIO(), stream, environ=environ)
        assert not console.has_hung_up()

        os.close(person)
        if writes:
            console.live("pool 3 %")
            console.note("said to nobody")

        assert console.has_hung_up()
        console.note("and nothing is in the way of the end")
