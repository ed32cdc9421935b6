"""`weir network`: what goes to the service, and what is shown of its answer."""

from collections.abc import Callable

import msgspec
import pytest

from studio.domain.network import NetworkChange, NetworkReport
from tests.cli.fake_service import FakeConnector, FakeService
from tests.cli.network_samples import REPORT
from tests.cli.typed import Ran

Weir = Callable[..., Ran]


def test_it_shows_the_policy(weir: Weir) -> None:
    """In words, and as the record."""
    assert "http://proxy.test:3128" in weir("network").out
    assert msgspec.json.decode(weir("network", "--json").out, type=NetworkReport) == REPORT


def test_changes_go_to_the_service_as_they_were_typed(weir: Weir, service: FakeService) -> None:
    """Mirrors given twice are two; dashes and underscores are the same."""
    weir(
        "network", "--set", "mirror=https://a/=https://b/", "--set", "no-proxy=x",
        "--set", "mirror=https://c/=/d", "--forget", "ca", "--forget", "proxy",
    )  # fmt: skip

    assert service.network_changes == [
        NetworkChange(
            values={"mirror": "https://a/=https://b/ https://c/=/d", "no_proxy": "x"},
            forget=("ca", "proxy"),
        )
    ]


def test_it_needs_no_service(weir: Weir, connector: FakeConnector) -> None:
    """It is looked at before anything could be fetched."""
    connector.is_running = False

    assert weir("network").status == 0
    assert connector.offline_used == 1
    assert connector.started == []


@pytest.mark.parametrize("words", [["--set", "proxy"], ["--set"], ["--forget"], ["extra"]])
def test_a_line_that_is_incomplete_is_a_usage_error(weir: Weir, words: list[str]) -> None:
    """Before anything is changed."""
    assert weir("network", *words).status == 2
