"""`weir gpus`: what is asked, what is shown."""

from collections.abc import Callable

import msgspec
import pytest

from studio.cli import gpus as gpus_module
from studio.domain.cards import CardSample, CardsReading
from tests.cli.fake_service import FakeConnector, FakeService
from tests.cli.typed import Ran

Weir = Callable[..., Ran]
READING = CardsReading(
    cards=(CardSample(index=0, name="NVIDIA H200", temperature_c=47),), source="nvml"
)


@pytest.fixture(autouse=True)
def reading(service: FakeService) -> None:
    """Let the service tell of one card."""
    service.cards = [READING, READING]


def test_it_shows_the_cards(weir: Weir) -> None:
    """As a table, and as the record."""
    assert "H200" in weir("gpus").out
    assert msgspec.json.decode(weir("gpus", "--json").out, type=CardsReading) == READING


def test_it_needs_no_service(weir: Weir, connector: FakeConnector) -> None:
    """A look at the cards is no reason to start one."""
    connector.is_running = False

    assert weir("gpus").status == 0
    assert connector.started == []


def test_following_prints_one_reading_after_the_other(
    weir: Weir, service: FakeService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One JSON line each; it ends with the service."""
    monkeypatch.setattr(gpus_module, "EVERY_S", 0.0)
    service.cards = [READING, CardsReading(cards=()), CardsReading(note="Late.")]

    ran = weir("gpus", "--json", "-f")
    lines = ran.out.strip().split("\n")

    assert msgspec.json.decode(lines[0], type=CardsReading) == READING
    assert msgspec.json.decode(lines[2], type=CardsReading).note == "Late."
    assert ran.status != 0


def test_following_in_a_pipe_writes_no_control_characters(
    weir: Weir, service: FakeService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`weir gpus -f >> file` is read later."""
    monkeypatch.setattr(gpus_module, "EVERY_S", 0.0)
    service.cards = [READING, READING]

    ran = weir("gpus", "-f")

    assert "\x1b" not in ran.out
    assert ran.out.count("H200") == 2


@pytest.mark.parametrize("words", [["extra"], ["--folow"]])
def test_a_mistake_is_a_usage_error(weir: Weir, words: list[str]) -> None:
    """Before anything is asked."""
    assert weir("gpus", *words).status == 2
