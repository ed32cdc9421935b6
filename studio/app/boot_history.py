"""`boots.json`: the boots of this machine, beside `calibration.json`.

Losing it costs forecasts and nothing else, so a file that cannot be read or written is only logged.
"""

import asyncio
import logging
from pathlib import Path

from studio.domain.boots import BootHistory, BootRecord
from studio.domain.errors import StudioError
from studio.host.documents import read_json, write_json
from studio.serving import boots

logger = logging.getLogger(__name__)


class BootHistoryFile:
    """The file and what it holds. Written whole, by one at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._turn = asyncio.Lock()

    def read(self) -> BootHistory:
        """Return what is known; nothing, when the file cannot be read or is of another version."""
        try:
            found = read_json(self._path, BootHistory)
        except StudioError as error:
            logger.warning("the history of boots is lost: %s", error.message)
            return BootHistory()
        if found is None or found.schema_version != BootHistory().schema_version:
            return BootHistory()
        return found

    async def add(self, record: BootRecord) -> None:
        """Keep a boot; what another process kept meanwhile is not lost."""
        async with self._turn:
            try:
                await asyncio.to_thread(self._write, record)
            except StudioError as error:
                logger.warning("a boot cannot be kept: %s", error.message)

    def _write(self, record: BootRecord) -> None:
        write_json(self._path, boots.with_boot(self.read(), record), mode=0o600)
