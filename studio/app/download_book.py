"""What of the queue outlives the service: one small file, written whole.

A file that cannot be read costs the queue, not the service: it is put aside and named in the log.
"""

import contextlib
import logging
from pathlib import Path

import msgspec

from studio.domain.downloads import DownloadState, GetRequest
from studio.domain.errors import ErrorInfo, StudioError
from studio.host.documents import read_json, write_json
from studio.host.paths import Paths

logger = logging.getLogger(__name__)


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """One download that is not done."""

    id: str
    request: GetRequest
    state: DownloadState
    is_first: bool = False
    """Whether somebody waits for it."""
    error: ErrorInfo | None = None


class Book(msgspec.Struct, frozen=True, kw_only=True):
    """The queue in its order, and the limit."""

    jobs: tuple[Kept, ...] = ()
    limit_bytes_per_s: int | None = None


def read(paths: Paths) -> Book:
    """Return what was left. Blocks."""
    file = _file(paths)
    try:
        return read_json(file, Book) or Book()
    except StudioError as error:
        aside = file.with_name(f"{file.name}.damaged")
        logger.warning("the queue of downloads begins anew: %s (kept as %s)", error, aside.name)
        with contextlib.suppress(OSError):
            file.replace(aside)
        return Book()


def write(paths: Paths, book: Book) -> None:
    """Keep it. Blocks. Raises: HostLacks."""
    write_json(_file(paths), book)


def _file(paths: Paths) -> Path:
    return paths.home / "downloads.json"
