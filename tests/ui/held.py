"""A service that is slow about one thing: what it is asked there waits until it is let go."""

import contextlib
import threading
from collections.abc import Iterator

from tests.ui.fake_service import FakeService


class Held:
    """One route; `asked` counts the questions that came, those that wait among them."""

    def __init__(self, route: str) -> None:
        self._route = route
        self._gate = threading.Event()
        self.asked = 0

    def asked_for(self, route: str, _query: str) -> object:
        """Wait, if it is that route; then let the next one answer."""
        if route == self._route:
            self.asked += 1
            self._gate.wait()
        return None

    def answer(self, method: str, route: str, _body: bytes) -> object:
        """Do the same where something is to be done."""
        return None if method == "GET" else self.asked_for(route, "")

    def let_go(self) -> None:
        """Answer now, and from now on at once."""
        self._gate.set()


@contextlib.contextmanager
def held(service: FakeService, route: str) -> Iterator[Held]:
    """Hold a route until the end, or until it is let go: a fake must not end before its answers."""
    made = Held(route)
    service.queried.insert(0, made.asked_for)
    service.areas.insert(0, made.answer)
    try:
        yield made
    finally:
        made.let_go()
