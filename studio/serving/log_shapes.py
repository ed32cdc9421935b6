"""Where a line's message begins, whoever printed, collected or pasted it: line to level and words.

Pure. vLLM puts process, level, time and source position before a message; docker compose, kubectl,
journald, torchrun and a quotation in a bug report put their own before that. Failures are told by
messages only, so all of it is dropped here.
"""

import re
from typing import NamedTuple

import msgspec

from studio.serving.log_text import clean

_PREFIX = re.compile(
    r"\s{0,40}(?:"
    r">{1,8} ?"  # a quotation
    r"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?"
    r"(?: std(?:out|err) [FP])?\s"
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d{1,9})? (?=\S)"  # syslog
    r"|[\w.-]{1,64} [\w.@/-]{1,64}\[\d{1,10}\]: "  # host program[pid]:
    r"|[\w.-]{1,64} (?:kernel|systemd|dockerd|containerd): "
    r"|\[pod/[^\]\s]{1,200}\] "
    r"|(?!(?:DEBUG|INFO|WARNING|ERROR|CRITICAL)\b)[\w.-]{0,64} {0,20}\| "  # compose
    r"|\[rank\d{1,4}\]:? ?"
    r"|\[ {0,8}\d{1,9}\.\d{3,9}\] "  # dmesg
    r"|\((?:[\w-]{1,60},? )?(?:rank=\d+,? )?(?:ip=[\w.:]+,? )?pid=\d+(?:,? ip=[\w.:]+)?\) ?"
    r")"
)
_NAMES = "DEBUG|INFO|WARNING|ERROR|CRITICAL"
_HEADER = re.compile(
    rf"\s{{0,40}}(?:({_NAMES}) \d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{{1,9}})? "
    r"(?:\[[^\]\s]+\]|[\w./-]+:\d+\]) ?"
    r"|\[?([DIWEF])\d{4} \d\d:\d\d:\d\d(?:\.\d{1,9})? +(?:\d+ +)?[\w./-]+:\d+\] ?"
    rf"|(?:[-|] )?({_NAMES})(?: {{1,8}}[|-] |: {{0,8}})(?:std(?:err|out) \| )?"
    r")"
)
_USUAL = re.compile(
    rf"(?:\([A-Za-z][\w-]{{0,40}} pid=\d+\) ?)?({_NAMES})"
    r"(?: \d\d-\d\d \d\d:\d\d:\d\d \[[^\]\s]+\] ?+|: {5})(?![(\[>|])"
)
"""A line as the engine itself writes it; nine of ten are."""
_SUBJECT = re.compile(r"\[(?!shutdown)[a-z_]{1,40}\] (?=[A-Z])")
"""`[backbone]`: what is compiled."""
_PYTHON_WARNING = re.compile(r"\S{1,400}\.py:\d+: \w*Warning: ")
_LEVELS = {
    "DEBUG": "debug", "INFO": "info", "WARNING": "warning", "ERROR": "error", "CRITICAL": "error",
    "D": "debug", "I": "info", "W": "warning", "E": "error", "F": "error",
}  # fmt: skip
_MOST_PREFIXES = 6


class Said(NamedTuple):
    """One line without what stands before its message."""

    level: str
    """`debug info warning error`, or `none` where the line says none."""
    text: str
    is_headed: bool
    """It carries a level, so it is no continuation of the line before."""


class _Record(msgspec.Struct):
    """A line of a collector that writes JSON; whichever of the names it uses."""

    log: str | None = None
    message: str | None = None
    msg: str | None = None
    journal: str | None = msgspec.field(default=None, name="MESSAGE")
    payload: str | None = msgspec.field(default=None, name="textPayload")


def split(line: str) -> Said:
    """Return level and message of a line."""
    usual = _USUAL.match(line)
    if usual is not None:
        return Said(_LEVELS[usual[1]], line[usual.end() :].rstrip(), True)
    line = _unpacked(line) if line.startswith('{"') else line
    if "\x1b" in line:
        line = clean(line)
    start = _skipped(line, 0)
    match = _HEADER.match(line, start)
    if match is None:
        text = line[start:].rstrip()
        is_warning = "Warning: " in text and _PYTHON_WARNING.match(text) is not None
        return Said("warning" if is_warning else "none", text, is_warning)
    start = _skipped(line, match.end())
    subject = _SUBJECT.match(line, start)
    text = line[subject.end() if subject else start :].rstrip()
    return Said(_LEVELS[match[1] or match[2] or match[3]], text, True)


def _skipped(line: str, start: int) -> int:
    for _ in range(_MOST_PREFIXES):
        match = _PREFIX.match(line, start)
        if match is None:
            break
        start = match.end()
    return start


def _unpacked(line: str) -> str:
    try:
        found = msgspec.json.decode(line, type=_Record)
    except msgspec.DecodeError:
        return line
    texts = (found.log, found.message, found.msg, found.journal, found.payload)
    return next((text.rstrip() for text in texts if text), line)
