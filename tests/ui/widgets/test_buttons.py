"""Buttons."""

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from studio.ui.theme import Look, ThemeChoice
from studio.ui.viewmodels.words import ButtonView
from studio.ui.widgets.buttons import Button, CopyButton, IconButton


def test_copying_says_so_and_then_offers_it_again(
    qtbot: QtBot, look: Look, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without an answer one presses three times."""
    monkeypatch.setattr("studio.ui.widgets.buttons._COPIED_MS", 50)
    button = CopyButton(look, "copy")
    qtbot.addWidget(button)
    button.offer("weir-key")

    button.click()

    assert QApplication.clipboard().text() == "weir-key"
    assert button.text() == "Copied"
    qtbot.waitUntil(lambda: button.text() == "Copy")


def test_nothing_to_copy_leaves_the_clipboard_alone(qtbot: QtBot, look: Look) -> None:
    """The shortcut works also while there is no address."""
    button = CopyButton(look, "copy")
    qtbot.addWidget(button)
    QApplication.clipboard().setText("mine")
    button.offer("")

    button.copy()

    assert QApplication.clipboard().text() == "mine"
    assert not button.isEnabled()


def test_a_compact_button_keeps_its_words_for_screen_readers(qtbot: QtBot, look: Look) -> None:
    """The icon alone is for eyes."""
    button = Button(look, "stop", icon="stop")
    qtbot.addWidget(button)
    button.show_view(ButtonView(text="Stop", tooltip="Stop it"))

    button.be_compact(True)
    button.show_view(ButtonView(text="Stopping", enabled=False))
    assert (button.text(), button.accessibleName()) == ("", "Stopping")
    assert not button.isEnabled()

    button.be_compact(False)
    assert button.text() == "Stopping"


def test_icons_follow_the_theme(qtbot: QtBot, look: Look) -> None:
    """Dark icons on dark ground are no icons."""
    button = IconButton(look, "close", "close", "Close", key="Esc")
    qtbot.addWidget(button)
    dark = button.icon().pixmap(18, 18).toImage()

    look.choose(ThemeChoice.LIGHT)

    assert button.icon().pixmap(18, 18).toImage() != dark
    assert button.toolTip().startswith("Close")
    assert button.shortcut().toString() == "Esc"


@pytest.mark.parametrize("theme", [ThemeChoice.DARK, ThemeChoice.LIGHT])
@pytest.mark.parametrize("icon", [None, "restart"])
@pytest.mark.parametrize("kind", ["", "primary", "harm", "plain", "digit", "segment"])
def test_a_button_that_rests_looks_so(
    qtbot: QtBot, look: Look, kind: str, icon: str | None, theme: ThemeChoice
) -> None:
    """Whoever presses “Forget” and nothing happens believes that the window hangs."""
    look.choose(theme)
    button = Button(look, "button", "Forget" if icon is None else "", kind=kind, icon=icon)
    qtbot.addWidget(button)
    lively = button.grab().toImage()

    button.setEnabled(False)

    assert button.grab().toImage() != lively


def test_an_icon_that_rests_looks_so(qtbot: QtBot, look: Look) -> None:
    """One without words has nothing else to show it."""
    button = IconButton(look, "reset", "restart", "Let the default hold again")
    qtbot.addWidget(button)
    lively = button.grab().toImage()

    button.setEnabled(False)

    assert button.grab().toImage() != lively
