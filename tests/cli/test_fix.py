"""`weir fix`: the list, and taking a remedy."""

from collections.abc import Callable

import msgspec
import pytest

from studio.domain.diagnosis import FixRequest, RemedyList
from tests.cli.fake_service import FakeConnector, FakeService
from tests.cli.remedy_samples import OFFERED
from tests.cli.typed import Ran

Weir = Callable[..., Ran]


def test_the_remedies_are_listed_without_a_service(weir: Weir, connector: FakeConnector) -> None:
    """The one that failed may be gone."""
    connector.is_running = False

    ran = weir("fix")

    assert ran.status == 0
    assert "cpu-demo failed: A request of 32,768 tokens" in ran.out
    assert "1. Lower max_model_len" in ran.out
    assert connector.started == []


def test_programs_get_the_list(weir: Weir) -> None:
    """As the record."""
    assert msgspec.json.decode(weir("fix", "--json").out, type=RemedyList) == OFFERED


def test_nothing_failed_is_said(weir: Weir, service: FakeService) -> None:
    """An empty answer would look like a mistake."""
    service.offered = RemedyList()

    assert "Nothing has failed" in weir("fix").out


def test_a_remedy_is_told_before_it_is_taken(weir: Weir, service: FakeService) -> None:
    """And asked for by what it is about, so that another list does not answer."""
    ran = weir("fix", "1", "--yes")

    assert ran.status == 0
    assert service.fixes == [FixRequest(number=1, about="kv-cache-too-small", consent=True)]
    assert "Does: Lower max_model_len to 16256" in ran.err
    assert "weir up cpu-demo --set max_model_len=16256" in ran.err
    assert "Mended: cpu-vllm." in ran.err
    assert "http://127.0.0.1:18020/v1" in ran.out


def test_what_only_a_person_can_do_is_not_said_twice(weir: Weir) -> None:
    """The service refuses it with the same words; `Does:` would be a lie."""
    assert "Does:" not in weir("fix", "2").err


def test_taking_one_starts_a_service_that_stays(weir: Weir, connector: FakeConnector) -> None:
    """What was mended is to serve."""
    connector.is_running = False

    assert weir("fix", "2").status == 0
    assert connector.started == [False]


def test_a_number_beyond_the_list_is_refused_by_the_service(
    weir: Weir, service: FakeService
) -> None:
    """Which knows the list as it is now."""
    weir("fix", "77")

    assert service.fixes == [FixRequest(number=77)]


@pytest.mark.parametrize("words", [["one"], ["0"], ["-1"], ["1", "2"]])
def test_a_line_that_cannot_be_meant_is_a_usage_error(weir: Weir, words: list[str]) -> None:
    """Before anything is stopped."""
    assert weir("fix", *words).status == 2
