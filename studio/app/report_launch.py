"""`logs/last-launch.json`: the command that the last engine was started with, for the report."""

import logging
import re
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import msgspec

from studio.domain.errors import StudioError
from studio.domain.redaction import MASK, redact
from studio.domain.server import EngineSnapshot
from studio.host.documents import read_json, write_json
from studio.serving.command import Launch

logger = logging.getLogger(__name__)

_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|COOKIE", re.IGNORECASE)


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


def recorded(
    ensure_ready: Callable[[Launch], Awaitable[EngineSnapshot]],
    logs: Path,
    note: Callable[[str], None],
) -> Callable[[Launch], Awaitable[EngineSnapshot]]:
    """Return `ensure_ready` with a record of the command, and a line in the log, before it."""

    async def with_record(launch: Launch) -> EngineSnapshot:
        note(f"Starting {launch.preset} on {launch.runtime} ({launch.runtime_id[:12]}).")
        try:
            write_json(record_file(logs), record(launch, time.time()), mode=0o600)
        except StudioError as error:  # a report will know less; no reason not to serve
            logger.warning("the command is not kept: %s", error.message)
        return await ensure_ready(launch)

    return with_record


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
            name: MASK if _SECRET.search(name) else redact(value)
            for name, value in launch.environment.items()
        },
    )


def _arguments(argv: Sequence[str]) -> tuple[str, ...]:
    """Return the command without the values of options that take a secret."""
    is_value = [False, *(part.startswith("--") and bool(_SECRET.search(part)) for part in argv)]
    return tuple(
        MASK if hidden and not part.startswith("--") else redact(part)
        for part, hidden in zip(argv, is_value, strict=False)
    )


def last(logs: Path) -> LaunchRecord | None:
    """Return the last record; None when there is none.

    Raises: Damaged (`document-damaged`), HostLacks (`not-readable`).
    """
    return read_json(record_file(logs), LaunchRecord)
