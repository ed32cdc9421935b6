"""Why an engine failed, in words: log lines + exit code + runtimes/failures.toml → an error.

What is known about failures is data. This module only looks: it drops process tags, times and
source positions, leaves out what an engine says after it was told to stop, and takes the first
signature of the file that matches. Evidence is the line that names the cause, not the last line
of the last traceback.
"""

import dataclasses
import re
import string
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from studio.domain.errors import BadInput, EngineFailed, ErrorInfo
from studio.domain.manifests import Document
from studio.host.documents import read_toml
from studio.serving.log_text import split_header

_EVIDENCE_LINES = 4
_EVIDENCE_WIDTH = 400
_MESSAGE_WIDTH = 2_000
"""Causes stand at the beginning; what an engine dumps of its state goes on for pages."""
_KNOWN_VALUES = ("exit_code", "root")
_ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)+")
_STOP_REQUESTED = "[shutdown] API server: shutdown triggered"
_BOOT_BEGINS = "non-default args: {"
_EXCEPTION = re.compile(
    r"(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Exit|Interrupt)(?:: .*|)", re.ASCII
)
_WRAPPER = re.compile(
    r"(?:[A-Za-z_]\w*\.)*(?:"
    r"EngineDeadError\b|CalledProcessError\b|CancelledError\b"
    r"|RuntimeError: (?:Engine core initialization failed|Worker failed with error"
    r"|Error raised in subprocess|cancelled\s*$)"
    r"|ValidationError: \d+ validation error)"
)

Value = str | int | float


class _Entry(Document, frozen=True, kw_only=True):
    """One `[[signature]]` of the file."""

    id: str
    """Becomes the error's code."""
    patterns: tuple[str, ...] = ()
    """Any of these, searched in the messages; `^` and `$` are a message's ends. Named groups may
    stand in `cause` and `remedy`, and travel as the error's `data`."""
    levels: tuple[str, ...] = ("error", "none")
    """Only in messages of these levels."""
    exit_codes: tuple[int, ...] = ()
    """Without patterns: any of these. Negative: a signal."""
    failed_only: bool = False
    """Only when the process ended with a status other than 0."""
    cause: tuple[str, ...]
    """Sentences; the first whose placeholders are all known is shown."""
    remedy: tuple[str, ...] = ()


class _File(Document, frozen=True, kw_only=True):
    schema_version: int
    signature: tuple[_Entry, ...]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """One known failure, ready for use."""

    id: str
    patterns: tuple[re.Pattern[str], ...]
    levels: tuple[str, ...]
    exit_codes: tuple[int, ...]
    failed_only: bool
    cause: tuple[str, ...]
    remedy: tuple[str, ...]


def load(path: Path) -> tuple[Signature, ...]:
    """Return the signatures in `path`, most specific first.

    Raises: NotFound (`file-missing`), BadInput (`document-invalid`).
    """
    file = read_toml(path, _File)
    if file.schema_version != 1:
        raise _invalid(path, f"schema_version should be 1, found {file.schema_version}")
    signatures = tuple(_compiled(path, entry) for entry in file.signature)
    names = [signature.id for signature in signatures]
    for name in names:
        if names.count(name) > 1:
            raise _invalid(path, f"`{name}` stands there twice")
    return signatures


def diagnose(
    lines: Iterable[str], exit_code: int | None, signatures: Sequence[Signature]
) -> ErrorInfo | None:
    """Return why the engine that printed `lines` failed, or None when nothing says that it did.

    `lines` are those of one boot. `exit_code` is None while the process runs, negative for a
    signal; 0 says nothing, since vLLM also ends with 0 when its engine died.
    """
    found = matches(lines, exit_code, signatures)
    return found[0] if found else None


def matches(
    lines: Iterable[str], exit_code: int | None, signatures: Sequence[Signature]
) -> list[ErrorInfo]:
    """Return every signature that matches as an error, most specific first."""
    messages = _messages(lines)
    texts: dict[tuple[str, ...], str] = {}
    root = root_cause(messages)
    found: list[ErrorInfo] = []
    for signature in signatures:
        if signature.failed_only and exit_code in (None, 0):
            continue
        if not signature.patterns:
            if exit_code is not None and exit_code in signature.exit_codes:
                found.append(_error(signature, {}, [], root, exit_code))
            continue
        text = texts.get(signature.levels)
        if text is None:
            text = "\n".join(said for level, said in messages if level in signature.levels)
            texts[signature.levels] = text
        values, evidence = _search(signature, text)
        if evidence:
            found.append(_error(signature, values, evidence, root, exit_code))
    return found


def root_cause(messages: Iterable[tuple[str, str]]) -> str | None:
    """Return the first exception in (level, message) pairs that does not merely pass on another.

    Python prints a chain's origin first, and vLLM's workers speak before the processes above them.
    """
    for level, said in messages:
        if level in ("error", "none") and _EXCEPTION.fullmatch(said) and not _WRAPPER.match(said):
            return said
    return None


def _messages(lines: Iterable[str]) -> list[tuple[str, str]]:
    """Return level and message of each line that may speak of a failure."""
    messages: list[tuple[str, str]] = []
    stopping = False
    for line in lines:
        level, said = split_header(line)
        if said.startswith(_STOP_REQUESTED):
            stopping = True
        elif stopping and said.startswith(_BOOT_BEGINS):
            stopping = False  # a log of several boots: the last one counts
            messages.clear()
        if not stopping and level not in ("info", "debug"):
            messages.append((level, said[:_MESSAGE_WIDTH].rstrip()))
    return messages


def _search(signature: Signature, text: str) -> tuple[dict[str, Value], list[str]]:
    """Return the values of the first match, and the messages that match."""
    values: dict[str, Value] = {}
    evidence: list[str] = []
    for pattern in signature.patterns:
        match = pattern.search(text)
        while match is not None:
            if not evidence:
                groups = match.groupdict()
                values = {name: _value(said) for name, said in groups.items() if said is not None}
            start = text.rfind("\n", 0, match.start()) + 1
            end = text.find("\n", match.start())
            end = end if end >= 0 else len(text)
            message = text[start:end].strip()
            if message not in evidence:
                evidence.append(message)
            if len(evidence) == _EVIDENCE_LINES:
                return values, evidence
            match = pattern.search(text, end)  # one match a line is enough
    return values, evidence


def _error(
    signature: Signature,
    values: Mapping[str, Value],
    evidence: list[str],
    root: str | None,
    exit_code: int | None,
) -> ErrorInfo:
    known: dict[str, Value] = dict(values)
    if root is not None:
        known["root"] = _short(root)
        if not any(root in line for line in evidence):
            evidence = [root, *evidence]
    if exit_code is not None:
        known["exit_code"] = exit_code
    data: dict[str, str | int | float | bool | None] = dict(values)
    if exit_code is not None:
        data["exit_code"] = exit_code
    return ErrorInfo(
        code=signature.id,
        message=_first_known(signature.cause, known) or signature.id,
        hint=_first_known(signature.remedy, known),
        evidence=tuple(_short(line) for line in evidence[:_EVIDENCE_LINES]),
        exit_status=EngineFailed.exit_status,
        data=data,
    )


def _short(text: str) -> str:
    return text if len(text) <= _EVIDENCE_WIDTH else text[: _EVIDENCE_WIDTH - 1] + "…"


def _first_known(templates: Sequence[str], values: Mapping[str, Value]) -> str | None:
    for template in templates:
        if set(_placeholders(template)) <= values.keys():
            return template.format_map(values)
    return None


def _placeholders(template: str) -> list[str]:
    return [name for _, name, _, _ in string.Formatter().parse(template) if name is not None]


def _value(text: str) -> Value:
    readers: tuple[Callable[[str], Value], ...] = (int, float)
    for read in readers:
        try:
            return read(text)
        except ValueError:
            continue
    return text


def _compiled(path: Path, entry: _Entry) -> Signature:
    place = f"signature `{entry.id}`"
    if _ID.fullmatch(entry.id) is None:
        raise _invalid(path, f"{place}: an id is two or more lower-case words with hyphens")
    if bool(entry.patterns) == bool(entry.exit_codes):
        raise _invalid(path, f"{place} should have either patterns or exit_codes")
    try:
        patterns = tuple(re.compile(pattern, re.MULTILINE) for pattern in entry.patterns)
    except re.error as error:
        raise _invalid(path, f"{place}: {error} in a pattern") from error
    known = {*_KNOWN_VALUES, *(name for pattern in patterns for name in pattern.groupindex)}
    for template in (*entry.cause, *entry.remedy):
        try:
            unknown = set(_placeholders(template)) - known
        except ValueError as error:
            raise _invalid(path, f"{place}: {error} in `{template}`") from error
        if unknown:
            raise _invalid(path, f"{place} names {{{unknown.pop()}}}, which no pattern finds")
    return Signature(
        id=entry.id,
        patterns=patterns,
        levels=entry.levels,
        exit_codes=entry.exit_codes,
        failed_only=entry.failed_only,
        cause=entry.cause,
        remedy=entry.remedy,
    )


def _invalid(path: Path, why: str) -> BadInput:
    return BadInput("document-invalid", f"{path}: {why}.")
