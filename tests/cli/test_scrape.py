"""`weir metrics`, on a real home and without a service."""

import json
from collections.abc import Callable

import pytest

from studio.cli.scrape import info_text
from studio.domain.scrape import ScrapeInfo
from tests.cli.typed import Ran, Typed

Weir = Callable[..., Ran]


def test_it_is_turned_on_shown_rotated_and_turned_off(typed: Typed) -> None:
    """Kept between two commands, service or not."""
    assert "is off" in typed("metrics").stdout
    assert "on port 19999" in typed("metrics", "on", "--port", "19999").stdout
    first = typed("metrics", "show-token").stdout
    assert first.startswith("weir-metrics-")
    typed("metrics", "rotate")
    assert typed("metrics", "show-token").stdout != first
    assert json.loads(typed("metrics", "show", "--json").stdout)["port"] == 19_999
    assert "is off" in typed("metrics", "off").stdout
    assert "weir metrics on" in typed("metrics", "show-token", status=3).stderr


def test_with_a_service_its_address_is_named(weir: Weir) -> None:
    """What a scraper needs."""
    assert "http://127.0.0.1:40001/metrics" in weir("metrics", "show").out
    assert weir("metrics", "show-token", "--json").document() == {"token": "weir-metrics-abc"}


@pytest.mark.parametrize(
    "line", [["metrics", "up"], ["metrics", "on", "--port", "0"], ["metrics", "off", "--port", "1"]]
)
def test_a_wrong_line_is_a_usage_error(weir: Weir, line: list[str]) -> None:
    """Before anything is asked."""
    assert weir(*line).status == 2


def test_another_port_than_wanted_is_said() -> None:
    """A scraper would look in vain."""
    text = info_text(ScrapeInfo(is_on=True, url="http://127.0.0.1:1/metrics", note="Port 2 is."))

    assert text.endswith("Port 2 is.")
