"""Requests that wait for an engine that is not there yet: who, for which preset, since when.

Each holds its body, so their number and their bytes are bounded. The app lets them through or
turns them away; a client that leaves frees its place in the same moment.
"""

import asyncio
import time
from collections.abc import Callable

from studio.domain.demand import DemandPreset, PresetQueue, QueuedRequest
from studio.gateway.demand import Line
from studio.gateway.dialects import Refusal
from studio.gateway.engine import EngineTarget
from studio.host.http_server import ClientLeft

MOST_BYTES = 256 << 20
"""Bodies of all that wait together."""


class Ticket:
    """The place of one request in the queue."""

    __slots__ = ("body_bytes", "key", "outcome", "preset", "request", "since_s")

    def __init__(self, preset: DemandPreset, request: QueuedRequest, *, body_bytes: int) -> None:
        self.preset = preset
        self.request = request
        self.body_bytes = body_bytes
        self.since_s = time.monotonic()
        self.outcome: asyncio.Future[EngineTarget] = asyncio.get_running_loop().create_future()

    def serve(self, target: EngineTarget) -> None:
        """Let it go to the engine."""
        if not self.outcome.done():
            self.outcome.set_result(target)

    def refuse(self, refusal: Refusal) -> None:
        """Turn it away."""
        if not self.outcome.done():
            self.outcome.set_exception(refusal)

    def leave(self) -> None:
        """Let go of a client that has gone."""
        if not self.outcome.done():
            self.outcome.set_exception(ClientLeft())


class Tickets:
    """Everybody who waits."""

    def __init__(self, most: Callable[[], int]) -> None:
        """`most`: how many may wait, as it holds at the moment."""
        self.on_change: Callable[[], None] = lambda: None
        """Called when somebody comes or goes."""
        self._most = most
        self._all: dict[Ticket, None] = {}
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._all)

    @property
    def most(self) -> int:
        """How many may wait."""
        return self._most()

    def has_room(self, body_bytes: int = 0) -> bool:
        """Tell whether one more may wait."""
        return len(self._all) < self._most() and self._bytes + body_bytes <= MOST_BYTES

    def join(self, ticket: Ticket) -> None:
        """Take a place at the end."""
        self._all[ticket] = None
        self._bytes += ticket.body_bytes
        self.on_change()

    def leave(self, ticket: Ticket) -> None:
        """Give a place up; once more is no error."""
        if ticket not in self._all:
            return
        del self._all[ticket]
        self._bytes -= ticket.body_bytes
        self.on_change()

    def serve(self, preset: str, target: EngineTarget) -> None:
        """Let all who wait for `preset` go to its engine."""
        for ticket in self._of(preset):
            ticket.serve(target)
            self._drop(ticket)

    def refuse(self, refusal: Refusal, preset: str | None = None) -> None:
        """Turn away all who wait for `preset`; None: everybody."""
        for ticket in list(self._all) if preset is None else self._of(preset):
            ticket.refuse(refusal)
            self._drop(ticket)

    def lines(self) -> list[Line]:
        """Return what is waited for and since when, the oldest first."""
        oldest: dict[str, float] = {}
        for ticket in self._all:
            oldest.setdefault(ticket.preset.preset, ticket.since_s)
        return [Line(preset=preset, since_s=since_s) for preset, since_s in oldest.items()]

    def shown(self) -> tuple[PresetQueue, ...]:
        """Return who waits, for people."""
        grouped: dict[str, list[Ticket]] = {}
        for ticket in self._all:
            grouped.setdefault(ticket.preset.preset, []).append(ticket)
        return tuple(
            PresetQueue(
                preset=preset,
                served_name=tickets[0].preset.served_name or preset,
                requests=tuple(ticket.request for ticket in tickets),
            )
            for preset, tickets in grouped.items()
        )

    def _of(self, preset: str) -> list[Ticket]:
        return [ticket for ticket in self._all if ticket.preset.preset == preset]

    def _drop(self, ticket: Ticket) -> None:
        """Take it out without a word: whoever let it go knows."""
        del self._all[ticket]
        self._bytes -= ticket.body_bytes
