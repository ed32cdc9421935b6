"""The last minutes: counters that grow, speed in totals, and what a run was seen to do."""

import msgspec

from studio.domain.metrics import Tick
from studio.monitor.scene import KEPT_S, Recent, Scene
from tests.monitor.scenes import CARD, TICK


def scene(second: float, *, since: float | None = 0.0, **changes: object) -> Scene:
    """Return one second of a run that began to serve at `since`."""
    return Scene(
        at=second,
        monotonic_s=second,
        tick=msgspec.structs.replace(TICK, **changes),
        is_serving=since is not None,
        serving_since_s=since,
    )


def preemptions(tick: Tick) -> float | None:
    """Return the counter."""
    return tick.preemptions


def test_a_counter_grows_within_a_span() -> None:
    """What is older does not count."""
    recent = Recent()
    for second in range(100):
        recent.take(scene(second, preemptions=second))

    assert recent.grown(preemptions, 10.0) == 10
    assert recent.grown(preemptions, 1000.0) == 99


def test_a_counter_that_began_anew_is_not_known() -> None:
    """The engine behind it is another."""
    recent = Recent()
    recent.take(scene(0, preemptions=50))
    recent.take(scene(1, preemptions=2))

    assert recent.grown(preemptions, 10.0) is None


def test_a_new_run_begins_with_nothing() -> None:
    """What the last one could do is no measure of this one."""
    recent = Recent()
    for second in range(30):
        recent.take(scene(second))
    assert recent.best_speed() == 620.0

    recent.take(scene(31, since=31.0))

    assert recent.best_speed() is None
    assert recent.lasted_s() == 0


def test_speed_is_of_what_is_read_and_generated() -> None:
    """Together; and only while requests are answered without a break."""
    recent = Recent()
    for second in range(12):
        recent.take(scene(second))
    assert recent.speed() == 620.0

    recent.take(scene(12, running=0))

    assert recent.speed() is None


def test_the_best_speed_is_of_as_many_requests() -> None:
    """Eight at once are faster together than one, which is no slowness of the one."""
    recent = Recent()
    for second in range(20):
        recent.take(scene(second, running=8, decode_tokens_per_s=900.0))
    for second in range(20, 40):
        recent.take(scene(second, running=1, decode_tokens_per_s=130.0))

    assert recent.best_speed() != 1400.0
    recent.take(scene(40, running=8, decode_tokens_per_s=900.0))
    assert recent.best_speed() == 1400.0


def test_minutes_are_kept_and_no_more() -> None:
    """A day of seconds would fill the memory."""
    recent = Recent()
    for second in range(int(KEPT_S) + 500):
        recent.take(scene(second))

    assert recent.lasted_s() <= KEPT_S


def test_only_the_engines_cards_count() -> None:
    """The other one draws the desktop."""
    two = (CARD, msgspec.structs.replace(CARD, index=1))
    both = Scene(at=0.0, monotonic_s=0.0, tick=msgspec.structs.replace(TICK, cards=two))
    one = Scene(at=0.0, monotonic_s=0.0, tick=both.tick, engine_cards=frozenset((1,)))

    assert [card.index for card in both.cards()] == [0, 1]
    assert [card.index for card in one.cards()] == [1]
