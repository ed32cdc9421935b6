"""What may be asked of the logs: the engine's ring, both logs' files, how much of them is kept."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from studio.app.settings import SettingsFile
from studio.domain.errors import BadInput
from studio.domain.logs import MOST_LINES, SOURCES, LogLimits, LogPage, require_limits
from studio.domain.metrics import LogLine
from studio.serving import log_pages
from studio.serving.logs import LogKeeper


class Logs:
    """The logs of one home; `keeper` is None where no service runs, as in `weir logs` itself."""

    def __init__(
        self, folder: Path, settings: Callable[[], SettingsFile], keeper: LogKeeper | None = None
    ) -> None:
        self._folder = folder
        self._settings = settings
        self._keeper = keeper

    def newest(self, lines: int, after: int | None) -> list[LogLine]:
        """Return lines of the ring: the newest, or those after a number.

        Before the first engine of this service, the newest are those of the last one.
        """
        keeper = self._keeper
        if keeper is not None and (keeper.seq > 0 or after is not None):
            return keeper.tail(lines) if after is None else keeper.after(after, lines)
        if lines < 1:
            return []
        return list(log_pages.newest(self._folder, "engine", lines=lines).lines)

    async def page(
        self,
        source: str,
        *,
        lines: int,
        before: str | None = None,
        after: str | None = None,
        since: float | None = None,
    ) -> LogPage:
        """Return a page of the files: the newest, those before a place, or those after one.

        Raises: BadInput (`log-source-unknown`, `log-place-invalid`).
        """
        if source not in SOURCES:
            raise BadInput(
                "log-source-unknown",
                f"There is no log `{source}`.",
                hint=f"There are: {', '.join(SOURCES)}.",
            )
        lines = max(1, min(lines, MOST_LINES))
        if after is not None:
            return await asyncio.to_thread(
                log_pages.following, self._folder, source, lines=lines, after=after
            )
        return await asyncio.to_thread(
            log_pages.newest, self._folder, source, lines=lines, before=before, since=since
        )

    def limits(self) -> LogLimits:
        """Return how much is kept. Raises: Damaged (`settings-damaged`)."""
        now = self._settings().now
        return LogLimits(file_mib=now.log_file_mib, files=now.log_files)

    def limit(self, limits: LogLimits) -> LogLimits:
        """Keep so much from now on.

        Raises: BadInput (`log-limit-invalid`), Damaged (`settings-damaged`), HostLacks.
        """
        require_limits(limits)
        self._settings().change(log_file_mib=limits.file_mib, log_files=limits.files)
        if self._keeper is not None:
            self._keeper.limit(max_bytes=limits.file_mib << 20, files=limits.files)
        return limits
