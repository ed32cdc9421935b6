"""The service's own log: one file and three older ones, for its owner only, without secrets."""

import logging
import logging.handlers
import os
from collections.abc import Sequence
from pathlib import Path

from studio.domain.redaction import redact
from studio.host import files
from studio.host.paths import Paths
from studio.serving.log_file import file_of, stamp

_BYTES = 1 << 20
_BACKUPS = 3


class Plain(logging.Formatter):
    """Time, level, who says it, what; a traceback follows on lines of its own."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as text."""
        return stamp(record.created) + redact(super().format(record))


def log_to(paths: Paths, others: Sequence[logging.Handler] = ()) -> None:
    """Write all that the service says to its file, and to `others`. Raises: HostLacks."""
    path = file_of(paths.logs, "service")
    try:
        paths.logs.mkdir(parents=True, exist_ok=True)
        _make_private(path)
        handler = logging.handlers.RotatingFileHandler(
            path, maxBytes=_BYTES, backupCount=_BACKUPS, encoding="utf-8", errors="replace"
        )
    except OSError as error:
        raise files.from_os_error(error, path) from error
    handler.rotator = _rotate
    handler.setFormatter(Plain("%(levelname)s %(name)s: %(message)s"))
    root = logging.getLogger()
    root.handlers[:] = [handler, *others]
    root.setLevel(logging.INFO)


def _rotate(source: str, target: str) -> None:
    """Move the full file out of the way, and have its successor private before it is opened."""
    Path(source).replace(target)
    _make_private(Path(source))


def _make_private(path: Path) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.close(descriptor)
    path.chmod(0o600)
