"""What the monitor costs, as it says itself."""

import pytest

from studio.monitor.cost import Cost


class Machine:
    """Clocks that stand until they are moved."""

    def __init__(self) -> None:
        self.now = 100.0
        self.process = 0.0
        self.elsewhere = 0.0
        self.cost = Cost(
            lambda: self.elsewhere, clock=lambda: self.now, process_s=lambda: self.process
        )

    def tick(self, *, own: float, elsewhere: float, process: float, wall: float = 1.0) -> None:
        """Let a second go by."""
        self.now += wall
        self.elsewhere += elsewhere
        self.process += process
        self.cost.spent(own)
        self.cost.ticked(0.05, 1.0)


def test_shares_are_of_one_core_over_the_last_minute() -> None:
    """2 ms on the loop and 1 ms in the cards' thread are 0.3 % of a core."""
    machine = Machine()
    for _ in range(100):
        machine.tick(own=0.5, elsewhere=0.0, process=1.0)  # a time that is long over
    for _ in range(70):
        machine.tick(own=0.002, elsewhere=0.001, process=0.01)

    info = machine.cost.info(1.0)

    assert info.cost_share == pytest.approx(0.003)
    assert info.service_share == pytest.approx(0.01)
    assert info.tick_s == 0.05
    assert info.interval_s == 1.0


def test_before_there_is_something_to_divide_the_cost_is_not_known() -> None:
    """Zero would be a claim."""
    machine = Machine()
    machine.tick(own=0.002, elsewhere=0.0, process=0.0)

    assert machine.cost.info(1.0).cost_share is None


def test_ticks_that_did_not_take_place_are_counted() -> None:
    """A service that was held up says so; a jitter of milliseconds is none."""
    machine = Machine()
    for wall in (1.0, 1.03, 0.98, 4.0, 1.0):
        machine.tick(own=0.0, elsewhere=0.0, process=0.0, wall=wall)

    assert machine.cost.info(1.0).left_out == 3


def test_another_interval_leaves_nothing_out() -> None:
    """Ten seconds were asked for."""
    machine = Machine()
    machine.tick(own=0.0, elsewhere=0.0, process=0.0)
    machine.now += 10.0
    machine.cost.ticked(0.05, 10.0)
    machine.now += 10.0
    machine.cost.ticked(0.05, 10.0)

    assert machine.cost.info(10.0).left_out == 0
