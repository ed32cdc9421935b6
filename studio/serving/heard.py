"""What an engine's log says that may speak of a failure, in bounded memory: lines to boots.

Pure. Lines of levels `info` and `debug` are dropped but for the last few; what an engine says after
it was told to stop does not count; a line that begins a boot starts afresh. A very long log is
thinned: of messages that differ in their numbers only, the first ones are kept.
"""

import dataclasses
import re
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from studio.serving.log_shapes import split

_MESSAGE_WIDTH = 2_000
"""Causes stand at the beginning; what an engine dumps of its state goes on for pages."""
_KEPT_WHOLE = 8_000
_KEPT_AT_MOST = 24_000
_KEPT_ALIKE = 4
_SHAPE_WIDTH = 120
_LAST = 12
_WRAPPED_FROM = 40
"""No terminal and no bug report wraps shorter lines."""
_STOP_REQUESTED = "[shutdown] API server: shutdown triggered"
_BOOT_BEGINS = "non-default args: {"
_TELLING = "memory for KV Cache"
"""Said in passing, and what explains a failure that comes later."""
_IS_UP = "Application startup complete."
_DIGITS = str.maketrans("", "", "0123456789abcdefABCDEF")
_QUIET = frozenset({"info", "debug"})
_STARTS_AFRESH = re.compile(
    r"\s*(?:Traceback \(|File \"|INFO|\^{2,}|The above exception|During handling"
    r"|(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception)\b|[\w.-]+: error:|\[|\(|#|-|```)"
)


class Message(NamedTuple):
    """One message that may speak of a failure."""

    level: str
    text: str
    is_headed: bool = True


@dataclasses.dataclass(slots=True)
class Boot:
    """What is kept of one boot."""

    messages: list[Message] = dataclasses.field(default_factory=list)
    last: deque[Message] = dataclasses.field(default_factory=lambda: deque(maxlen=_LAST))
    """The last ones of any level."""
    up_at: int | None = None
    """How many messages were kept when its server answered; None: it never did."""
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

    def take(self, lines: Iterable[str]) -> None:
        """Take the next lines."""
        for line in lines:
            self._take(line)

    def _take(self, line: str) -> None:
        self.lines += 1
        level, text, is_headed = split(line)
        if text.startswith(_STOP_REQUESTED):
            self._is_stopping = True
        elif text.startswith(_BOOT_BEGINS):
            self.before = None if self._is_stopping else self.boot
            self.boot = Boot()
            self._is_stopping = False
        elif text.startswith(_IS_UP):
            self.boot.up_at = len(self.boot.messages)
        if self._is_stopping or not text:
            return
        message = Message(level, text[:_MESSAGE_WIDTH], is_headed)
        self.boot.last.append(message)
        if level not in _QUIET or _TELLING in text:
            self.boot.keep(message)


def unwrapped(messages: Sequence[Message]) -> list[Message]:
    """Return the messages with wrapped lines put together again, each in two readings.

    A terminal breaks anywhere, an editor at blanks; which it was cannot be told from one line.
    """
    joined: list[tuple[str, list[str]]] = []
    for message in messages:
        if joined and not message.is_headed and _continues(joined[-1][1][-1], message.text):
            joined[-1][1].append(message.text)
        else:
            joined.append((message.level, [message.text]))
    made: list[Message] = []
    for level, parts in joined:
        if len(parts) > 1:
            made += [
                Message(level, glue.join([parts[0], *(part.strip() for part in parts[1:])]))
                for glue in (" ", "")
            ]
        else:
            made.append(Message(level, parts[0]))
    return made


def _continues(before: str, text: str) -> bool:
    return len(before) >= _WRAPPED_FROM and _STARTS_AFRESH.match(text) is None
