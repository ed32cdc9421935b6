"""What the cards do right now: the monitor's last tick, or a look of one's own where none runs."""

import asyncio
import time
from collections.abc import Callable

from studio.domain.cards import CardsReading
from studio.domain.metrics import Tick
from studio.host.card_reader import CardReader
from studio.host.card_smi import EVERY_S

WITHIN_S = 10.0
"""For the first look: drivers without persistence mode wake their cards up one by one."""
_OLD_S = 15.0
"""More than the longest time between two ticks: a tick older than that is of a time long gone."""
_LINK_S = 0.2
"""After the first look the links are measured; a second one tells of them."""


class LiveCards:
    """Answers from the last tick; reads the cards itself where the monitor does not run."""

    def __init__(
        self,
        reader: CardReader,
        last: Callable[[], Tick | None],
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._reader = reader
        self._last = last
        self._clock = clock
        self._is_warm = False

    async def now(self) -> CardsReading:
        """Return what every card does."""
        tick = self._last()
        if tick is not None and abs(self._clock() - tick.at) < _OLD_S:
            return CardsReading(cards=tick.cards, note=tick.cards_note, source=self._reader.source)
        reading = await self._reader.read(WITHIN_S, all_links=not self._is_warm)
        if not self._is_warm:
            self._is_warm = True
            reading = await self._again(reading)
        return reading

    async def _again(self, reading: CardsReading) -> CardsReading:
        """Return a second reading, which knows what takes a moment: links, nvidia-smi."""
        deadline = time.monotonic() + EVERY_S
        while time.monotonic() < deadline:
            await asyncio.sleep(_LINK_S)
            # before the look: an answer that comes between the two would never be read
            is_asking = self._reader.is_asking_program
            reading = await self._reader.read(WITHIN_S)
            if reading.cards is not None or not is_asking:
                break
        return reading
