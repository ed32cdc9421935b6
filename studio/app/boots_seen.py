"""`calibration.json`: what this machine's boots were seen to hold, and how fast its line is.

Losing it costs accuracy and nothing else, so a file that cannot be read or written is only logged.
"""

import asyncio
import dataclasses
import datetime
import logging
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from studio.domain.errors import StudioError
from studio.domain.hardware import Gpu
from studio.domain.units import MIB
from studio.host.documents import read_json, write_json
from studio.planner import calibration
from studio.planner.calibration import Calibration

logger = logging.getLogger(__name__)

_LEAST_DOWNLOAD_BYTES = 8 * MIB
"""Less says more of latency than of speed."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """What was started, and as what."""

    preset: str
    runtime_id: str
    settings: Mapping[str, object]
    cards: tuple[Gpu, ...] = ()


class BootsSeen:
    """The file and what it holds; each call reads it again."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._turn = asyncio.Lock()

    def known(self) -> Calibration:
        """Return what is known; nothing, when the file cannot be read."""
        try:
            return read_json(self._path, Calibration) or Calibration()
        except StudioError as error:
            logger.warning("what earlier boots taught is lost: %s", error.message)
            return Calibration()

    async def learn(
        self,
        served: Served,
        facts: Mapping[str, int | float | str],
        *,
        boot_s: float | None,
    ) -> None:
        """Keep what a boot was seen to hold; `facts` are those of serving/phases.py."""
        uuids = calibration.names_of(served.cards)
        sizes = [card.usable_bytes for card in served.cards if card.usable_bytes is not None]

        def after(known: Calibration) -> Calibration:
            boot = calibration.observed(
                facts,
                runtime_id=served.runtime_id,
                preset=served.preset,
                cards=uuids,
                settings=served.settings,
                is_cold=calibration.is_first(
                    known,
                    runtime_id=served.runtime_id,
                    preset=served.preset,
                    cards=uuids,
                    settings=served.settings,
                ),
                boot_s=boot_s,
                card_bytes=min(sizes, default=None),
                at=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            )
            return calibration.with_boot(known, boot)

        await self._change(after)

    async def learn_download(self, fetched_bytes: int, seconds: float) -> None:
        """Keep the speed of a download that was long enough to say something."""
        if fetched_bytes < _LEAST_DOWNLOAD_BYTES or seconds <= 0:
            return
        rate = fetched_bytes / seconds
        await self._change(lambda known: msgspec.structs.replace(known, download_bytes_per_s=rate))

    async def learn_line(self, uuid: str, line_bytes: int) -> None:
        """Keep how much of a card may be used before bytes spill, as it was measured."""
        await self._change(
            lambda known: msgspec.structs.replace(known, lines={**known.lines, uuid: line_bytes})
        )

    async def _change(self, after: Callable[[Calibration], Calibration]) -> None:
        """Read, change and write, one after the other: what another learnt is not lost."""
        async with self._turn:
            try:
                await asyncio.to_thread(self._rewrite, after)
            except StudioError as error:
                logger.warning("what was learnt cannot be kept: %s", error.message)

    def _rewrite(self, after: Callable[[Calibration], Calibration]) -> None:
        write_json(self._path, after(self.known()), mode=0o600)
