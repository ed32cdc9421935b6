"""Where words go: two streams, a person who may be asked, and a machine that may read JSON.

With `--json` standard output carries one JSON document and nothing else. A stream whose reader has
left ends the command quietly (`weir logs | head`); a character that the terminal cannot show is
written as the nearest one that it can.
"""

import codecs
import contextlib
import errno
import io
import os
import select
import sys
from collections.abc import Mapping
from typing import TextIO

import msgspec

from studio.cli import words
from studio.domain.errors import ErrorInfo, HostLacks

_NEAREST = {
    "–": "-", "—": "-", "…": "...", "·": "|", "→": "->", "✓": "+", "’": "'", "█": "#", "─": "-",
    "━": "=", "╸": "=", "╺": " ", "×": "x", "≤": "<=", "≥": ">=",
}  # fmt: skip
_STYLES = {"bad": "31;1", "quiet": "2", "good": "32", "strong": "1"}
_EVIDENCE_LINES = 12
_READABLE_WIDTH = 80
_READABLE_HEIGHT = 24


def _nearest(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    found = error.object[error.start : error.end]
    return "".join(_NEAREST.get(character, "?") for character in found), error.end


codecs.register_error("weir-nearest", _nearest)


_CONTROLS = {code: "" for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"}


def plain(text: str) -> str:
    """Return `text` without control characters, which could move a terminal's cursor."""
    return text.translate(_CONTROLS)


def _is_hung_up(descriptor: int) -> bool:
    if not hasattr(select, "poll"):
        return False
    watch = select.poll()
    watch.register(descriptor, 0)
    return any(flags & (select.POLLHUP | select.POLLERR) for _, flags in watch.poll(0))


class OutputClosed(Exception):
    """Nobody reads standard output any more."""


class Console:
    """The terminal, pipe or file that a command talks to."""

    def __init__(
        self,
        out: TextIO,
        err: TextIO,
        source: TextIO | None = None,
        *,
        json: bool = False,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        for stream in (out, err):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="weir-nearest")
        self._out = out
        self._err = err
        self._source = source
        self.json = json
        dumb = environ.get("TERM") == "dumb"
        self.out_is_terminal = out.isatty() and not dumb
        self.err_is_terminal = err.isatty() and not dumb
        self._had_terminal = err.isatty()
        self._has_lost_terminal = False
        self.can_ask = source is not None and source.isatty() and self.err_is_terminal and not json
        self.is_dumb = dumb
        """The terminal cannot move its cursor."""
        self.has_colour = not environ.get("NO_COLOR") and not dumb
        self._line_open = False
        self._redrawn = 0
        """Lines of the last answer that may be written over."""

    @classmethod
    def of_process(cls, *, json: bool = False) -> "Console":
        """Return the console of this process."""
        return cls(sys.stdout, sys.stderr, sys.stdin, json=json)

    @property
    def err(self) -> TextIO:
        """The stream for progress and errors."""
        return self._err

    @property
    def out(self) -> TextIO:
        """The stream of the answer, for what draws on it."""
        return self._out

    @property
    def source(self) -> TextIO | None:
        """The stream that a person types into."""
        return self._source

    @property
    def width(self) -> int:
        """Columns to fill at most."""
        for stream in (self._out, self._err):
            with contextlib.suppress(OSError, ValueError):
                columns = os.get_terminal_size(stream.fileno()).columns
                return max(40, columns or _READABLE_WIDTH)
        return _READABLE_WIDTH

    def _height(self) -> int:
        with contextlib.suppress(OSError, ValueError):
            return os.get_terminal_size(self._out.fileno()).lines or _READABLE_HEIGHT
        return _READABLE_HEIGHT

    def has_hung_up(self) -> bool:
        """Tell whether the terminal that was there at the start is gone."""
        if self._had_terminal and not self._has_lost_terminal:
            with contextlib.suppress(OSError, ValueError):
                return _is_hung_up(self._err.fileno())
        return self._has_lost_terminal

    def can_show(self, text: str) -> bool:
        """Tell whether standard output has all characters of `text`."""
        try:
            text.encode(getattr(self._out, "encoding", None) or "ascii")
        except (UnicodeEncodeError, LookupError):
            return False
        return True

    def say(self, text: str) -> None:
        """Write `text` as the command's answer (beside the JSON, when there is one)."""
        if self.json:
            self.note(text)
        else:
            self._end_line()
            self._write(self._out, text + "\n")

    def note(self, text: str) -> None:
        """Write `text` beside the answer."""
        self._end_line()
        self._write(self._err, text + "\n")

    def document(self, document: object) -> None:
        """Write one JSON document to standard output, as UTF-8 whatever the terminal speaks."""
        data = msgspec.json.encode(document) + b"\n"
        raw = getattr(self._out, "buffer", None)
        if raw is None:
            self._write(self._out, data.decode())
            return
        try:
            self._out.flush()
            raw.write(data)
            raw.flush()
        except OSError as error:
            raise self._output_error(error) from error

    def redraw(self, text: str) -> None:
        """Write an answer in the place of the one before; one below the other in a pipe."""
        if self._redrawn and self.out_is_terminal:
            fits = self._redrawn < self._height()
            self._write(self._out, f"\x1b[{self._redrawn}F\x1b[J" if fits else "\x1b[H\x1b[2J")
        elif self._redrawn:
            self._write(self._out, "\n")
        self._write(self._out, text + "\n")
        self._redrawn = text.count("\n") + 1

    def live(self, text: str) -> None:
        """Replace the line at the foot of the terminal by `text`."""
        self._write(self._err, f"\r{text[: self.width - 1].ljust(self.width - 1)}")
        self._line_open = True

    def _end_line(self) -> None:
        if self._line_open:
            self._line_open = False
            self._write(self._err, "\n")

    def error(self, info: ErrorInfo) -> None:
        """Show an error; with `--json` the document goes to standard output."""
        if self.json:
            self.document(info)
        self.note(self.error_text(info))

    def error_text(self, info: ErrorInfo) -> str:
        """Return an error in words, wrapped for the terminal."""
        width = min(self.width, 100)
        lines = _wrapped(self.styled(words.ERROR, "bad"), words.ERROR, plain(info.message), width)
        lines += [f"  | {plain(line)}" for line in info.evidence[-_EVIDENCE_LINES:]]
        if info.hint:
            lines += _wrapped(self.styled(words.HINT, "good"), words.HINT, plain(info.hint), width)
        lines.append(self.styled(words.code_line(info), "quiet"))
        return "\n".join(lines)

    def styled(self, text: str, style: str) -> str:
        """Return `text` for standard error in a style, where that can be shown."""
        if not (self.has_colour and self.err_is_terminal):
            return text
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m"

    async def ask(self, question: str, *, default: bool) -> bool:
        """Return the person's answer; the end of input means no."""
        self._end_line()
        while True:
            self._write(self._err, question)
            answer = await self._answer()
            if answer is None:
                self._write(self._err, "\n")
                return False
            word = answer.strip().lower()
            if not word:
                return default
            if word in words.YES_WORDS or word in words.NO_WORDS:
                return word in words.YES_WORDS

    async def ask_secret(self, question: str) -> str | None:
        """Return what the person types, which is not shown; None at the end of input."""
        import termios

        assert self._source is not None
        descriptor = self._source.fileno()
        self._end_line()
        before = termios.tcgetattr(descriptor)
        hidden = [*before]
        hidden[3] = before[3] & ~termios.ECHO
        try:
            termios.tcsetattr(descriptor, termios.TCSAFLUSH, hidden)  # before anybody can type
            self._write(self._err, question)
            answer = await self._answer()
        finally:
            termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
            self._write(self._err, "\n")
        return answer.strip() if answer is not None else None

    async def _answer(self) -> str | None:
        import asyncio
        import threading

        assert self._source is not None
        descriptor = self._source.fileno()
        loop = asyncio.get_running_loop()
        answered: asyncio.Future[str | None] = loop.create_future()

        def settle(text: str | None) -> None:
            if not answered.done():
                answered.set_result(text)

        # A daemon thread on the bare descriptor: the loop keeps reading events (and so keeps its
        # hold on the service) while the person thinks, and Ctrl+C does not wait for the answer.
        def read() -> None:
            try:
                data = os.read(descriptor, 4096)
            except OSError:
                data = b""
            with contextlib.suppress(RuntimeError):  # the loop is gone: nobody waits any more
                loop.call_soon_threadsafe(settle, data.decode(errors="replace") if data else None)

        threading.Thread(target=read, name="weir-answer", daemon=True).start()
        return await answered

    def _write(self, stream: TextIO, text: str) -> None:
        try:
            stream.write(text)
            stream.flush()
        except OSError as error:
            if stream is self._out:
                raise self._output_error(error) from error
            self._has_lost_terminal = self.has_hung_up()  # after this nobody could tell any more
            self._hush(stream)

    def _output_error(self, error: OSError) -> Exception:
        self._hush(self._out)
        if error.errno in (errno.EPIPE, errno.EINVAL):  # EINVAL is what Windows says
            return OutputClosed()
        return HostLacks("output-not-written", words.output_failed(error.strerror or str(error)))

    def _hush(self, stream: TextIO) -> None:
        # What lies in the stream's buffer would be tried again, and fail again, at exit.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(nowhere, stream.fileno())
        except (OSError, ValueError):
            return
        finally:
            os.close(nowhere)


def _wrapped(shown_label: str, label: str, text: str, width: int) -> list[str]:
    import textwrap

    indent = " " * (len(label) + 1)
    lines: list[str] = []
    for paragraph in text.splitlines() or [""]:
        lines += textwrap.wrap(
            paragraph,
            width - len(indent),
            break_long_words=False,
            break_on_hyphens=False,
        ) or [""]
    return [f"{shown_label} {lines[0]}", *(indent + line for line in lines[1:])]
