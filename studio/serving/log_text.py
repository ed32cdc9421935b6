"""What a raw byte stream of an engine means as text: lines, levels, no escape codes, no secrets.

Pure. Used by serving/logs.py, and by whoever reads a log that lies on the disk.
"""

import codecs
import re

from studio.domain.redaction import redact

LINE_LIMIT = 64 << 10
"""Characters; a longer line is cut. Engines dump whole scheduler states on one line."""

_CUT_MARGIN = 512
"""Longer than any secret: a secret that lies across the cut must not survive in part."""

_ESCAPE = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]"  # colours, cursor movements
    r"|\][^\x07\x1b\n]*(?:\x07|\x1b\\)?"  # titles, links
    r"|[PX^_][^\x1b\n]*(?:\x1b\\)?"
    r"|[ -/]*[0-~]?)"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029]")
_CONTROL_BYTES = bytes({*range(32), 127} - {9, 10, 13})
_LEVEL = re.compile(
    r"(?:\([A-Za-z][\w-]{0,40} pid=\d+\) ?)?"
    r"(?:(DEBUG|INFO|WARNING|ERROR|CRITICAL)(?::| \d\d-\d\d )|\[?([IWEF])\d{4} \d\d:)"
)
_HEADER = re.compile(
    r"(?:\([A-Za-z][\w-]{0,40} pid=\d+\) ?)?"
    r"(?:(DEBUG|INFO|WARNING|ERROR|CRITICAL) \d\d-\d\d \d\d:\d\d:\d\d \[[^\]\s]+\] ?"
    r"|(DEBUG|INFO|WARNING|ERROR|CRITICAL): {1,5})?"
    r"(?:\[(?!shutdown)[a-z_]+\] (?=[A-Z]))?"  # `[backbone]`: what is compiled
)
_PYTHON_WARNING = re.compile(r"\S+\.py:\d+: \w*Warning: ")
_LEVELS = {
    "DEBUG": "debug",
    "INFO": "info",
    "WARNING": "warning",
    "ERROR": "error",
    "CRITICAL": "error",
    "I": "info",
    "W": "warning",
    "E": "error",
    "F": "error",
}


_BAR = re.compile(
    r"(?P<key>(?P<tag>(?:\([A-Za-z][\w-]{0,40} pid=\d+\) ?)?)[^%|]{0,120}?)\s*"
    r"(?P<percent>\d{1,3})%(?:\||  ?Completed )"
)
"""tqdm's bars, and vLLM's of checkpoint shards, which writes each state on a line of its own."""
_TAG = re.compile(r"\([A-Za-z][\w-]{0,40} pid=\d+\) ?")


def level_of(line: str) -> str:
    """Return `debug info warning error`, or `none` for a line that carries no level.

    Knows vLLM's shape, uvicorn's, torch's and Python's warnings.
    """
    match = _LEVEL.match(line)
    if match is not None:
        return _LEVELS[match[1] or match[2]]
    if "Warning: " in line and _PYTHON_WARNING.match(line) is not None:
        return "warning"
    return "none"


def split_header(line: str) -> tuple[str, str]:
    """Return a line's level and its message, without process, time and source position."""
    match = _HEADER.match(line)
    if match is None or match.end() == 0:
        return "none", line
    name = match[1] or match[2]
    return (_LEVELS[name] if name else "none"), line[match.end() :]


def clean(text: str) -> str:
    """Return `text` without escape sequences and control characters; line ends stay."""
    return _CONTROL.sub("", _ESCAPE.sub("", text))


class Splitter:
    """Cuts one stream into lines.

    A carriage return starts its line afresh, as on a terminal: of a progress bar only the last
    state becomes a line. The states before it are handed out as `interim`, because boot phases are
    read from them while the bar still moves. The same goes for a bar whose states are lines of
    their own: it becomes one at its end, or when its process says something else.
    """

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest = ""
        self._dirty = False
        self._cut = False
        self._bars: dict[str, tuple[str, str]] = {}
        """The last state of each bar that has not ended, by the process that draws it."""
        self._ended = ""

    def feed(self, data: bytes, secrets: tuple[str, ...]) -> tuple[list[str], list[str]]:
        """Return the lines that `data` completes and the interim states, redacted."""
        text = self._decoder.decode(data)
        if not text.isascii() or len(data.translate(None, _CONTROL_BYTES)) != len(data):
            self._dirty = True  # only such text is worth the slow search for escape sequences
        text = self._rest + text
        end = text.rfind("\n")
        whole, self._rest = text[: end + 1], text[end + 1 :]
        interim: list[str] = []
        lines: list[str] = []
        if whole:
            whole = self._tidy(whole, secrets)
            self._dirty = self._dirty and bool(self._rest)
            lines = whole[:-1].split("\n")
            if "\r" in whole:
                lines = [_last_state(line, interim) for line in lines]
            if self._cut:
                self._cut = False
                del lines[0]  # the rest of a line that was cut
            lines = [line if len(line) <= LINE_LIMIT else _cut(line) for line in lines]
        lines += self._bound_rest(interim, secrets)
        if self._bars or "%|" in whole or "% Completed " in whole:
            lines = self._without_bars(lines, interim)
        return lines, interim

    def finish(self, secrets: tuple[str, ...]) -> list[str]:
        """Return the line that was begun and will not be ended, if any."""
        rest, self._rest = self._rest + self._decoder.decode(b"", final=True), ""
        cut, self._cut = self._cut, False
        held = [state for _key, state in self._bars.values()]
        self._bars.clear()
        if cut or not rest.strip():
            return held
        return [*held, _last_state(redact(clean(rest), secrets), [])]

    def _without_bars(self, lines: list[str], interim: list[str]) -> list[str]:
        """Return `lines` with one line for each bar."""
        kept: list[str] = []
        for line in lines:
            bar = _BAR.match(line)
            tag = bar["tag"] if bar is not None else _tag_of(line)
            key, state = self._bars.pop(tag, ("", ""))
            if bar is None:
                kept += [state, line] if state else [line]
                continue
            if state and key != bar["key"]:
                kept.append(state)
            if int(bar["percent"]) < 100:
                self._bars[tag] = (bar["key"], line)
                interim.append(line)
            elif line != self._ended:  # a bar that is closed is drawn once more
                self._ended = line
                kept.append(line)
        return kept

    def _tidy(self, text: str, secrets: tuple[str, ...]) -> str:
        return redact(clean(text) if self._dirty else text, secrets)

    def _bound_rest(self, interim: list[str], secrets: tuple[str, ...]) -> list[str]:
        """Keep the unfinished line small, however long it gets."""
        if self._cut:
            self._rest = ""
            return []
        if "\r" in self._rest:
            states = self._rest.split("\r")
            keep = states.pop() or (states.pop() + "\r")
            interim += [self._tidy(state, secrets) for state in states if state.strip()]
            self._rest = keep
        if len(self._rest) <= LINE_LIMIT:
            return []
        line, self._rest, self._cut = self._rest, "", True
        return [_cut(self._tidy(line, secrets))]


def _tag_of(line: str) -> str:
    match = _TAG.match(line)
    return match.group() if match is not None else ""


def _cut(line: str) -> str:
    return line[:-_CUT_MARGIN][: LINE_LIMIT - _CUT_MARGIN] + " … (cut)"


def _last_state(line: str, interim: list[str]) -> str:
    if "\r" not in line:
        return line
    states = [state for state in line.split("\r") if state.strip()]
    interim += states[:-1]
    return states[-1] if states else ""
