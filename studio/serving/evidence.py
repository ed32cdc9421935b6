"""What is kept of an engine that died: its last lines and what was known of it.

One folder for each death under `logs/crashes`, written whole or not at all; the newest ten stay.
For whoever looks later, and for a report (`folders`).
"""

import contextlib
import datetime
import os
import secrets
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from studio.domain.errors import ErrorInfo
from studio.domain.server import EngineSnapshot

KEPT = 10
_UNFINISHED = ".unfinished-"


class Death(msgspec.Struct, frozen=True, kw_only=True):
    """`death.json` of such a folder."""

    schema_version: int = 1
    at: str
    """ISO 8601 in UTC."""
    deaths: int
    """How many there were within the window of the brake, this one counted."""
    exit_code: int | None = None
    error: ErrorInfo | None = None
    engine: EngineSnapshot


def keep(folder: Path, death: Death, lines: Sequence[str]) -> Path | None:
    """Write one folder into `folder` and return it; None when the disk does not take it."""
    name = f"{death.at.replace(':', '').replace('-', '')}-{secrets.token_hex(2)}"
    unfinished, finished = folder / f"{_UNFINISHED}{name}", folder / name
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        folder.chmod(0o700)  # an older version left it open to everybody, and what lies in it
        unfinished.mkdir(mode=0o700)
        log = "".join(f"{line}\n" for line in lines)
        _write(unfinished / "engine.log", log.encode("utf-8"))
        _write(unfinished / "death.json", msgspec.json.format(msgspec.json.encode(death), indent=2))
        unfinished.rename(finished)
    except OSError:
        shutil.rmtree(unfinished, ignore_errors=True)
        return None
    _thin(folder)
    return finished


def folders(folder: Path) -> list[Path]:
    """Return what is kept, the newest first."""
    with contextlib.suppress(OSError):
        found = [one for one in folder.iterdir() if one.is_dir() and not one.name.startswith(".")]
        return sorted(found, key=lambda one: one.name, reverse=True)
    return []


def newest(folder: Path, *, within_s: float) -> tuple[Path, Death] | None:
    """Return the newest death, and its folder, unless it is older than that or cannot be read."""
    for one in folders(folder)[:1]:
        with contextlib.suppress(OSError, ValueError, msgspec.MsgspecError):
            death = msgspec.json.decode((one / "death.json").read_bytes(), type=Death)
            if time.time() - datetime.datetime.fromisoformat(death.at).timestamp() <= within_s:
                return one, death
    return None


class Past(NamedTuple):
    """A death in a sentence, and when it was in seconds since the epoch."""

    cause: str
    at: float


def last(folder: Path, *, within_s: float = 24 * 3600.0) -> Past | None:
    """Return the newest death whose cause is known, unless it is older than that."""
    found = newest(folder, within_s=within_s)
    death = found[1] if found is not None else None
    if death is None or death.error is None:
        return None
    return Past(death.error.message, datetime.datetime.fromisoformat(death.at).timestamp())


def with_past(snapshot: EngineSnapshot, past: Past | None) -> EngineSnapshot:
    """Return `snapshot` with the death that was before."""
    if past is None:
        return snapshot
    return msgspec.structs.replace(snapshot, died_of=past.cause, died_at=past.at)


def now_text() -> str:
    """Return this moment as `Death.at` wants it."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def _write(path: Path, data: bytes) -> None:
    """Write a file that nobody but the user ever could read."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)


def _thin(folder: Path) -> None:
    for old in folders(folder)[KEPT:]:
        shutil.rmtree(old, ignore_errors=True)
    for litter in folder.glob(f"{_UNFINISHED}*"):
        shutil.rmtree(litter, ignore_errors=True)
