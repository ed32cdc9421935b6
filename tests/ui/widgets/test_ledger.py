"""The ledger draws the planner's parts, and names each with its size."""

import msgspec
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from studio.ui.theme import Look
from studio.ui.viewmodels.plan import plan_view
from studio.ui.widgets.ledger import Ledger
from tests.ui.fake_serving import recorded_plan


def test_the_line_of_spill_is_drawn_in_the_colour_of_harm(qtbot: QtBot, look: Look) -> None:
    """The one line of the picture that costs a user his speed must be seen."""
    ledger = Ledger(look, "ledger")
    qtbot.addWidget(ledger)
    ledger.resize(400, 300)
    (view,) = plan_view(recorded_plan("card-wsl2"), None, is_planning=False).ledgers
    assert view.line is not None

    ledger.show_ledger(view)
    with qtbot.waitExposed(ledger):
        ledger.show()

    picture = ledger.bar.grab().toImage()
    x = round(view.line * ledger.bar.width() * picture.devicePixelRatio())
    harm = look.colour("harm").name()
    assert harm in {picture.pixelColor(x + n, 2).name() for n in (-1, 0)}
    assert "Weights 13.96 GiB" in ledger.bar.accessibleDescription()


def test_the_words_about_the_line_stand_on_its_side(qtbot: QtBot, look: Look) -> None:
    """It lies near the end of the bar, and its words stood at the other one."""
    ledger = Ledger(look, "ledger")
    qtbot.addWidget(ledger)
    (view,) = plan_view(recorded_plan("card-wsl2"), None, is_planning=False).ledgers

    ledger.show_ledger(view)
    words = next(one for one in ledger.findChildren(QLabel) if one.text() == view.line_words)
    assert words.alignment() & Qt.AlignmentFlag.AlignRight
    ledger.show_ledger(msgspec.structs.replace(view, line=0.2))
    assert words.alignment() & Qt.AlignmentFlag.AlignLeft


def test_a_narrow_bar_has_its_whole_title(qtbot: QtBot, look: Look) -> None:
    """“Card 0, NVIDIA GeForc…TX 4090, 23.99 GiB” stood there in the first window."""
    ledger = Ledger(look, "ledger")
    qtbot.addWidget(ledger)
    (view,) = plan_view(recorded_plan("card-wsl2"), None, is_planning=False).ledgers
    ledger.show_ledger(view)
    ledger.resize(160, 400)
    ledger.show()
    ledger.grab()

    title = next(one for one in ledger.findChildren(QLabel) if one.text() == view.title)

    assert title.fontMetrics().horizontalAdvance(view.title) > title.width()
    assert title.wordWrap()
    assert title.height() >= title.heightForWidth(title.width())
