"""Alarms as cards."""

import msgspec
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from studio.ui.theme import Look
from studio.ui.viewmodels.live import Deed, notices
from studio.ui.widgets.notices import Notices
from tests.ui.fake_serving import BY_HAND, SMALLER, SPILLS, offered


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


def test_a_renewed_alarm_keeps_the_focus_on_its_button(qtbot: QtBot, look: Look) -> None:
    """The monitor tells of it each second, while somebody is about to press."""
    shown = Notices(look)
    qtbot.addWidget(shown)
    ways = (offered(1, SPILLS.code, SMALLER),)
    shown.show_notices(notices((SPILLS,), ways, is_fixing=False))
    shown.show()
    shown.activateWindow()
    name = f"alarm-{SPILLS.code}-fix-1"
    button = shown.findChild(QPushButton, name)
    button.setFocus()
    qtbot.waitUntil(button.hasFocus)
    worse = msgspec.structs.replace(SPILLS, title="2.4 GiB in swap")

    shown.show_notices(
        notices((worse,), (*ways, offered(2, SPILLS.code, BY_HAND)), is_fixing=False)
    )

    assert shown.findChild(QPushButton, name) is button
    assert button.hasFocus()
    copy = shown.findChild(QPushButton, f"alarm-{SPILLS.code}-copy-nvidia-smi")
    assert copy.isVisible()


def test_a_remedy_that_is_gone_takes_its_button_along(qtbot: QtBot, look: Look) -> None:
    """And a muted alarm is one line, behind the others."""
    shown = Notices(look)
    qtbot.addWidget(shown)
    ways = (offered(1, SPILLS.code, SMALLER),)
    other = msgspec.structs.replace(SPILLS, code="other")
    shown.show_notices(notices((SPILLS, other), ways, is_fixing=False))
    muted = msgspec.structs.replace(SPILLS, is_muted=True)

    shown.show_notices(notices((muted, other), (), is_fixing=False))

    visible = [
        one.objectName() for one in shown.findChildren(QPushButton) if one.isVisibleTo(shown)
    ]
    assert visible == ["alarm-other-mute-other", f"alarm-{SPILLS.code}-unmute-{SPILLS.code}"]
