"""A request that is cancelled at any instant leaves no connection behind."""

import asyncio
import functools
import gc
import warnings

import pytest

from studio.host import network_client
from studio.host.network import Authority, NetworkPolicy
from tests.fakes import hostile
from tests.fakes.turns import cancelled_at

KNOWN = Authority(path=hostile.CERTIFICATE, source="test")
MOST_TURNS = 300
CONNECTIONS = 4


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
                has_ended = cancelled_at(turn, functools.partial(ask, url))
                gc.collect()  # a connection that nobody has warns now
            if seen:
                left[turn] = [str(one.message) for one in seen]
            turn += 1
            assert turn < MOST_TURNS

    assert left == {}
    assert turn > 10, "the cancellations fell into the request"
