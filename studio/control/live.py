"""The calls about what happens right now."""

import re

from studio.app.live_cards import LiveCards
from studio.control.calls import Query, Route


class Live:
    """Answers from the monitor, and in its place where it does not run."""

    def __init__(self, cards: LiveCards) -> None:
        self._cards = cards

    def routes(self) -> list[Route]:
        """Return the calls."""
        return [("GET", re.compile("/cards"), self._now)]

    async def _now(self, _query: Query, _body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._cards.now()
