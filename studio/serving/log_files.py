"""A log that lies on the disk, whoever wrote it: read once, in bounded memory.

Knows plain text in UTF-8 and UTF-16 (what PowerShell redirects into a file) and gzip. Bytes that
are no text are taken as they come; they match nothing.
"""

import codecs
import gzip
import zlib
from pathlib import Path
from typing import Protocol

from studio.domain.errors import BadInput, Damaged, HostLacks, NotFound
from studio.serving.heard import Hearing
from studio.serving.log_text import Splitter

_CHUNK = 1 << 20
_GZIP = b"\x1f\x8b"
_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class Peekable(Protocol):
    """A file that can be looked into ahead: one on the disk, and one in a zip."""

    def read(self, size: int = ..., /) -> bytes:
        """Return the next bytes."""

    def peek(self, size: int = ..., /) -> bytes:
        """Return some of the next bytes, which stay where they are."""

    def seek(self, offset: int, /) -> int:
        """Go to a place."""


def hear(path: Path) -> Hearing:
    """Return what the log in `path` says.

    Raises: NotFound (`file-missing`), BadInput (`log-is-folder`), HostLacks (`not-readable`),
    Damaged (`log-damaged`).
    """
    try:
        with path.open("rb") as file:
            return hear_stream(file)
    except FileNotFoundError as error:
        raise NotFound("file-missing", f"There is no file {path}.") from error
    except IsADirectoryError as error:
        raise BadInput(
            "log-is-folder", f"{path} is a folder.", hint="Name the log file in it."
        ) from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise Damaged(
            "log-damaged", f"{path} cannot be unpacked: {error}.", hint="Unpack it by hand."
        ) from error
    except OSError as error:
        raise HostLacks(
            "not-readable",
            f"{path} cannot be read: {error.strerror or error}.",
            hint="Check the file's owner and permissions.",
        ) from error


def hear_stream(file: Peekable, *, most_bytes: int | None = None) -> Hearing:
    """Return what a log says that is read from `file`, packed or not; no more than `most_bytes`.

    Raises: OSError, EOFError, zlib.error, gzip.BadGzipFile.
    """
    hearing, splitter = Hearing(), Splitter()
    is_packed = file.peek(2)[:2] == _GZIP
    source = gzip.GzipFile(mode="rb", fileobj=file) if is_packed else file
    is_wide = source.peek(2)[:2] in _WIDE
    decoder = codecs.getincrementaldecoder("utf-16")("replace") if is_wide else None
    taken = 0
    while (most_bytes is None or taken < most_bytes) and (chunk := source.read(_CHUNK)):
        taken += len(chunk)
        if decoder is not None:
            chunk = decoder.decode(chunk).encode("utf-8", "replace")
        lines, _ = splitter.feed(chunk, ())
        hearing.take(lines)
    hearing.take(splitter.finish(()))
    return hearing
