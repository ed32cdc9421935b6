"""Places in the queue: bounded in number and bytes, freed in the moment when they end."""

import pytest

from studio.domain.demand import DemandPreset, QueuedRequest
from studio.gateway import tickets as module
from studio.gateway.dialects import Refusal
from studio.gateway.engine import EngineTarget
from studio.gateway.tickets import Ticket, Tickets
from studio.host.http_client import Upstream
from studio.host.http_server import ClientLeft

TARGET = EngineTarget(upstream=Upstream(port=1), key=None, served_name="m", preset="a")


def ticket(preset: str = "a", size: int = 10, key: str = "k") -> Ticket:
    """Return a place for a request."""
    asked = QueuedRequest(since=1.0, key=key, route="/v1/chat/completions", is_stream=False)
    return Ticket(DemandPreset(preset=preset, ttl_s=0, served_name="m"), asked, body_bytes=size)


async def test_those_who_wait_for_one_preset_go_together() -> None:
    """And nobody else with them."""
    tickets = Tickets(lambda: 8)
    first, second, other = ticket(), ticket(), ticket("b")
    for one in (first, second, other):
        tickets.join(one)

    tickets.serve("a", TARGET)

    assert await first.outcome is TARGET
    assert await second.outcome is TARGET
    assert not other.outcome.done()
    assert [line.preset for line in tickets.lines()] == ["b"]


async def test_lines_are_as_old_as_their_first() -> None:
    """Fairness counts from there."""
    tickets = Tickets(lambda: 8)
    made = [ticket("b"), ticket("a"), ticket("b")]
    for one in made:
        tickets.join(one)

    lines = tickets.lines()

    assert [(line.preset, line.since_s) for line in lines] == [
        ("b", made[0].since_s),
        ("a", made[1].since_s),
    ]
    shown = tickets.shown()
    assert [(one.preset, one.served_name, len(one.requests)) for one in shown] == [
        ("b", "m", 2),
        ("a", "m", 1),
    ]


async def test_places_and_bytes_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each place holds a whole body in memory."""
    monkeypatch.setattr(module, "MOST_BYTES", 100)
    tickets = Tickets(lambda: 2)
    assert tickets.has_room(100)
    assert not tickets.has_room(101)
    large, small = ticket(size=90), ticket(size=1)
    tickets.join(large)
    assert not tickets.has_room(11)
    tickets.join(small)
    assert not tickets.has_room(0)

    tickets.leave(large)
    tickets.leave(large)

    assert tickets.has_room(99)
    assert len(tickets) == 1


async def test_the_first_word_counts() -> None:
    """A client that left is not answered, and one that was served is not refused."""
    tickets = Tickets(lambda: 2)
    gone, served = ticket(), ticket()
    tickets.join(gone)
    tickets.join(served)

    gone.leave()
    served.serve(TARGET)
    tickets.refuse(Refusal(503, "x", "y"))

    with pytest.raises(ClientLeft):
        await gone.outcome
    assert await served.outcome is TARGET
    assert len(tickets) == 0


async def test_every_coming_and_going_is_told() -> None:
    """The loop sleeps until then."""
    told: list[int] = []
    tickets = Tickets(lambda: 2)
    tickets.on_change = lambda: told.append(len(tickets))
    one = ticket()

    tickets.join(one)
    tickets.leave(one)
    tickets.leave(one)

    assert told == [1, 0]
