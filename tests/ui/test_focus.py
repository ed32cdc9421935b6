"""The keyboard's focus: given back to what only rested, and kept through another language."""

import pytest
from PySide6.QtWidgets import QApplication, QPushButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from studio.ui.focus import FocusKeeper, focus_named, focused_name


@pytest.fixture
def window(qtbot: QtBot, qapp: QApplication) -> QWidget:
    """Return a window with three buttons, the first of which has the focus."""
    made = QWidget()
    column = QVBoxLayout(made)
    for name in ("verify", "remove", "export"):
        button = QPushButton(name)
        button.setObjectName(name)
        column.addWidget(button)
    FocusKeeper(qapp, made)
    qtbot.addWidget(made)
    with qtbot.waitExposed(made):
        made.show()
    made.activateWindow()
    focus_named(made, "verify")
    qtbot.waitUntil(lambda: QApplication.focusWidget() is named(made, "verify"))
    return made


def named(window: QWidget, name: str) -> QPushButton:
    """Return a button."""
    found = window.findChild(QPushButton, name)
    assert found is not None
    return found


def test_a_button_that_rested_has_the_focus_again(window: QWidget) -> None:
    """Space after “Verify” verifies again, and does not press what stands beside it."""
    named(window, "verify").setEnabled(False)
    assert focused_name(window) == "remove"

    named(window, "verify").setEnabled(True)

    assert focused_name(window) == "verify"


def test_whoever_moved_on_meanwhile_is_left_there(window: QWidget) -> None:
    """The focus is the person's."""
    named(window, "verify").setEnabled(False)
    named(window, "export").setFocus()

    named(window, "verify").setEnabled(True)

    assert focused_name(window) == "export"


def test_it_comes_back_also_when_the_neighbour_rests_too(window: QWidget) -> None:
    """All buttons of a page rest together, and come back one after the other."""
    named(window, "verify").setEnabled(False)
    named(window, "remove").setEnabled(False)
    assert focused_name(window) == "export"

    named(window, "remove").setEnabled(True)
    named(window, "verify").setEnabled(True)

    assert focused_name(window) == "verify"


def test_what_is_gone_is_not_asked(window: QWidget) -> None:
    """A row that was removed while it rested leaves the focus where it went."""
    named(window, "verify").hide()
    named(window, "verify").setParent(None)

    named(window, "remove").setEnabled(False)
    named(window, "remove").setEnabled(True)

    assert focused_name(window) == "remove"
    focus_named(window, "nobody")
    assert focused_name(window) == "remove"
