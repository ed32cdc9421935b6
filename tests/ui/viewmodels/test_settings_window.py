"""The window's own settings, and privacy."""

import msgspec
import pytest

from studio.domain.secrets import StoreInfo, StoreKind
from studio.domain.self_update import Came, UpdateStatus
from studio.domain.settings import CareSettings
from studio.ui.viewmodels.settings import CardView, Machine, RowView, WindowChoices
from studio.ui.viewmodels.settings_window import privacy_cards, window_cards
from tests.ui.fake_service import KEY
from tests.ui.fake_settings import NETWORK


def rows(cards: tuple[CardView, ...]) -> dict[str, RowView]:
    """Return all settings by name."""
    return {row.id: row for card in cards for row in card.rows}


def test_what_was_chosen_is_marked_and_nothing_chosen_is_the_system() -> None:
    """Language and theme follow the desktop until somebody says otherwise."""
    plain = rows(window_cards(WindowChoices()))
    chosen = rows(window_cards(WindowChoices(language="zh_CN", theme="light", notifies=False)))

    assert plain["window.language"].value == plain["window.theme"].value == "system"
    assert chosen["window.language"].value == "zh_CN"
    assert chosen["window.theme"].value == "light"
    assert chosen["window.notifies"].value == "off"


@pytest.mark.parametrize(
    ("has_tray", "words"), [(True, "The sign in the tray"), (False, "This desktop has no tray")]
)
def test_the_tray_is_promised_only_where_there_is_one(words: str, *, has_tray: bool) -> None:
    """A window that hides in a tray that is not there is lost."""
    about = rows(window_cards(WindowChoices(has_tray=has_tray)))["window.to-tray"].about

    assert about.startswith(words)


def test_what_the_system_wishes_is_said_where_it_decides() -> None:
    """Who chose "system" wants to know what that means here."""
    shown = rows(window_cards(WindowChoices(system_is_reduced=True)))["window.motion"]
    own = rows(window_cards(WindowChoices(motion="full", system_is_reduced=True)))["window.motion"]

    assert shown.note == "The system asks for less motion."
    assert own.note == ""


def test_kept_prompts_are_named_and_marked() -> None:
    """The one thing on this page that may be a surprise."""
    watched = msgspec.structs.replace(KEY, prompts_until="2026-11-29T17:00:00")
    found = rows(privacy_cards(Machine(keys=(KEY, watched))))["privacy.prompts"]

    assert found.is_warning
    assert "Open WebUI (29 Nov 2026, 17:00)" in found.value
    assert rows(privacy_cards(Machine(keys=(KEY,))))["privacy.prompts"].value == "None are kept."
    assert "Not known" in rows(privacy_cards(Machine()))["privacy.prompts"].value


def test_where_keys_lie_is_said_with_the_reason_for_no_keyring() -> None:
    """A file of mode 0600 is not what people expect of a desktop."""
    store = StoreInfo(kind=StoreKind.FILE, where="/h/secrets", reason="it is locked")
    found = rows(privacy_cards(Machine(store=store)))["privacy.keys"]

    assert "files of yours alone: /h/secrets" in found.value
    assert found.note == "Not in the keyring: it is locked."
    ring = StoreInfo(kind=StoreKind.KEYRING, where="KWallet")
    assert "keyring (KWallet)" in rows(privacy_cards(Machine(store=ring)))["privacy.keys"].value


def test_offline_means_that_nobody_is_asked() -> None:
    """The page's headline has to hold at its strongest."""
    off = msgspec.structs.replace(NETWORK, offline=True)

    assert "nothing at all" in rows(privacy_cards(Machine(network=off)))["privacy.now"].value
    assert (
        "for these only"
        in rows(privacy_cards(Machine(network=NETWORK, is_live=True)))["privacy.now"].value
    )


def test_who_is_asked_for_a_newer_studio_is_said_by_what_was_allowed() -> None:
    """A promise about what goes out holds only as long as it names everything."""
    asked = UpdateStatus(version="1.0.0", came=Came.RUN, feed="https://releases.example/f")
    allowed = Machine(care=CareSettings(check_updates=True), program=asked)
    row = rows(privacy_cards(allowed))["privacy.updates"]
    assert row.value.startswith("Once a day, because you allow it")
    assert "releases.example" in row.note

    row = rows(privacy_cards(Machine(care=CareSettings())))["privacy.updates"]
    assert row.value.startswith("Only when you press")
    assert row.note == ""
