"""What happened, and alarms."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from studio.domain.alarms import AlarmList
from studio.domain.history import HistoryEvent, HistoryEventKind
from studio.ui.pages.happened import AlarmsPage, EventsPage
from studio.ui.theme import Look
from studio.ui.viewmodels.happened import ended_lines, event_lines
from studio.ui.viewmodels.live import Deed, notices
from tests.ui.fake_monitor import ENDED
from tests.ui.fake_serving import SMALLER, SPILLS, offered


def test_enter_on_an_event_asks_for_its_moment(qtbot: QtBot, look: Look) -> None:
    """From the table into the charts without a mouse."""
    page = EventsPage(look)
    qtbot.addWidget(page)
    page.show()
    events = [
        HistoryEvent(at=float(at), kind=HistoryEventKind.BOOT, name="cpu-demo") for at in (10, 20)
    ]
    page.show_lines(event_lines(events), "")
    page.table.selectRow(1)

    with qtbot.waitSignal(page.opened) as asked:
        qtbot.keyClick(page.table, Qt.Key.Key_Return)

    assert asked.args == [10.0]


def test_alarms_are_cards_and_those_that_are_over_take_no_more_room_than_they_need(
    qtbot: QtBot, look: Look
) -> None:
    """One row is no reason for an empty half."""
    page = AlarmsPage(look)
    qtbot.addWidget(page)
    page.resize(800, 600)
    page.show()
    deeds: list[Deed] = []
    page.done.connect(deeds.append)
    shown = notices((SPILLS,), (offered(1, SPILLS.code, SMALLER),), is_fixing=False)

    page.show_alarms("1 alarm holds.", shown, "", ended_lines(AlarmList(ended=(ENDED,))))
    assert page.table.height() < 100
    page.show_alarms("", shown, "", ended_lines(AlarmList(ended=(ENDED,) * 300)))
    assert page.table.height() < 500

    button = page.findChild(QPushButton, "alarm-spill-swap-fix-1")
    assert isinstance(button, QPushButton)
    button.click()
    assert [(deed.kind, deed.what) for deed in deeds] == [("fix", "1")]
    page.show_alarms("All is well.", (), "", ())
    assert page.table.isHidden()
