"""Alarms as cards."""

from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from studio.ui.theme import Look
from studio.ui.viewmodels.live import Deed, notices
from studio.ui.widgets.notices import Notices
from tests.ui.fake_serving import SPILLS


def test_a_button_says_what_it_is_for_and_no_alarm_takes_no_room(qtbot: QtBot, look: Look) -> None:
    """Mute silences the alarm that it stands on, and calm is empty."""
    shown = Notices(look)
    qtbot.addWidget(shown)
    heard: list[Deed] = []
    shown.done.connect(heard.append)
    shown.show_notices(notices((SPILLS,), (), is_fixing=False))

    shown.findChild(QPushButton, f"alarm-{SPILLS.code}-mute-{SPILLS.code}").click()
    shown.show_notices(())

    assert [(one.kind, one.what) for one in heard] == [("mute", SPILLS.code)]
    assert shown.isHidden()
