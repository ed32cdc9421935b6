"""A log that lies on the disk, whoever wrote it: read once, in bounded memory.

Knows plain text in UTF-8 and UTF-16 (what PowerShell redirects into a file) and gzip. Bytes that
are no text are taken as they come; they match nothing.
"""

import codecs
import gzip
import io
import zlib
from pathlib import Path

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
    hearing = Hearing()
    try:
        with path.open("rb") as file:
            _read(file, hearing)
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
    return hearing


def _read(file: io.BufferedReader, hearing: Hearing) -> None:
    start = file.peek(2)[:2]
    source: io.BufferedIOBase = file
    if start == _GZIP:
        source = gzip.GzipFile(fileobj=file)
    decoder = codecs.getincrementaldecoder("utf-16")("replace") if start in _WIDE else None
    splitter = Splitter()
    while chunk := source.read(_CHUNK):
        if decoder is not None:
            chunk = decoder.decode(chunk).encode("utf-8", "replace")
        lines, _ = splitter.feed(chunk, ())
        hearing.take(lines)
    hearing.take(splitter.finish(()))
