"""The engine as the policy takes it, and what clients are told while they wait."""

import pytest

from studio.app.demand_view import Doing, look, outlook, shown
from studio.domain.demand import DemandPreset, QueuedRequest, Reason
from studio.domain.server import AdoptedInfo, BootPhase, EngineSnapshot, EngineState
from studio.gateway.demand import Decision, Line, Rules, Stand
from studio.gateway.tickets import Ticket, Tickets

READY = EngineSnapshot(state=EngineState.READY, preset="a", boot_s=12.0)
BOOT = EngineSnapshot(
    state=EngineState.STARTING,
    preset="a",
    phase=BootPhase.WEIGHTS,
    elapsed_s=30.0,
    expected_boot_s=120.0,
    remaining_s=90.0,
)
STOPPED = EngineSnapshot(state=EngineState.STOPPED, preset="a")


def seen(engine: EngineSnapshot, *, is_coming: bool = False, **doing: object):
    """Return one look at an engine for which nobody waits."""
    return look(
        engine, Doing(**doing), is_coming=is_coming, idle_s=3.0, is_measured=False, lines=[],
        now_s=100.0,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("engine", "doing", "is_coming", "stand", "preset"),
    [
        (EngineSnapshot(), {}, False, Stand.NONE, None),
        (STOPPED, {}, False, Stand.NONE, None),
        (STOPPED, {}, True, Stand.COMING, "a"),
        (STOPPED, {"starting": "b"}, False, Stand.COMING, "b"),
        (BOOT, {}, True, Stand.COMING, "a"),
        (READY, {}, True, Stand.READY, "a"),
        (READY, {"starting": "b"}, True, Stand.COMING, "b"),
        (READY, {"starting": "a"}, True, Stand.READY, "a"),
        (READY, {"is_stopping": True}, True, Stand.ENDING, "a"),
        (EngineSnapshot(state=EngineState.DRAINING, preset="a"), {}, False, Stand.ENDING, "a"),
        (EngineSnapshot(state=EngineState.BACKING_OFF, preset="a"), {}, True, Stand.COMING, "a"),
        (EngineSnapshot(state=EngineState.FAILED, preset="a"), {}, False, Stand.NONE, None),
        (
            EngineSnapshot(
                state=EngineState.ADOPTED, adopted=AdoptedInfo(name="x", url="http://x")
            ),
            {},
            False,
            Stand.FOREIGN,
            None,
        ),
    ],
)
def test_where_the_engine_stands(
    engine: EngineSnapshot,
    doing: dict[str, object],
    is_coming: bool,
    stand: Stand,
    preset: str | None,
) -> None:
    """A stop that is part of a switch is no end."""
    present = seen(engine, is_coming=is_coming, **doing).present

    assert (present.stand, present.preset) == (stand, preset)


def test_whose_engine_it_is_and_since_when_nobody_wants_it() -> None:
    """What was not started on demand is a person's."""
    assert seen(READY).present.is_by_hand
    assert not seen(READY, ours="a").present.is_by_hand
    first = seen(BOOT, is_coming=True, ours="a").present
    again = look(
        BOOT,
        Doing(alone_s=100.0),
        is_coming=True,
        idle_s=None,
        is_measured=False,
        lines=[],
        now_s=107.0,
    ).present
    wanted = look(
        BOOT, Doing(alone_s=100.0), is_coming=True, idle_s=None, is_measured=False,
        lines=[Line(preset="a", since_s=1.0)], now_s=107.0,
    ).present  # fmt: skip
    assert (first.alone_s, again.alone_s, wanted.alone_s) == (100.0, 100.0, None)


def test_those_who_wait_read_phase_share_and_seconds() -> None:
    """As far as each is known."""
    words, left_s = outlook("a", seen(BOOT, is_coming=True), Decision(), 100.0)
    assert words == "a is starting, weights, 25 %, about 1 min 30 s left"
    assert left_s == 90.0

    words, left_s = outlook("b", seen(BOOT, is_coming=True), Decision(), 100.0)
    assert words.startswith("b waits: first, a is starting")

    residence = Decision(preset="b", at_s=112.0, reason=Reason.RESIDENCE)
    words, left_s = outlook("b", seen(READY), residence, 100.0)
    assert words == "b waits while a is served, next switch in 12.0 s"
    assert left_s == 12.0

    measured = Decision(preset="b", reason=Reason.MEASURED)
    assert outlook("b", seen(READY), measured, 100.0) == ("b waits while a is measured", None)

    assert outlook("b", seen(STOPPED), Decision(), 100.0) == ("b is about to start", None)


async def test_the_queue_for_people_has_moments_of_the_wall_clock() -> None:
    """And says nothing that is not so."""
    tickets = Tickets(lambda: 9)
    empty = shown(tickets, seen(STOPPED), Rules(), failed=(), held_at=None)
    tickets.join(
        Ticket(
            DemandPreset(preset="b", served_name="m", ttl_s=0),
            QueuedRequest(since=1.0, key="k", route="/v1/x", is_stream=True),
            body_bytes=1,
        )
    )
    waiting = shown(tickets, seen(STOPPED), Rules(), failed=(), held_at=None)

    assert (empty.waiting, empty.length, empty.next, empty.idle_stop_at) == (0, 9, None, None)
    assert waiting.waiting == 1
    assert waiting.next is not None
    assert (waiting.next.preset, waiting.next.reason) == ("b", Reason.WANTED)
    idle = shown(Tickets(lambda: 9), seen(READY, ours="a", ready_s=1.0), Rules(ttl_s=1e6),
                 failed=(), held_at=None)  # fmt: skip
    assert idle.idle_ttl_s == 1e6
    assert idle.idle_stop_at is not None
    assert idle.idle_stop_at > 1e6
