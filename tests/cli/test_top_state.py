"""What `weir top` knows, event by event."""

import msgspec
import pytest

from studio.cli import top_words as words
from studio.cli.top_state import State
from studio.domain.control import GatewayInfo
from studio.domain.events import (
    AlarmChanged,
    EngineChanged,
    GatewayChanged,
    LogAppended,
    PoolChanged,
    ServiceStopping,
    Stage,
    StageProgress,
    StageState,
    Ticked,
)
from studio.domain.metrics import Tick
from studio.domain.server import EngineSnapshot, EngineState
from tests.cli.top_samples import ALARM, NOTICE, POOL, keys, state, ticks


def stage(progress: StageState) -> StageProgress:
    """Return a stage of a start."""
    return StageProgress(stage=Stage.BOOT, state=progress, title="Start the engine")


def test_a_tick_draws_and_a_log_line_does_not() -> None:
    """Ten batches of lines a second would be ten screens a second."""
    found = State()

    assert found.take(Ticked(tick=Tick(at=1.0)))
    assert not found.take(LogAppended(lines=()))
    assert not found.take(PoolChanged(pool=POOL))
    assert found.tick == Tick(at=1.0)
    assert found.pool == POOL


def test_what_a_person_waits_for_draws_at_once() -> None:
    """A new state, a stage that ended, the end of the service."""
    found = State()
    starting = EngineSnapshot(state=EngineState.STARTING)

    assert found.take(EngineChanged(engine=starting))
    assert not found.take(EngineChanged(engine=starting))
    assert not found.take(stage(StageState.RUNNING))
    assert [one.stage for one in found.under_way] == [Stage.BOOT]
    assert found.take(stage(StageState.DONE))
    assert found.under_way == []
    assert not found.take(GatewayChanged(base_url="http://x"))
    assert found.base_url == "http://x"
    assert found.take(ServiceStopping(reason="weir down"))
    assert found.gone == "weir down"


def test_a_tick_that_comes_twice_counts_once() -> None:
    """The stream begins with the newest one, which the history has too."""
    found = State()
    found.take(Ticked(tick=Tick(at=3.0)))
    found.fill([Tick(at=1.0), Tick(at=2.0), Tick(at=3.0)])
    found.take(Ticked(tick=Tick(at=3.0)))
    found.take(Ticked(tick=Tick(at=4.0)))

    assert [tick.at for tick in found.ticks] == [1.0, 2.0, 3.0, 4.0]


def test_a_tick_that_came_before_the_history_is_not_lost() -> None:
    """The answer to a question may be older than the newest event."""
    found = State()
    found.take(Ticked(tick=Tick(at=9.0)))
    found.fill([Tick(at=7.0), Tick(at=8.0)])

    assert [tick.at for tick in found.ticks] == [7.0, 8.0, 9.0]
    assert found.tick == Tick(at=9.0)


def test_an_alarm_takes_the_place_of_what_was_known_of_it() -> None:
    """It grew worse, was silenced, or is over; it is not one more."""
    found = State()

    assert found.take(AlarmChanged(alarm=ALARM))
    assert found.take(AlarmChanged(alarm=NOTICE))
    over = msgspec.structs.replace(ALARM, ended_at=9.0)
    assert found.take(AlarmChanged(alarm=over))

    assert found.alarms == (NOTICE, over)
    again = msgspec.structs.replace(ALARM, since=99.0)
    found.take(AlarmChanged(alarm=again))
    assert found.alarms == (NOTICE, over, again)


def test_charts_are_bounded() -> None:
    """A screen that is left open for a month must not fill the memory."""
    found = State()
    found.fill(ticks(None, count=2_000))

    assert len(found.series("decode_tokens_per_s")) == 600


def test_a_service_that_comes_back_begins_anew() -> None:
    """What the old one's keys did is not known of the new one."""
    found = State(gateway=GatewayInfo(), keys=[])
    found.lose(None)
    assert found.gone == words.NO_REASON
    found.lose("later")
    assert found.gone == words.NO_REASON

    found.find()

    assert found.gone is None
    assert found.keys is None
    assert found.gateway is None


@pytest.mark.parametrize(("key", "view"), [("a", "alarms"), ("g", "cards"), ("?", "help")])
def test_keys_open_pages_and_any_key_closes_them(key: str, view: str) -> None:
    """Nobody gets lost."""
    found = State()
    found.press(key)
    assert found.view == view
    found.press("x")
    assert found.view == "main"
    found.press("x")
    assert found.view == "main"


def test_pause_holds_and_goes_on() -> None:
    """On every page."""
    found = State()
    found.press("?")
    found.press("p")
    assert found.is_paused
    assert found.view == "help"
    found.press("p")
    assert not found.is_paused


def test_keys_are_sorted_in_four_ways() -> None:
    """By what one looks for."""
    found = state(None)
    orders = []
    for _ in words.SORTS:
        orders.append((words.SORTS[found.sort], [key.name for key in found.sorted_keys()]))
        found.press("s")

    assert dict(orders) == {
        "last used": ["laptop", "agent", "default"],
        "generated": ["default", "laptop", "agent"],
        "requests": ["agent", "laptop", "default"],
        "name": ["agent", "default", "laptop"],
    }
    assert found.sort == 0


def test_keys_that_were_revoked_are_left_out() -> None:
    """They do nothing any more."""
    found = State(keys=keys("a"))
    assert len(found.sorted_keys()) == 1
    found.keys = None
    assert found.sorted_keys() == []
