"""Tracebacks in a log: the lines of each kept together, and folded to what went wrong. Pure.

Several processes write one log, so a traceback's lines lie scattered among those of others; they
are told apart by the process that vLLM names before each line.
"""

import dataclasses
import re
from collections.abc import Iterable, Sequence

import msgspec

from studio.domain.metrics import LogLine

_TAG = re.compile(r"\(([A-Za-z][\w-]{0,40} pid=\d+)\) ?")
_HEADER = re.compile(
    r"(?:\([A-Za-z][\w-]{0,40} pid=\d+\) ?)?"
    r"(?:\[rank\d+\]: ?)?"
    r"(?:(?:DEBUG|INFO|WARNING|ERROR|CRITICAL) \d\d-\d\d \d\d:\d\d:\d\d \[[^\]\s]+\] ?)?"
)
_LEVELLED = re.compile(r"(?:DEBUG|INFO|WARNING|ERROR|CRITICAL)(?:: {1,5}| \d\d-\d\d )")
_BEGIN = "Traceback (most recent call last):"
_GROUP = "Exception Group Traceback"
_CAUSED = "The above exception was the direct cause of the following exception:"
_WHILE = "During handling of the above exception, another exception occurred:"
_RAISED = re.compile(r"(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*(?:: .*|:?)")
_FRAME = re.compile(r'\s*File "([^"]+)", line (\d+), in (\S+)')
_MORE = ("frame #", "Exception raised from ", "For further information", "    ", "  ", "\t")
_GUTTER = " |+-"
_VALIDATED = ("Config", "Args", "Params", "Request")
"""How pydantic's first line ends; the next one says what is wrong."""
_MOST_LINES = 5_000


class LogEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A line, or a whole traceback, as it is shown."""

    seq: int
    """Of its first line."""
    at: float
    source: str
    level: str
    text: str
    """Of a traceback: the exception that it began with, and where that was raised."""
    process: str | None = None
    """`EngineCore pid=812`, where the line names it."""
    whole: tuple[str, ...] = ()
    """All lines of the traceback; empty for a line that is none."""


@dataclasses.dataclass(slots=True)
class _Open:
    """A traceback whose end has not come yet."""

    header: str
    lines: list[LogLine]
    texts: list[str]
    is_raised: bool = False
    age: int = 0
    """Turns since its last line came."""

    @property
    def is_chained(self) -> bool:
        return self.texts[-1].strip(_GUTTER) in (_CAUSED, _WHILE)


def process_of(text: str) -> str | None:
    """Return the process that a line names as its writer."""
    match = _TAG.match(text)
    return match[1] if match is not None else None


def begins_afresh(lines: Sequence[LogLine]) -> int:
    """Return the first place at which `lines` may be cut without cutting an entry in two.

    That is where a line has a level and is not of one message with the line before it; the number
    of lines when there is no such place.
    """
    last = _header_of(lines[0].text) if lines else ""
    for at, line in enumerate(lines):
        header = _header_of(line.text)
        if at > 0 and line.level != "none" and (header == "" or header != last):
            return at
        last = header
    return len(lines)


def _header_of(text: str) -> str:
    match = _HEADER.match(text)
    return match.group() if match is not None else ""


class Folder:
    """Takes lines in their order and gives out entries; a traceback comes when it has ended.

    With `patience`, one that has not grown for so many turns counts as ended.
    """

    def __init__(self, *, patience: int | None = None) -> None:
        self._patience = patience
        self._open: dict[str, _Open] = {}

    def take(self, lines: Iterable[LogLine]) -> list[LogEntry]:
        """Return what is complete after `lines`; each call is one turn."""
        self.grow_older()
        done: list[LogEntry] = []
        for line in lines:
            done += self._one(line)
        return done + self._given_up()

    def grow_older(self) -> None:
        """Begin a turn: what has begun waits for its end since one turn more."""
        for held in self._open.values():
            held.age += 1

    def folded(self, lines: Iterable[LogLine]) -> list[LogLine]:
        """Return what is complete after `lines`, as lines; those of no traceback stay as they are.

        For who shows a flood, maybe in several pieces a turn. A folded traceback has the number of
        its first line.
        """
        done: list[LogLine] = []
        for line in lines:
            if self._open or _BEGIN in line.text or _GROUP in line.text:
                done += [_as_line(entry) for entry in self._one(line)]
            else:
                done.append(line)
        return done

    def given_up(self) -> list[LogLine]:
        """End a turn: return tracebacks that have not grown for too long, as far as they came."""
        return [_as_line(entry) for entry in self._given_up()]

    @property
    def is_idle(self) -> bool:
        """Tell whether no traceback is held back."""
        return not self._open

    def _given_up(self) -> list[LogEntry]:
        if self._patience is None or not self._open:
            return []
        old = [key for key, held in self._open.items() if held.age >= self._patience]
        return [_folded(self._open.pop(key)) for key in old]

    def rest(self) -> list[LogEntry]:
        """Return the tracebacks that have begun, as far as they came."""
        held = sorted(self._open.values(), key=lambda one: one.lines[0].seq)
        self._open.clear()
        return [_folded(one) for one in held]

    def _one(self, line: LogLine) -> list[LogEntry]:
        key = f"{line.source} {process_of(line.text) or ''}"
        header = _header_of(line.text)
        text = line.text[len(header) :]
        done: list[LogEntry] = []
        held = self._open.get(key)
        if held is not None:
            if _goes_on(held, header, text):
                held.lines.append(line)
                held.texts.append(text)
                held.is_raised = _is_raised(held, text)
                held.age = 0
                if len(held.lines) < _MOST_LINES:
                    return []
                return [_folded(self._open.pop(key))]
            done.append(_folded(self._open.pop(key)))
        if text.strip(_GUTTER).startswith((_BEGIN, _GROUP)):
            self._open[key] = _Open(header, [line], [text])
        else:
            done.append(_plain(line))
        return done


def _goes_on(held: _Open, header: str, text: str) -> bool:
    """Tell whether a line belongs to the traceback that its process has begun."""
    if header != held.header:
        return False
    if text.strip(_GUTTER).startswith(_BEGIN):
        return held.is_chained or not held.is_raised
    if text.strip() in ("", _CAUSED, _WHILE) or text.startswith(_MORE):
        return True
    if _LEVELLED.match(text) is not None:
        return False
    # With a header of its own, every line of the message carries it; without one, what comes after
    # the exception may be anything.
    return bool(_LEVELLED.search(header)) or not held.is_raised


def _is_raised(held: _Open, text: str) -> bool:
    if text[:1].isspace():
        return held.is_raised
    return text.strip() not in (_CAUSED, _WHILE) and not text.startswith(_BEGIN)


def _plain(line: LogLine) -> LogEntry:
    return LogEntry(
        seq=line.seq,
        at=line.at,
        source=line.source,
        level=line.level,
        text=line.text,
        process=process_of(line.text),
    )


def _as_line(entry: LogEntry) -> LogLine:
    return LogLine(
        seq=entry.seq, at=entry.at, source=entry.source, level=entry.level, text=entry.text
    )


def _folded(held: _Open) -> LogEntry:
    first = held.lines[0]
    if len(held.lines) == 1:
        return _plain(first)
    level = first.level if first.level != "none" else "error"
    return LogEntry(
        seq=first.seq,
        at=first.at,
        source=first.source,
        level=level,
        text=held.header + root_cause(held.texts),
        process=process_of(first.text),
        whole=tuple(line.text for line in held.lines),
    )


def root_cause(texts: Sequence[str]) -> str:
    """Return a traceback as one line: the exception, where it was raised, and what it led to."""
    blocks = _blocks(texts)
    at = len(blocks) - 1
    while at > 0 and blocks[at].joined == _CAUSED:
        at -= 1
    root = blocks[at]
    parts = [root.raised]
    if at < len(blocks) - 1:
        parts.append(f"which led to {blocks[-1].name}")
    elif at > 0:
        parts.append(f"while handling {blocks[at - 1].raised}")
    where = f"{root.where}, " if root.where else ""
    return f"{'; '.join(parts)} [{where}traceback of {len(texts)} lines]"


@dataclasses.dataclass(slots=True)
class _Block:
    """One traceback of a chain."""

    joined: str = ""
    raised: str = ""
    where: str = ""

    @property
    def name(self) -> str:
        return self.raised.partition(":")[0].rpartition(".")[2]


def _blocks(texts: Sequence[str]) -> list[_Block]:
    blocks = [_Block()]
    for text in texts:
        bare = text.strip(_GUTTER)
        frame = _FRAME.match(text.lstrip(_GUTTER))
        if bare in (_CAUSED, _WHILE):
            blocks.append(_Block(joined=bare))
        elif frame is not None:
            name = re.split(r"[\\/]", frame[1])[-1]
            blocks[-1].where = f"{name}:{frame[2]} in {frame[3]}"
        elif not blocks[-1].raised and _is_exception(text, bare):
            blocks[-1].raised = bare
        elif blocks[-1].raised.endswith(_VALIDATED) and bare.startswith("Value error, "):
            blocks[-1].raised += f": {bare}"
    known = [block for block in blocks if block.raised]
    return known or [_Block(raised=texts[-1].strip() or _BEGIN)]


def _is_exception(text: str, bare: str) -> bool:
    is_inner = text.lstrip(" ")[:1] in ("|", "+")
    if (text[:1].isspace() and not is_inner) or bare.startswith((_BEGIN, "Exception Group")):
        return False
    return _RAISED.fullmatch(bare) is not None
