"""Folders, network and service, as the service says them."""

import msgspec
import pytest

from studio.domain.control import PresetInfo
from studio.domain.errors import ErrorInfo
from studio.domain.network import AuthorityInfo, ProxyInfo
from studio.domain.service import AutostartInfo, AutostartState, RunsAs, UnitInfo
from studio.ui.viewmodels.settings import CardView, Machine, RowView
from studio.ui.viewmodels.settings_machine import (
    OWN,
    folder_cards,
    network_cards,
    service_cards,
)
from tests.ui.fake_service import DEMO, HOST
from tests.ui.fake_settings import NETWORK, PLACES, ROOTS, UNIT


def rows(cards: tuple[CardView, ...]) -> dict[str, RowView]:
    """Return all settings by name."""
    return {row.id: row for card in cards for row in card.rows}


@pytest.mark.parametrize("cards", [folder_cards, network_cards, service_cards])
def test_what_is_not_known_has_no_card(cards: object) -> None:
    """A form of zeros would read as settings."""
    assert callable(cards)
    assert cards(Machine()) == ()


def test_sizes_are_added_up_by_what_they_belong_to() -> None:
    """Two folders of runtimes are one line, with every path on hover."""
    found = rows(folder_cards(Machine(place=PLACES, host=HOST)))

    assert found["folders.runtimes"].value == "12.00 GiB · 41,416 files"
    assert found["folders.runtimes"].tooltip.count("\n") == 1
    assert found["folders.free"].value == "412.00 GiB"
    assert found["folders.total"].value == "38.08 GiB"
    assert "folders.program" not in found


def test_folders_of_models_say_how_much_lies_there_and_which_are_missing() -> None:
    """A disk that is not plugged in keeps its line; the Studio's own stays."""
    found = rows(folder_cards(Machine(folder="/h", roots=ROOTS)))

    assert found["folders.root-0"].value.endswith("/models · 2 models, 24.00 GiB")
    assert [one.text for one in found["folders.roots"].items] == [
        "/media/ada/disk/models · 7 models, 181.00 GiB",
        "/mnt/nas/models · not there",
    ]


def test_while_folders_are_counted_the_page_says_so() -> None:
    """Models of a hundred gibibytes take seconds."""
    cards = folder_cards(Machine(folder="/h", is_live=True))

    assert rows(cards)["folders.home"].value == "/h"
    assert rows(cards)["folders.free"].value == "–"
    assert cards[1].about.startswith("Counting")


def test_a_proxy_of_the_environment_is_shown_beside_an_empty_field() -> None:
    """What holds and what was set here are two things, and only one can be taken away here."""
    other = rows(network_cards(Machine(network=NETWORK, is_live=True)))["network.proxy"]
    own = ProxyInfo(scheme="https", url="http://mine:1", source=OWN)
    mine = rows(network_cards(Machine(network=msgspec.structs.replace(NETWORK, proxies=(own,)))))

    assert (other.value, other.can_reset) == ("", False)
    assert other.note == "Now http://proxy.example:3128, by HTTPS_PROXY."
    assert (mine["network.proxy"].value, mine["network.proxy"].can_reset) == ("http://mine:1", True)


def test_a_switch_that_the_environment_holds_says_so() -> None:
    """Turning it here would not help."""
    held = msgspec.structs.replace(NETWORK, offline=True, offline_source="WEIR_OFFLINE")
    found = rows(network_cards(Machine(network=held)))["network.offline"]

    assert (found.value, found.note) == ("on", "Decided by WEIR_OFFLINE.")


def test_own_and_foreign_certificates_and_notes_are_told_apart() -> None:
    """A file that is not used is said where it was named."""
    report = msgspec.structs.replace(
        NETWORK,
        authorities=(
            AuthorityInfo(path="/a.pem", source=OWN),
            AuthorityInfo(path="/b.pem", source="pip"),
        ),
        notes=("/c.pem is not used.",),
    )
    found = rows(network_cards(Machine(network=report)))

    assert found["network.ca"].value == "/a.pem"
    assert found["network.ca"].note == "Trusted too: /b.pem (pip)"
    assert found["network.note-0"].is_warning


def test_a_unit_can_be_let_go_or_put_up_and_what_is_in_the_way_is_said() -> None:
    """Where no systemd runs, the button rests and the reason stands below."""
    kept = rows(service_cards(Machine(is_live=True, unit=UNIT)))
    problem = ErrorInfo(code="no-systemd", message="No systemd runs here.", hint="Do so.")
    without = UnitInfo(
        unit_file="/u", is_installed=False, user="ada", runs_as=RunsAs.HAND, pid=7, problem=problem
    )
    found = rows(service_cards(Machine(is_live=True, unit=without)))

    assert kept["service.unit"].button == "Let it go"
    assert kept["service.runs"].value == "Kept by systemd, process 4200."
    assert (found["service.unit"].button, found["service.unit"].is_enabled) == (
        "Keep it running",
        False,
    )
    assert found["service.problem"].value == "No systemd runs here. Do so."
    assert found["service.runs"].value.startswith("Started by a window")


@pytest.mark.parametrize("state", list(AutostartState))
def test_every_state_of_the_autostart_has_words(state: AutostartState) -> None:
    """A new one must not take the page down."""
    unit = msgspec.structs.replace(UNIT, autostart=AutostartInfo(state=state, next_at=1.0))
    found = rows(service_cards(Machine(unit=unit)))["service.autostart"]

    assert found.note
    assert found.value == "off"


def test_a_preset_that_is_gone_stays_a_choice_while_it_is_chosen() -> None:
    """Else the list would show "Nothing" for what still starts."""
    info = AutostartInfo(state=AutostartState.GAVE_UP, preset="gone", error=ErrorInfo(
        code="preset-unknown", message="There is no preset `gone`."))  # fmt: skip
    presets: tuple[PresetInfo, ...] = (DEMO,)
    unit = msgspec.structs.replace(UNIT, autostart=info)
    found = rows(service_cards(Machine(unit=unit, presets=presets)))

    assert [one.value for one in found["service.autostart"].options] == ["off", DEMO.id, "gone"]
    assert found["service.autostart"].value == "gone"
    assert found["service.autostart-error"].is_warning
