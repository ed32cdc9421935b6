"""`weir gateway selftest`: the report, and a status that scripts can read."""

from collections.abc import Callable

import msgspec
import pytest

from studio.domain.selftest import SelftestReport
from tests.cli.fake_service import FakeConnector, FakeService
from tests.cli.selftest_samples import OPEN, SAFE
from tests.cli.typed import Ran

Weir = Callable[..., Ran]


def test_a_gateway_that_held_ends_with_0(weir: Weir) -> None:
    """In words, and as the record."""
    ran = weir("gateway", "selftest")

    assert ran.status == 0
    assert "The gateway held: 1 attacks" in ran.out
    read = msgspec.json.decode(weir("gateway", "selftest", "--json").out, type=SelftestReport)
    assert read == SAFE


def test_a_gateway_that_let_something_through_ends_with_1(weir: Weir, service: FakeService) -> None:
    """A script must not have to read the words."""
    service.selftest = OPEN

    ran = weir("gateway", "selftest")

    assert ran.status == 1
    assert "Missing: host names." in ran.out


def test_it_needs_no_service(weir: Weir, connector: FakeConnector) -> None:
    """It is worth knowing before anything is opened."""
    connector.is_running = False

    assert weir("gateway", "selftest").status == 0
    assert connector.offline_used == 1


@pytest.mark.parametrize("words", [["gateway", "attack"], ["gateway", "selftest", "x"]])
def test_a_line_that_is_incomplete_is_a_usage_error(weir: Weir, words: list[str]) -> None:
    """Before anything is attacked."""
    assert weir(*words).status == 2
