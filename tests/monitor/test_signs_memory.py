"""Memory: figures that only together are evidence."""

import msgspec

from studio.domain.readings import Pressure
from studio.domain.units import GIB, MIB
from tests.monitor.causes import booted, pressed, spilling
from tests.monitor.scenes import ENGINE, GROUP, TICK, Film, Second, windows


def stepping(shared: int, step_s: float) -> Film:
    """Return a film whose engine's steps get as long as said, with so much shared."""

    def change(second: Second, number: int) -> None:
        spilling(shared)(second, number)
        second.tick = msgspec.structs.replace(second.tick, step_s=step_s)

    def before(second: Second, number: int) -> None:
        spilling(86_000_000)(second, number)
        second.tick = msgspec.structs.replace(second.tick, step_s=0.023)

    film = Film(idle_s=5, adapters=windows(86_000_000))
    film.play(20, before)
    film.play(20, change)
    return film


def test_a_small_spill_counts_with_steps_that_got_long() -> None:
    """56 ms where this run took 23: HyperQwen's own figures of a spill."""
    fast, slow = stepping(236_000_000, 0.024), stepping(236_000_000, 0.056)

    assert fast.told == []
    (alarm,) = slow.raised("spill-wddm")
    assert any("56 ms" in line and "23" in line for line in alarm.evidence)


def test_long_steps_alone_are_no_spill() -> None:
    """A long prompt makes them, too."""
    assert stepping(100_000_000, 0.2).told == []


def test_pressure_counts_where_the_machine_swaps() -> None:
    """Even with memory left: it is being moved about."""
    film = booted()

    film.play(20, pressed(0.4, 20 * GIB, swap_rate=50 * MIB))

    assert film.codes == ["memory-pressure"]
    assert "machine" in film.judge.active[0].cause


def test_a_group_that_waits_is_named() -> None:
    """The remedy is another than for the machine."""

    def change(second: Second, _number: int) -> None:
        held = msgspec.structs.replace(GROUP, pressure=Pressure(some=0.5))
        second.engine = msgspec.structs.replace(ENGINE, group=held)

    film = booted()
    film.play(10, change)

    assert film.judge.active[0].where == "control group /engine"


def test_who_holds_shared_memory_is_told() -> None:
    """Windows names processes by their numbers only."""

    def change(second: Second, _number: int) -> None:
        told = windows(1_900_000_000)
        second.adapters = msgspec.structs.replace(told, heaviest=((1234, 1_700_000_000),))
        second.tick = TICK

    film = booted()
    film.play(10, change)

    assert "Windows process 1234: 1.58 GiB shared" in film.judge.active[0].evidence
