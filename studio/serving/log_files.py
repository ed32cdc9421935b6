"""A log that lies on the disk, whoever wrote it: read once, in bounded memory.

Knows plain text in UTF-8 and UTF-16 (what PowerShell redirects into a file) and gzip. Bytes that
are no text are taken as they come; they match nothing.
"""

import codecs
import gzip
import zlib
from pathlib import Path
from typing import IO, cast

from studio.domain.errors import BadInput, Damaged, HostLacks, NotFound
from studio.serving.heard import Hearing
from studio.serving.log_text import Splitter

_CHUNK = 1 << 20
_GZIP = b"\x1f\x8b"
_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


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


def hear_stream(file: IO[bytes], *, most_bytes: int | None = None) -> Hearing:
    """Return what a log says that is read from `file`, packed or not; no more than `most_bytes`.

    Raises: OSError, EOFError, zlib.error, gzip.BadGzipFile.
    """
    hearing, splitter = Hearing(), Splitter()
    first = file.read(_CHUNK)
    source: IO[bytes] = file
    if first.startswith(_GZIP):
        source = cast("IO[bytes]", gzip.GzipFile(mode="rb", fileobj=_Rewound(first, file)))
        first = source.read(_CHUNK)
    decoder = codecs.getincrementaldecoder("utf-16")("replace") if first[:2] in _WIDE else None
    taken, chunk = 0, first
    while chunk and (most_bytes is None or taken < most_bytes):
        taken += len(chunk)
        if decoder is not None:
            chunk = decoder.decode(chunk).encode("utf-8", "replace")
        lines, _ = splitter.feed(chunk, ())
        hearing.take(lines)
        chunk = source.read(_CHUNK)
    hearing.take(splitter.finish(()))
    return hearing


class _Rewound:
    """A file of which some bytes were read already, for a reader that only goes forward."""

    def __init__(self, first: bytes, rest: IO[bytes]) -> None:
        self._first = first
        self._rest = rest

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes."""
        if not self._first:
            return self._rest.read(size)
        size = len(self._first) if size < 0 else size
        taken, self._first = self._first[:size], self._first[size:]
        return taken
