"""Choices side by side."""

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from studio.ui.theme import Look
from studio.ui.widgets.segments import Segments


@pytest.fixture
def segments(qtbot: QtBot, look: Look) -> Segments:
    """Return three choices, the first one marked."""
    made = Segments("span", "Time span", [("1m", "1 min"), ("1h", "1 h"), ("90d", "90 days")])
    qtbot.addWidget(made)
    made.show_chosen("1m")
    made.show()
    return made


def test_only_a_person_is_heard(qtbot: QtBot, segments: Segments) -> None:
    """What the window shows by itself must not come back as a wish."""
    heard: list[str] = []
    segments.chosen.connect(heard.append)

    segments.show_chosen("1h")
    assert segments.value == "1h"
    assert heard == []

    qtbot.mouseClick(segments.button("90d"), Qt.MouseButton.LeftButton)
    assert segments.value == "90d"
    assert heard == ["90d"]


def test_arrow_keys_step_over_what_is_off_and_come_round(qtbot: QtBot, segments: Segments) -> None:
    """All of it works without a mouse."""
    segments.button("1h").setEnabled(False)

    qtbot.keyClick(segments.button("1m"), Qt.Key.Key_Right)
    assert segments.value == "90d"

    qtbot.keyClick(segments.button("90d"), Qt.Key.Key_Right)
    assert segments.value == "1m"

    qtbot.keyClick(segments.button("1m"), Qt.Key.Key_End)
    assert segments.value == "90d"


def test_the_tabulator_stops_once_at_what_is_chosen(segments: Segments) -> None:
    """Nine choices must not be nine stops."""
    segments.show_chosen("1h")

    stops = [v for v in ("1m", "1h", "90d") if segments.button(v).focusPolicy() & _TAB]
    assert stops == ["1h"]


_TAB = Qt.FocusPolicy.TabFocus
