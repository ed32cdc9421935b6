"""`logs/last-launch.json`: the command that the last engine was started with, for the report."""

import asyncio
import logging
import re
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import msgspec

from studio.domain.errors import StudioError
from studio.domain.redaction import MASK, redact
from studio.host.documents import read_json, write_json
from studio.serving.command import Launch

logger = logging.getLogger(__name__)

_SECRET = re.compile(r"KEY|TOKEN(?!IZER)|SECRET|PASSW|CREDENTIAL|COOKIE", re.IGNORECASE)
_COUNT_NAME = re.compile(r"TOKENS|TOKEN[-_]", re.IGNORECASE)
_COUNT = re.compile(r"\d{1,9}(?:\.\d{1,3})?[kmg]?", re.IGNORECASE)
"""How vLLM lets a number of tokens be written; a token itself is longer."""


class LaunchRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One start, without any secret."""

    schema_version: int = 1
    at: float
    preset: str
    runtime: str
    runtime_id: str
    overrides: dict[str, str] = {}
    argv: tuple[str, ...]
    environment: dict[str, str]


def record_file(logs: Path) -> Path:
    """Return where the record lies."""
    return logs / "last-launch.json"


def recorder(logs: Path, note: Callable[[str], None]) -> Callable[[Launch], Awaitable[None]]:
    """Return what keeps a start, and says it in the log; to be called before each."""

    async def keep(launch: Launch) -> None:
        note(f"Starting {launch.preset} on {launch.runtime} ({launch.runtime_id[:12]}).")
        made = record(launch, time.time())
        try:
            await asyncio.to_thread(write_json, record_file(logs), made, mode=0o600)
        except StudioError as error:  # a report will know less; no reason not to serve
            logger.warning("the command is not kept: %s", error.message)

    return keep


def record(launch: Launch, at: float) -> LaunchRecord:
    """Return what is kept of a start."""
    return LaunchRecord(
        at=at,
        preset=launch.preset,
        runtime=launch.runtime,
        runtime_id=launch.runtime_id,
        overrides=dict(launch.overrides),
        argv=_arguments(launch.argv),
        environment={
            name: MASK if _is_secret(name, value) else redact(value)
            for name, value in launch.environment.items()
        },
    )


def _arguments(argv: Sequence[str]) -> tuple[str, ...]:
    """Return the command without the values of options that take a secret."""
    names = ("", *(part if part.startswith("--") and "=" not in part else "" for part in argv))
    return tuple(
        MASK if not part.startswith("--") and _is_secret(name, part) else redact(part)
        for part, name in zip(argv, names, strict=False)
    )


def _is_secret(name: str, value: str) -> bool:
    """Tell whether `name` says that `value` is one; `--max-num-batched-tokens` takes a number."""
    is_count = _COUNT_NAME.search(name) is not None and _COUNT.fullmatch(value) is not None
    return _SECRET.search(name) is not None and not is_count


def last(logs: Path) -> LaunchRecord | None:
    """Return the last record; None when there is none.

    Raises: Damaged (`document-damaged`), HostLacks (`not-readable`).
    """
    return read_json(record_file(logs), LaunchRecord)
