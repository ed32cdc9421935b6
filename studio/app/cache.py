"""Findings of the prefix-cache doctor: announced, kept between runs, shown without a service."""

import asyncio
import logging
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from studio.domain.cache import CacheFinding, CacheReport
from studio.domain.errors import StudioError
from studio.domain.events import CacheFound, Event
from studio.gateway.cache_doctor import CacheDoctor, renamed
from studio.host.documents import read_json, write_json

logger = logging.getLogger(__name__)


class _Kept(msgspec.Struct, kw_only=True):
    schema_version: int = 1
    findings: tuple[CacheFinding, ...] = ()


def kept(path: Path) -> tuple[CacheFinding, ...]:
    """Return the findings of the last run; a file that cannot be read holds none."""
    try:
        return (read_json(path, _Kept) or _Kept()).findings
    except StudioError as error:
        logger.warning("earlier findings about caches are lost: %s", error.message)
        return ()


class Cache:
    """What the control API may ask about caches."""

    def __init__(
        self,
        path: Path,
        doctor: CacheDoctor,
        *,
        names: Callable[[], Mapping[str, str]],
        publish: Callable[[Event], None],
    ) -> None:
        """`names`: of the keys, by id."""
        self._path = path
        self._doctor = doctor
        self._names = names
        self._publish = publish
        self._is_live = False
        self._asked = 0
        self._written = 0
        self._writing = threading.Lock()

    @property
    def current(self) -> int:
        """Return how many findings still are."""
        return sum(one.ended_at is None for one in self._doctor.findings)

    def begin(self) -> None:
        """Take notice that from now on requests are watched."""
        self._is_live = True

    def heard(self, finding: CacheFinding) -> None:
        """Announce a new finding, and keep all of them; called on the event loop."""
        self._publish(CacheFound(finding=renamed(finding, self._names())))
        asyncio.get_running_loop().run_in_executor(None, self._write, *self._numbered())

    def report(self) -> CacheReport:
        """Return clients and findings."""
        report = self._doctor.report(self._names())
        return msgspec.structs.replace(report, is_live=self._is_live)

    async def clear(self) -> CacheReport:
        """Forget all findings. What still is will be found again."""
        self._doctor.forget()
        await self.keep()
        return self.report()

    async def forget(self, key_id: str) -> None:
        """Forget what was found about a key that is gone."""
        self._doctor.forget(key_id)
        await self.keep()

    async def keep(self) -> None:
        """Write the findings down."""
        await asyncio.to_thread(self._write, *self._numbered())

    def _numbered(self) -> tuple[int, tuple[CacheFinding, ...]]:
        self._asked += 1
        return self._asked, self._doctor.findings

    def _write(self, number: int, findings: tuple[CacheFinding, ...]) -> None:
        with self._writing:
            # Threads begin in any order: what was forgotten must not come back with an older state.
            if number < self._written:
                return
            self._written = number
            if not findings and not self._path.exists():
                return
            try:
                write_json(self._path, _Kept(findings=findings), mode=0o600)
            except StudioError as error:  # they are found again
                logger.warning("findings about caches are not kept: %s", error.message)
