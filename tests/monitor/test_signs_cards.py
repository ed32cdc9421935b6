"""Cards: what is told of one that is held back, and of one that is shared."""

import msgspec
import pytest

from studio.domain.hardware import GpuProcess
from studio.domain.units import GIB
from tests.monitor.causes import booted, on_card
from tests.monitor.scenes import CARD, TICK, Film, Second


def test_a_card_at_rest_loses_nothing_by_heat() -> None:
    """It may cool down for as long as it likes."""
    film = booted()

    film.play(60, on_card(throttle=("hw-thermal-slowdown",), utilisation_share=0.0))

    assert film.told == []


def test_heat_is_not_told_as_a_want_of_power() -> None:
    """The driver sets `hw-slowdown` for both."""
    film = booted()

    film.play(60, on_card(throttle=("hw-slowdown", "hw-thermal-slowdown")))

    assert film.codes == ["throttled-heat"]


@pytest.mark.parametrize(
    ("limit_w", "commands"), [(450.0, ["sudo nvidia-smi -i 0 -pl 360"]), (None, [])]
)
def test_the_power_limit_to_set_is_of_this_card(limit_w: float | None, commands: list[str]) -> None:
    """A figure for another card could be refused, or slow it down by half."""
    film = booted()

    film.play(25, on_card(throttle=("hw-thermal-slowdown",), power_limit_w=limit_w))

    (alarm,) = film.judge.active
    assert [one.command for one in alarm.remedies if one.command] == commands


def test_what_others_held_before_is_no_news() -> None:
    """A desktop of 1.3 GiB was counted when the engine was planned."""
    desktop = GpuProcess(pid=7, name="gnome-shell", bytes=2 * GIB, is_graphics=True)
    assert CARD.processes is not None
    both = (*CARD.processes, desktop)
    film = Film()

    film.play(60, lambda second, _n: second.card(processes=both))

    assert film.told == []


def test_a_card_of_somebody_else_is_not_the_engines() -> None:
    """Only the cards that the engine was given are judged by what it loses."""

    def other(second: Second, _number: int) -> None:
        hot = msgspec.structs.replace(CARD, index=1, throttle=("hw-thermal-slowdown",))
        second.tick = msgspec.structs.replace(TICK, cards=(CARD, hot))

    film = booted()
    film.play(60, other)

    assert film.told == []
