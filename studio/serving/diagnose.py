"""Why an engine failed, in words: log lines + exit code + runtimes/failures.toml → errors.

What is known about failures is data (`signatures.py`); this module only looks. It takes every
signature that matches and puts root causes before their consequences: by rank, then by what the
log said first (workers speak before the processes above them), then by the file's order. Evidence
is the line that names the cause, not the last line of the last traceback.
"""

import dataclasses
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from studio.domain.errors import EngineFailed, ErrorInfo
from studio.domain.remedies import Remedy
from studio.serving import exit_codes
from studio.serving.heard import Boot, Hearing, Message
from studio.serving.signatures import (
    Phase,
    Rank,
    RemedyEntry,
    Signature,
    Value,
    first_known,
    later,
    load,
)
from studio.serving.wrapped import unwrapped

__all__ = ["diagnose", "later", "load", "matches", "matches_heard", "root_cause"]

_EVIDENCE_LINES = 4
_EVIDENCE_WIDTH = 400
_ROOT_WIDTH = 200
"""In a sentence; the evidence has the rest."""
_RANKS = list(Rank)
_NOWHERE = 1 << 60
_EXCEPTION = re.compile(
    r"\s*(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Exit|Interrupt)(?:: .*|)", re.ASCII
)
_WRAPPER = re.compile(
    r"\s*(?:[A-Za-z_]\w*\.)*(?:"
    r"EngineDeadError\b|CalledProcessError\b|CancelledError\b"
    r"|RuntimeError: (?:Engine core initialization failed|Executor failed\.?\s*$"
    r"|Worker failed with error"
    r"|Error raised in subprocess|cancelled\s*$)"
    r"|Exception: WorkerProc initialization failed"
    r"|ValidationError: \d+ validation error)"
)


class _Part(NamedTuple):
    """Which of the messages a signature looks at."""

    levels: frozenset[str]
    at_end: bool
    phase: Phase | None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Hit:
    """A signature that matches."""

    signature: Signature
    place: int
    """Of the message that matched, among those that were searched."""
    values: dict[str, Value]
    evidence: list[str]


def diagnose(
    lines: Iterable[str], exit_code: int | None, signatures: Sequence[Signature]
) -> ErrorInfo | None:
    """Return why the engine that printed `lines` failed, or None when nothing says that it did.

    `exit_code` is None while the process runs or where it is not known, negative for a signal; 0
    says nothing, since vLLM also ends with 0 when its engine died.
    """
    engines = [one for one in signatures if one.rank is not Rank.REQUEST]
    found = matches(lines, exit_code, engines)
    return found[0] if found else None


def matches(
    lines: Iterable[str], exit_code: int | None, signatures: Sequence[Signature]
) -> list[ErrorInfo]:
    """Return every signature that matches as an error, the most likely cause first."""
    hearing = Hearing()
    hearing.take(lines)
    return matches_heard(hearing, exit_code, signatures)


def matches_heard(
    hearing: Hearing, exit_code: int | None, signatures: Sequence[Signature]
) -> list[ErrorInfo]:
    """Return what `matches` does, of a log that was read already.

    The last boot counts. Where it says nothing and never came up (a pasted log of a container that
    is restarted over and over ends anywhere), the one before it does.
    """
    found = _of_boot(hearing.boot, exit_code, signatures)
    if not found and hearing.before is not None and not hearing.boot.is_up:
        found = _of_boot(hearing.before, None, signatures)
    return found


def root_cause(messages: Iterable[Message]) -> str | None:
    """Return the first exception that does not merely pass on another.

    Python prints a chain's origin first, and vLLM's workers speak before the processes above them.
    """
    for one in messages:
        if one.level in ("error", "none") and _is_origin(one.text):
            return one.text.strip()
    return None


def _is_origin(text: str) -> bool:
    return _EXCEPTION.fullmatch(text) is not None and _WRAPPER.match(text) is None


def _of_boot(boot: Boot, exit_code: int | None, signatures: Sequence[Signature]) -> list[ErrorInfo]:
    hits = _hits(boot, boot.messages, exit_code, signatures)
    root = root_cause(boot.messages)
    whole = unwrapped(boot)
    if whole is not None:
        again = _hits(boot, whole, exit_code, signatures)
        known = {hit.signature.id for hit in again}
        hits = again + [hit for hit in hits if hit.signature.id not in known]
    order = {signature.id: number for number, signature in enumerate(signatures)}
    hits.sort(
        key=lambda hit: (
            _RANKS.index(hit.signature.rank),
            _NOWHERE if hit.signature.failed_only else hit.place,
            order[hit.signature.id],
        )
    )
    return [_error(hit, root, exit_code) for hit in hits]


def _hits(
    boot: Boot,
    messages: Sequence[Message],
    exit_code: int | None,
    signatures: Sequence[Signature],
) -> list[_Hit]:
    texts: dict[_Part, str] = {}
    meaning = exit_codes.canonical(exit_code) if exit_code is not None else None
    hits: list[_Hit] = []
    for signature in signatures:
        if signature.failed_only and meaning in (None, 0):
            continue
        part = _Part(signature.levels, signature.at_end, signature.phase)
        if part not in texts:
            texts[part] = _text(part, boot, messages)
        hit = _placed(_search(signature, texts[part]), messages)
        if hit is None and meaning is not None and _ended_so(signature, meaning):
            hit = _Hit(signature=signature, place=_NOWHERE, values={}, evidence=[])
        if hit is not None:
            hits.append(hit)
    return hits


def _placed(hit: _Hit | None, messages: Sequence[Message]) -> _Hit | None:
    """Return a hit with the place that its line had before lines were put together."""
    if hit is None or hit.place >= len(messages) or messages[hit.place].place < 0:
        return hit
    return dataclasses.replace(hit, place=messages[hit.place].place)


def _ended_so(signature: Signature, meaning: int) -> bool:
    return meaning in {exit_codes.canonical(code) for code in signature.exit_codes}


def _text(part: _Part, boot: Boot, messages: Sequence[Message]) -> str:
    """Return the part's messages, one a line; what does not belong to it leaves its line empty."""
    if part.at_end:
        ahead, messages = len(messages), list(boot.last)
        return "\n" * ahead + "\n".join(
            one.text if one.level in part.levels else "" for one in messages
        )
    is_up = {None: None, Phase.BOOT: False, Phase.SERVING: True}[part.phase]
    return "\n".join(
        one.text if one.level in part.levels and is_up in (None, one.is_up) else ""
        for one in messages
    )


def _search(signature: Signature, text: str) -> _Hit | None:
    """Return the first match with its values, and the messages that match."""
    values: dict[str, Value] = {}
    evidence: list[str] = []
    place = _NOWHERE
    for pattern in signature.patterns:
        if pattern.needle not in text:
            continue
        match = pattern.regex.search(text)
        while match is not None and len(evidence) < _EVIDENCE_LINES:
            start = text.rfind("\n", 0, max(match.start(), match.end() - 1)) + 1
            end = text.find("\n", match.end())
            end = end if end >= 0 else len(text)
            line = text.count("\n", 0, start)
            if line < place:
                place = line
                groups = match.groupdict()
                values = {name: _value(said) for name, said in groups.items() if said is not None}
            message = text[start:end].strip()
            if message not in evidence:
                evidence.append(message)
            match = pattern.regex.search(text, end)  # one match a line is enough
    if not evidence:
        return None
    return _Hit(signature=signature, place=place, values=values, evidence=evidence)


def _error(hit: _Hit, root: str | None, exit_code: int | None) -> ErrorInfo:
    signature = hit.signature
    values: dict[str, Value] = dict(hit.values)
    for name, computed in signature.computed.items():
        made = computed.value(values)
        if made is not None:
            values[name] = made
    data: dict[str, str | int | float | bool | None] = dict(values)
    if exit_code is not None:
        values["exit_code"] = data["exit_code"] = exit_code
        values["exit_name"] = exit_codes.name_of(exit_code)
    evidence = hit.evidence
    if root is not None:
        values["root"] = _short(root, _ROOT_WIDTH)
        is_wrapper = signature.rank is not Rank.CAUSE
        if is_wrapper and not any(root in line for line in evidence):
            evidence = [root, *evidence]
    remedies = _remedies(signature.remedies, values)
    return ErrorInfo(
        code=signature.id,
        message=first_known(signature.cause, values) or signature.id,
        hint=remedies[0].text if remedies else None,
        evidence=tuple(_short(line) for line in evidence[:_EVIDENCE_LINES]),
        exit_status=EngineFailed.exit_status,
        data=data,
        remedies=remedies,
    )


def _remedies(entries: Sequence[RemedyEntry], values: Mapping[str, Value]) -> tuple[Remedy, ...]:
    """Return the remedies whose values are all known."""
    made: list[Remedy] = []
    for entry in entries:
        text = first_known((entry.text,), values)
        command = first_known((entry.command,), values) if entry.command else None
        settings = {name: first_known((value,), values) for name, value in entry.settings.items()}
        known = {name: value for name, value in settings.items() if value is not None}
        if text is None or (entry.command and command is None) or len(known) < len(settings):
            continue
        made.append(
            Remedy(kind=entry.kind, text=text, settings=known, command=command, part=entry.part)
        )
    return tuple(made)


def _short(text: str, width: int = _EVIDENCE_WIDTH) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


def _value(text: str) -> Value:
    readers: tuple[Callable[[str], Value], ...] = (int, float)
    for read in readers:
        try:
            return read(text.replace(",", "") if text[:1].isdigit() else text)
        except ValueError:
            continue
    return text
