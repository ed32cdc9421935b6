"""Logs in a zip: a report of the Studio, or what a person packed for a bug report.

Nothing is unpacked to the disk: each log is read through, in bounded memory and up to a bounded
length, so a zip made to fill disks fills none.
"""

import contextlib
import gzip
import json
import lzma
import re
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from studio.domain.errors import BadInput, Damaged, HostLacks
from studio.serving.heard import Hearing
from studio.serving.log_files import hear_stream

MOST_LOGS = 40
MOST_BYTES = 1 << 30
"""Of one log: enough for any engine, and a limit for what was made to have none."""
_MOST_RECORD = 1 << 20
_FIRST = re.compile(r"(?:.*/)?logs/engine\.log(?:\.\d+)?")
"""Where a report keeps the log of the engine that ran last."""
_DEATH = re.compile(r"(?P<folder>(?:.*/)?evidence/[^/]+/)engine\.log")
"""Where it keeps what was said by those that died."""
_LOG = re.compile(r".*\.(?:log|txt|out|err|jsonl?)(?:\.\d+)?(?:\.gz)?", re.IGNORECASE)
_NO_LOG = re.compile(r"(?:.*/)?(?:(?:summary|timeline|forecast-and-printed)\.txt|[\w-]+\.json)")
_DAMAGE = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, gzip.BadGzipFile)


class Packed(NamedTuple):
    """One log of a zip."""

    name: str
    hearing: Hearing
    exit_code: int | None
    """How the process ended, where the zip says so."""


def is_zip(path: Path) -> bool:
    """Tell whether a file is a zip, by its own word and not by its name."""
    try:
        return path.is_file() and zipfile.is_zipfile(path)
    except OSError:
        return False


def logs(path: Path) -> Iterator[Packed]:
    """Yield the logs in a zip, the most telling first: the last engine's, then those that died.

    Raises: BadInput (`log-none-in-zip`), HostLacks (`not-readable`), Damaged (`log-damaged`).
    """
    try:
        with zipfile.ZipFile(path) as archive:
            names = _ordered([one for one in archive.infolist() if not one.is_dir()])
            if not names:
                raise BadInput(
                    "log-none-in-zip",
                    f"{path} holds no log.",
                    hint="Unpack it and name the file that the engine wrote.",
                )
            for name in names[:MOST_LOGS]:
                with archive.open(name) as file:
                    assert isinstance(file, zipfile.ZipExtFile)  # what it is when it is read
                    hearing = hear_stream(file, most_bytes=MOST_BYTES)
                yield Packed(name, hearing, _exit_code(archive, name))
    except _DAMAGE as error:
        raise _damaged(path, str(error)) from error
    except NotImplementedError as error:
        raise _damaged(path, "it is packed in a way that is not known here") from error
    except RuntimeError as error:  # zipfile's word for one that wants a password
        raise _damaged(path, "it is encrypted") from error
    except OSError as error:
        raise HostLacks(
            "not-readable",
            f"{path} cannot be read: {error.strerror or error}.",
            hint="Check the file's owner and permissions.",
        ) from error


def _ordered(members: list[zipfile.ZipInfo]) -> list[str]:
    names = [one.filename for one in members if _LOG.fullmatch(one.filename)]
    first = sorted(name for name in names if _FIRST.fullmatch(name))
    deaths = sorted((name for name in names if _DEATH.fullmatch(name)), reverse=True)
    told = {*first, *deaths}
    size = {one.filename: one.file_size for one in members}
    rest = [name for name in names if name not in told and not _NO_LOG.fullmatch(name)]
    return [*first, *deaths, *sorted(rest, key=lambda name: (-size[name], name))]


def _exit_code(archive: zipfile.ZipFile, name: str) -> int | None:
    match = _DEATH.fullmatch(name)
    if match is None:
        return None
    with contextlib.suppress(KeyError, ValueError):
        with archive.open(f"{match['folder']}death.json") as file:
            found = json.loads(file.read(_MOST_RECORD))
        code = found.get("exit_code") if isinstance(found, dict) else None
        return code if isinstance(code, int) else None
    return None


def _damaged(path: Path, why: str) -> Damaged:
    return Damaged("log-damaged", f"{path} cannot be unpacked: {why}.", hint="Unpack it by hand.")
