"""`runtimes/alarms.toml` as rules, checked: limits, how long, words, remedies."""

import dataclasses
import re
import string
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from studio.domain.alarms import Severity
from studio.domain.errors import BadInput
from studio.domain.manifests import Document
from studio.domain.remedies import Way
from studio.host.documents import read_toml
from studio.monitor.alarm_rules import Rule
from studio.monitor.intended import KINDS, Patterns
from studio.monitor.signs import FLAGS, SIGNS

_SCHEMA = 1


class _Entry(Document, frozen=True, kw_only=True):
    """One `[[alarm]]` of the file."""

    code: str
    severity: Severity
    title: str
    cause: str
    source: str
    of_engine: bool = True
    settle_s: float = 5.0
    raise_after_s: float
    clear_after_s: float
    ease: float = 0.7
    limits: dict[str, float] = msgspec.field(default_factory=dict)
    remedies: tuple[Way, ...]


class _File(Document, frozen=True, kw_only=True):
    schema_version: int
    intended: dict[str, tuple[str, ...]]
    alarm: tuple[_Entry, ...]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class AlarmFile:
    """All of the file."""

    rules: tuple[Rule, ...]
    intended: Patterns


def load(path: Path) -> AlarmFile:
    """Return what stands in `path`.

    Raises: NotFound (`file-missing`), BadInput (`document-invalid`).
    """
    file = read_toml(path, _File)
    if file.schema_version != _SCHEMA:
        raise _invalid(path, f"schema_version should be {_SCHEMA}, found {file.schema_version}")
    codes = [entry.code for entry in file.alarm]
    for code in codes:
        if codes.count(code) > 1:
            raise _invalid(path, f"`{code}` stands there twice")
    return AlarmFile(
        rules=tuple(_rule(path, entry) for entry in file.alarm),
        intended=_patterns(path, file.intended),
    )


def _patterns(path: Path, intended: Mapping[str, tuple[str, ...]]) -> Patterns:
    if intended.keys() != KINDS:
        wanted = ", ".join(sorted(KINDS))
        raise _invalid(path, f"[intended] should have {wanted}")
    try:
        return {name: tuple(map(re.compile, texts)) for name, texts in intended.items()}
    except re.error as error:
        raise _invalid(path, f"[intended]: {error}") from error


def _rule(path: Path, entry: _Entry) -> Rule:
    place = f"alarm `{entry.code}`"
    sign = SIGNS.get(entry.code)
    if sign is None:
        raise _invalid(path, f"{place}: nothing looks for it")
    if entry.limits.keys() != sign.limits:
        wanted = ", ".join(sorted(sign.limits)) or "none"
        raise _invalid(path, f"{place}: its limits should be {wanted}")
    if not 0 < entry.ease <= 1:
        raise _invalid(path, f"{place}: ease should be above 0 and at most 1")
    if min(entry.raise_after_s, entry.clear_after_s, entry.settle_s) < 0:
        raise _invalid(path, f"{place}: a time is below 0")
    if not entry.remedies:
        raise _invalid(path, f"{place} should have remedies")
    for text, names in _texts(entry):
        try:
            unknown = placeholders(text) - sign.names - names
        except ValueError as error:
            raise _invalid(path, f"{place}: {error} in `{text}`") from error
        if unknown:
            raise _invalid(path, f"{place} names {{{min(unknown)}}}, which nothing finds")
    for way in entry.remedies:
        _check_way(path, place, way)
    return Rule(
        code=entry.code,
        severity=entry.severity,
        is_of_engine=entry.of_engine,
        settle_s=entry.settle_s,
        raise_after_s=entry.raise_after_s,
        clear_after_s=entry.clear_after_s,
        ease=entry.ease,
        limits=entry.limits,
        title=entry.title,
        cause=entry.cause,
        ways=entry.remedies,
    )


def _texts(entry: _Entry) -> Iterator[tuple[str, set[str]]]:
    """Yield each text and the names that it may use beside the sign's own."""
    yield entry.title, set()
    yield entry.cause, set()
    for one in entry.remedies:
        yield one.text, set(one.settings)
        yield one.command or "", set()
        for value in one.settings.values():
            yield value, set()


def _check_way(path: Path, place: str, way: Way) -> None:
    if way.fault is not None:
        raise _invalid(path, f"{place}: {way.fault}")
    for flag in way.when:
        if flag.removeprefix("!") not in FLAGS:
            raise _invalid(path, f"{place} names the condition `{flag}`, which does not exist")


def placeholders(text: str) -> set[str]:
    """Return the names in braces. Raises: ValueError, if a brace stands alone."""
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def _invalid(path: Path, why: str) -> BadInput:
    return BadInput("document-invalid", f"{path}: {why}.")
