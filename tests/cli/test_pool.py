"""`weir pool`."""

from collections.abc import Callable

import msgspec
import pytest

from studio.domain.pool import PoolReport
from tests.cli.fake_service import FakeConnector
from tests.cli.monitor_samples import POOL
from tests.cli.typed import Ran

Weir = Callable[..., Ran]


def test_the_pool_is_shown_and_printed(weir: Weir) -> None:
    """For people, and as the record."""
    assert "23,100 of 68,605 tokens, 34 %" in weir("pool").out
    assert msgspec.json.decode(weir("pool", "--json").out, type=PoolReport) == POOL


def test_without_a_service_it_says_so(weir: Weir, connector: FakeConnector) -> None:
    """There is no pool without an engine."""
    connector.is_running = False

    assert weir("pool").status != 0
    assert connector.started == []


@pytest.mark.parametrize("line", [["x"], ["--all"]])
def test_a_wrong_line_is_a_usage_error(weir: Weir, line: list[str]) -> None:
    """Before anything is asked."""
    assert weir("pool", *line).status == 2
