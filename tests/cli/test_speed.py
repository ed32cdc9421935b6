"""`weir speed`."""

from collections.abc import Callable

import msgspec

from studio.domain.speed import SpeedReport
from tests.cli.fake_service import FakeConnector
from tests.cli.monitor_samples import SPEED
from tests.cli.typed import Ran

Weir = Callable[..., Ran]


def test_the_speed_is_shown_and_printed(weir: Weir) -> None:
    """For people, and as the record."""
    assert "the drafter's guesses are" in weir("speed").out
    assert msgspec.json.decode(weir("speed", "--json").out, type=SpeedReport) == SPEED


def test_without_a_service_it_says_so(weir: Weir, connector: FakeConnector) -> None:
    """There is no speed without an engine."""
    connector.is_running = False

    assert weir("speed").status != 0
    assert weir("speed", "extra").status == 2
