"""`weir boots`, `weir presets pin` and `unpin`."""

from collections.abc import Callable

import msgspec
import pytest

from studio.domain.boots import BootHistory
from tests.cli.boots_samples import FREED, HISTORY, PINNED
from tests.cli.fake_service import FakeConnector, FakeService
from tests.cli.typed import Ran

Weir = Callable[..., Ran]


def test_the_history_is_shown_and_printed(weir: Weir) -> None:
    """For people, and as the record."""
    assert "ready after 1 min 21 s" in weir("boots").out
    assert msgspec.json.decode(weir("boots", "--json").out, type=BootHistory) == HISTORY


def test_one_preset_and_a_number_are_passed_on(weir: Weir, service: FakeService) -> None:
    """The service cuts; a long history does not travel for nothing."""
    weir("boots", "27b-mtp", "-n", "3")
    weir("boots")

    assert service.boots_asked == ["preset=27b-mtp&limit=3", "limit=20"]


@pytest.mark.parametrize(("word", "made"), [("pin", PINNED), ("unpin", FREED)])
def test_a_pool_is_pinned_and_freed(weir: Weir, word: str, made: object) -> None:
    """What it means is said; programs get the figures."""
    assert weir("presets", word, "27b-mtp").out.strip() == msgspec.to_builtins(made)["note"]
    assert weir("presets", word, "27b-mtp", "--json").document() == msgspec.to_builtins(made)
    assert weir("presets", word).status == 2


def test_none_of_it_needs_a_service(weir: Weir, connector: FakeConnector) -> None:
    """The history and the pins lie on the disk."""
    connector.is_running = False

    for words in (["boots"], ["presets", "pin", "27b-mtp"], ["presets", "unpin", "27b-mtp"]):
        assert weir(*words).status == 0
    assert connector.offline_used == 3
    assert connector.started == []


@pytest.mark.parametrize("words", [["-n", "many"], ["-n", "-1"], ["a", "b"], ["--host", "x"]])
def test_a_wrong_line_is_a_usage_error(weir: Weir, words: list[str]) -> None:
    """Before anything is asked."""
    assert weir("boots", *words).status == 2
