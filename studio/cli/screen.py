"""A full screen on a terminal: drawn in place, left as it was found, whatever ends the command.

Only lines that changed are written, so that a second costs some hundred bytes over SSH. Keys are
read without waiting for Enter. Not for deciding what stands on the screen.
"""

import asyncio
import contextlib
import functools
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TextIO

from studio.cli.cells import STYLES, Line, text_of

if sys.platform != "win32":
    import termios

_ENTER = "\x1b[?1049h\x1b[?25l\x1b[?7l"
"""The other screen, no cursor, no wrapping at the right edge."""
_LEAVE = "\x1b[?7h\x1b[?25h\x1b[?1049l"
_CLEAR = "\x1b[2J"
_RESET = "\x1b[0m"
_BEGIN_UPDATE, _END_UPDATE = "\x1b[?2026h", "\x1b[?2026l"
"""Terminals that know it show the update in one piece; others ignore it."""
_KEY_BYTES = 64
_ESCAPE = "\x1b"
_FALLBACK = (80, 24)


class Screen:
    """One terminal. `opened` first; drawing and keys inside it."""

    def __init__(self, out: TextIO, source: TextIO | None, *, has_colour: bool) -> None:
        self._out = out
        self._source = source if source is not None and source.isatty() else None
        self._has_colour = has_colour
        self._shown: list[str] = []
        self._size = _FALLBACK
        self._give_back: Callable[[], None] | None = None

    @contextlib.contextmanager
    def opened(
        self, on_key: Callable[[str], None], on_change: Callable[[], None]
    ) -> Iterator[None]:
        """Take the terminal while inside.

        `on_key` gets each key; `on_change` is called when it was resized, or came back after it
        had been suspended.
        """
        loop = asyncio.get_running_loop()
        with contextlib.ExitStack() as stack:
            stack.callback(self._leave)
            self._enter()
            stack.enter_context(self._signals(loop, on_change))
            stack.enter_context(_keys(loop, self._source, on_key))
            yield

    def size(self) -> tuple[int, int]:
        """Return width and height in characters."""
        with contextlib.suppress(OSError, ValueError):
            size = os.get_terminal_size(self._out.fileno())
            if size.columns and size.lines:
                return size.columns, size.lines
        return _FALLBACK

    def draw(self, lines: Sequence[Line]) -> None:
        """Show `lines`, one for each line of the terminal.

        Raises: OSError, when the terminal is gone.
        """
        size = self.size()
        pieces: list[str] = []
        if size != self._size or len(lines) != len(self._shown):
            self._size = size
            self._shown = [""] * len(lines)
            pieces.append(_CLEAR)
        for number, line in enumerate(lines):
            text = self._styled(line)
            if text != self._shown[number]:
                self._shown[number] = text
                # Erased first: behind a full line the cursor stands on its last character.
                pieces.append(f"\x1b[{number + 1};1H\x1b[K{text}")
        if pieces:
            self._write(_BEGIN_UPDATE + "".join(pieces) + _END_UPDATE)

    def _styled(self, line: Line) -> str:
        if not self._has_colour:
            return text_of(line)
        return "".join(
            f"\x1b[{STYLES[piece.style]}m{piece.text}{_RESET}" if piece.style else piece.text
            for piece in line
        )

    def _write(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()

    # Taking the terminal and giving it back

    def _enter(self) -> None:
        self._quiet(is_on=True)
        self._shown = []
        self._write(_ENTER + _CLEAR)

    def _leave(self) -> None:
        with contextlib.suppress(OSError, ValueError):  # it may be gone
            self._write(_LEAVE)
        self._quiet(is_on=False)

    def _quiet(self, *, is_on: bool) -> None:
        """Let keys come at once and unseen, or as before. Ctrl+C and Ctrl+Z stay signals."""
        if sys.platform == "win32" or self._source is None:
            return
        descriptor = self._source.fileno()
        with contextlib.suppress(termios.error, OSError):
            if not is_on:
                if self._give_back is not None:
                    self._give_back()
                return
            before = termios.tcgetattr(descriptor)
            self._give_back = functools.partial(
                termios.tcsetattr, descriptor, termios.TCSADRAIN, before
            )
            changed = [*before]
            changed[3] = before[3] & ~(termios.ECHO | termios.ICANON)
            termios.tcsetattr(descriptor, termios.TCSADRAIN, changed)

    @contextlib.contextmanager
    def _signals(
        self, loop: asyncio.AbstractEventLoop, on_change: Callable[[], None]
    ) -> Iterator[None]:
        """Hear of a new size and of Ctrl+Z; end in order when told to."""
        if sys.platform == "win32":
            yield
            return
        task = asyncio.current_task()
        assert task is not None

        def suspend() -> None:
            self._leave()
            os.kill(os.getpid(), signal.SIGSTOP)  # until `fg`
            self._enter()
            on_change()

        handlers: dict[signal.Signals, Callable[[], object]] = {
            signal.SIGWINCH: on_change,
            signal.SIGTSTP: suspend,
            signal.SIGTERM: task.cancel,
            signal.SIGHUP: task.cancel,
        }
        for number, handler in handlers.items():
            with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
                loop.add_signal_handler(number, handler)
        try:
            yield
        finally:
            for number in handlers:
                with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
                    loop.remove_signal_handler(number)


@contextlib.contextmanager
def _keys(
    loop: asyncio.AbstractEventLoop, source: TextIO | None, on_key: Callable[[str], None]
) -> Iterator[None]:
    """Hand each key on while inside. Arrow keys and the like are none."""
    if source is None:
        yield
        return
    if sys.platform == "win32":
        with _windows_keys(loop, on_key):
            yield
        return
    descriptor = source.fileno()

    def read() -> None:
        try:
            data = os.read(descriptor, _KEY_BYTES)
        except OSError:
            data = b""
        if not data:  # the terminal is gone, which drawing notices too
            loop.remove_reader(descriptor)
            return
        for key in keys_of(data.decode("utf-8", "replace")):
            on_key(key)

    loop.add_reader(descriptor, read)
    try:
        yield
    finally:
        loop.remove_reader(descriptor)


def keys_of(text: str) -> list[str]:
    """Return the keys in what a terminal sent, in lower case; sequences of special keys are none.

    A lone Escape is a key: `esc`.
    """
    if text == _ESCAPE:
        return ["esc"]
    if text.startswith(_ESCAPE):
        return []
    return [character.lower() for character in text if character.isprintable()]


if sys.platform == "win32":
    import msvcrt

    _POLL_S = 0.05

    @contextlib.contextmanager
    def _windows_keys(
        loop: asyncio.AbstractEventLoop, on_key: Callable[[str], None]
    ) -> Iterator[None]:
        """Look for keys now and then: a console cannot be waited for beside sockets."""
        handle: asyncio.TimerHandle | None = None

        def look() -> None:
            nonlocal handle
            while msvcrt.kbhit():
                key = msvcrt.getwch()
                if key in ("\x00", "\xe0"):
                    msvcrt.getwch()
                elif key == _ESCAPE:
                    on_key("esc")
                else:
                    on_key(key.lower())
            handle = loop.call_later(_POLL_S, look)

        look()
        try:
            yield
        finally:
            if handle is not None:
                handle.cancel()
