"""A request that is cancelled at any instant leaves no connection behind."""

import asyncio
import gc
import selectors
import warnings
from collections.abc import Callable

import pytest

from studio.host import network_client
from studio.host.network import Authority, NetworkPolicy
from tests.fakes import hostile

KNOWN = Authority(path=hostile.CERTIFICATE, source="test")
MOST_TURNS = 300
CONNECTIONS = 4


class CountingSelector(selectors.DefaultSelector):
    """Calls back before its so many-th look: a loop looks once in each of its turns."""

    def __init__(self) -> None:
        super().__init__()
        self.looks = 0
        self.at = 0
        self.then: Callable[[], object] = lambda: None

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Look what is ready."""
        self.looks += 1
        if self.looks == self.at:
            self.then()
            timeout = 0
        return super().select(timeout)


@pytest.fixture(autouse=True)
def one_trust(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read the certificates once: that takes ten times as long as the request."""
    trust = network_client.trust(NetworkPolicy(authorities=(KNOWN,)))
    monkeypatch.setattr(network_client, "trust", lambda _policy: trust)


async def ask(url: str) -> None:
    """Ask several times at once, so that there is more than one connection to close."""
    async with (
        network_client.client(NetworkPolicy()) as client,
        asyncio.TaskGroup() as tasks,
    ):
        for _ in range(CONNECTIONS):
            tasks.create_task(client.get(url))


def cancelled_at(turn: int, url: str) -> bool:
    """Cancel all at one turn of the loop; return whether it had ended before."""
    selector = CountingSelector()
    loop = asyncio.SelectorEventLoop(selector)
    try:
        task = loop.create_task(ask(url))
        selector.at, selector.then = turn, task.cancel
        loop.run_until_complete(asyncio.wait({task}))
        has_ended = not task.cancelled()
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.run_until_complete(loop.shutdown_default_executor())
    finally:
        selector.then = lambda: None
        loop.close()
    return has_ended


@pytest.mark.parametrize("is_tls", [False, True], ids=["plain", "tls"])
def test_it_may_be_cancelled_at_any_turn_of_the_loop(*, is_tls: bool) -> None:
    """Connecting by a name with two addresses, agreeing on TLS, reading, closing.

    Seen as a leak once in a thousand downloads: the pool is closed when the cancellation comes.
    """
    gc.freeze()  # the search for what nobody has is for what comes from now on
    left: dict[int, list[str]] = {}
    with hostile.serving({"/f": b"data" * 100}, is_tls=is_tls) as server:
        url, turn, has_ended = server.url("/f", host="localhost"), 1, False
        while not has_ended:
            with warnings.catch_warnings(record=True) as seen:
                warnings.simplefilter("always")
                has_ended = cancelled_at(turn, url)
                gc.collect()  # a connection that nobody has warns now
            if seen:
                left[turn] = [str(one.message) for one in seen]
            turn += 1
            assert turn < MOST_TURNS

    assert left == {}
    assert turn > 10, "the cancellations fell into the request"
