"""The event bus: one publisher, any number of listeners, none of which can hold up the service."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator

from studio.domain.events import Event, LogAppended, Ticked

QUEUE_LIMIT = 2_000


class Subscription:
    """One listener's queue. When it falls behind, log lines and ticks are dropped, news is not."""

    def __init__(self) -> None:
        self._queue: deque[Event] = deque()
        self._wake = asyncio.Event()
        self._is_closed = False

    def put(self, event: Event) -> None:
        """Queue an event."""
        if len(self._queue) >= QUEUE_LIMIT:
            self._make_room()
        self._queue.append(event)
        self._wake.set()

    def close(self) -> None:
        """End the listener's iteration after what is queued."""
        self._is_closed = True
        self._wake.set()

    def __aiter__(self) -> AsyncIterator[Event]:
        return self._events()

    async def _events(self) -> AsyncIterator[Event]:
        while True:
            while self._queue:
                yield self._queue.popleft()
            if self._is_closed:
                return
            self._wake.clear()
            await self._wake.wait()

    def _make_room(self) -> None:
        kept = [e for e in self._queue if not isinstance(e, LogAppended | Ticked)]
        self._queue = deque(kept[-QUEUE_LIMIT // 2 :])


class Bus:
    """Hands every published event to every listener, in order."""

    def __init__(self) -> None:
        self._listeners: set[Subscription] = set()
        self._is_closed = False

    @property
    def listeners(self) -> int:
        """How many listen."""
        return len(self._listeners)

    def publish(self, event: Event) -> None:
        """Announce `event`; never waits."""
        for listener in self._listeners:
            listener.put(event)

    def subscribe(self) -> Subscription:
        """Return a new listener's queue; one that has ended already when the bus has."""
        subscription = Subscription()
        if self._is_closed:
            subscription.close()
        self._listeners.add(subscription)
        return subscription

    def unsubscribe(self, subscription: Subscription) -> None:
        """Forget a listener."""
        subscription.close()
        self._listeners.discard(subscription)

    def close(self) -> None:
        """End every listener's iteration."""
        self._is_closed = True
        for listener in self._listeners:
            listener.close()
