"""A row that goes on in the next line."""

from PySide6.QtWidgets import QPushButton, QWidget
from pytestqt.qtbot import QtBot

from studio.ui.widgets.flow import Flow


def test_what_does_not_fit_goes_on_below_and_what_is_hidden_takes_no_room(qtbot: QtBot) -> None:
    """Six buttons in a window of 900 pixels."""
    holder = QWidget()
    qtbot.addWidget(holder)
    flow = Flow(8, holder)
    buttons = [QPushButton(f"Button {number}") for number in range(4)]
    for button in buttons:
        flow.addWidget(button)
    wide = sum(button.sizeHint().width() + 8 for button in buttons)
    line = buttons[0].sizeHint().height()
    assert flow.heightForWidth(wide) == line
    assert flow.heightForWidth(wide // 2) == 2 * line + 8

    holder.resize(wide // 2, 200)
    holder.show()
    assert buttons[3].y() > buttons[0].y()
    buttons[0].hide()
    assert flow.count() == 4
    assert flow.itemAt(9) is None
    assert flow.takeAt(9) is None
    assert flow.minimumSize().width() >= buttons[1].minimumSizeHint().width()
