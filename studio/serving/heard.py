"""What an engine's log says that may speak of a failure, in bounded memory: lines to boots.

Pure. Lines of levels `info` and `debug` are dropped but for the last few; what an engine says after
it was told to stop does not count; a line that begins a boot starts afresh. A very long log is
thinned: of messages that differ in their numbers only, the first ones are kept.
"""

import dataclasses
import re
from collections import Counter, deque
from collections.abc import Iterable
from typing import NamedTuple

from studio.serving.log_shapes import split

WIDEST_WRAPPED = 250
"""Nobody wraps wider lines, and every whole log of an engine has wider ones (its settings)."""
_MESSAGE_WIDTH = 2_000
"""Causes stand at the beginning; what an engine dumps of its state goes on for pages."""
_KEPT_WHOLE = 8_000
_KEPT_AT_MOST = 24_000
_KEPT_ALIKE = 4
_SHAPE_WIDTH = 120
_LAST = 12
_WRAPPED_FROM = 40
"""No terminal and no bug report wraps shorter lines."""
_STOP_REQUESTED = "[shutdown] API"
_BOOT_BEGINS = "non-default args: {"
_IS_UP = "Application startup complete."
_TELLING = "memory for KV Cache"
"""Said in passing, and what explains a failure that comes later."""
_DIGITS = str.maketrans("", "", "0123456789abcdefABCDEF")
_SPEAKING = frozenset({"info", "none"})
_QUIET = frozenset({"info", "debug"})
_STARTS_AFRESH = re.compile(
    r" {2}|\s*(?:Traceback \(|File \"|INFO|\^{2,}|The above exception|During handling"
    r"|(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception)\b|[\w.-]+: error:|#|```)"
)


class Message(NamedTuple):
    """One message that may speak of a failure."""

    level: str
    text: str
    is_up: bool = False
    """The engine's server had answered before."""
    width: int = 0
    """Of the whole line."""
    follows: str | None = None
    """Of a bare line that may go on with the one before it: the level of that one."""
    reach: int = 0
    """How wide the line before would be with this one's first word."""
    place: int = -1
    """Where it stood among those that were kept, for one that was put together."""


@dataclasses.dataclass(slots=True)
class Boot:
    """What is kept of one boot."""

    messages: list[Message] = dataclasses.field(default_factory=list)
    last: deque[Message] = dataclasses.field(default_factory=lambda: deque(maxlen=_LAST))
    """The last ones of any level."""
    is_up: bool = False
    """Its server answered."""
    before_bare: Counter[int] = dataclasses.field(default_factory=Counter)
    """Of bare lines that may go on with the line before them: how wide that is."""
    alike: Counter[str] = dataclasses.field(default_factory=Counter)

    def keep(self, message: Message) -> None:
        """Keep a message, unless the log is long and has enough of its like."""
        if len(self.messages) >= _KEPT_WHOLE:
            shape = message.text[:_SHAPE_WIDTH].translate(_DIGITS)
            self.alike[shape] += 1
            if self.alike[shape] > _KEPT_ALIKE:
                return
            if len(self.messages) >= _KEPT_AT_MOST:
                del self.messages[_KEPT_WHOLE : _KEPT_WHOLE + _KEPT_WHOLE // 2]
                self.alike.clear()
        self.messages.append(message)


class Hearing:
    """Takes the lines of a log in their order."""

    def __init__(self) -> None:
        self.boot = Boot()
        """The last one."""
        self.before: Boot | None = None
        """The one before it, unless that was ended on request."""
        self.lines = 0
        self._is_stopping = False
        self._level, self._width, self._is_blank = "none", 0, False

    def take(self, lines: Iterable[str]) -> None:
        """Take the next lines."""
        for line in lines:
            self._take(line)

    def _take(self, line: str) -> None:
        self.lines += 1
        level, text, is_headed = split(line)
        if level in _SPEAKING:
            self._mark(text)
        if self._is_stopping:
            return
        message = self._message(level, text, is_headed=is_headed, width=len(line.rstrip()))
        if not text:
            return
        self.boot.last.append(message)
        if level not in _QUIET or _TELLING in text:
            self.boot.keep(message)

    def _mark(self, text: str) -> None:
        """Note where a boot begins, is up, and is told to end."""
        if text.startswith(_STOP_REQUESTED):
            self._is_stopping = True
        elif text.startswith(_BOOT_BEGINS):
            self.before = None if self._is_stopping else self.boot
            self.boot = Boot()
            self._is_stopping = False
        elif text.startswith(_IS_UP):
            self.boot.is_up = True

    def _message(self, level: str, text: str, *, is_headed: bool, width: int) -> Message:
        """Return a message that knows which line it may go on with."""
        boot = self.boot
        follows, reach = None, 0
        if is_headed:
            self._level = level
        elif self._is_blank and text:
            follows, reach = self._level, WIDEST_WRAPPED  # the line before was a header only
        elif self._width >= _WRAPPED_FROM and text and _STARTS_AFRESH.match(text) is None:
            follows, reach = self._level, self._width + 1 + len(text.split(maxsplit=1)[0])
            boot.before_bare[min(self._width, WIDEST_WRAPPED + 1)] += 1
        else:
            self._level = level
        self._width, self._is_blank = width, is_headed and not text
        return Message(level, text[:_MESSAGE_WIDTH], boot.is_up, width, follows, reach)
