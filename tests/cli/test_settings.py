"""`weir settings`: what goes to the service, and what is shown of its answer."""

from collections.abc import Callable

import msgspec
import pytest

from studio.cli.settings import settings_text
from studio.domain.settings import CareChange, CareSettings, OnDeath, OnStall
from tests.cli.fake_service import FakeConnector, FakeService
from tests.cli.typed import Ran

Weir = Callable[..., Ran]


def test_it_shows_what_holds(weir: Weir) -> None:
    """In words, and as the record."""
    shown = weir("settings").out

    assert "started again" in shown
    assert "(the default)" in shown
    assert msgspec.json.decode(weir("settings", "--json").out, type=CareSettings) == CareSettings()


def test_changes_go_to_the_service_as_names_and_texts(weir: Weir, service: FakeService) -> None:
    """The service knows the names."""
    weir("settings", "--set", "on-death=tell", "--set", "stall-s=90", "--forget", "wait-s")

    assert service.care_changes == [
        CareChange(values={"on_death": "tell", "stall_s": "90"}, forget=("wait-s",))
    ]


def test_it_needs_no_service(weir: Weir, connector: FakeConnector) -> None:
    """It is set before anything runs."""
    connector.is_running = False

    assert weir("settings").status == 0
    assert connector.started == []


@pytest.mark.parametrize("words", [["--set", "on-death"], ["--set"], ["--forget"], ["extra"]])
def test_a_line_that_is_incomplete_is_a_usage_error(weir: Weir, words: list[str]) -> None:
    """Before anything is changed."""
    assert weir("settings", *words).status == 2


def test_what_the_environment_gives_is_no_default() -> None:
    """Who looks for the cause of five ticks a second finds it here."""
    given = settings_text(CareSettings(sample_s=0.2))
    chosen = settings_text(CareSettings(sample_s=0.2, chosen=("sample-s",)))

    assert "engine and host (by WEIR_SAMPLE_S)" in given
    assert "engine and host\n" in chosen


@pytest.mark.parametrize("death", list(OnDeath))
@pytest.mark.parametrize("stall", list(OnStall))
def test_every_choice_has_words(death: OnDeath, stall: OnStall) -> None:
    """And figures where some were chosen."""
    text = settings_text(
        CareSettings(
            on_death=death, on_stall=stall, stall_s=90, wait_s=0, chosen=("on-death", "stall-s")
        )
    )

    assert f"{death}: " in text
    assert f"{stall}: " in text
    assert "1 min 30 s" in text
    assert "503 at once" in text
    assert text.count("(the default)") == 5
    assert "1 s: so often the monitor looks" in text
    assert "30.0 s: so long" in settings_text(CareSettings(wait_s=30))


def test_every_name_stands_apart_from_what_it_means() -> None:
    """`check-updatesoff` cannot be read, nor typed."""
    lines = settings_text(CareSettings()).splitlines()

    assert "check-updates" in {line.split()[0] for line in lines}
