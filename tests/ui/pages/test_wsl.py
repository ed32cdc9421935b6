"""The part of the home page that sets up a Linux on Windows, by itself."""

from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from studio.domain.wsl import WslReport, WslStep
from studio.ui.pages.wsl import WslPart
from studio.ui.theme import Look
from studio.ui.viewmodels.wsl import Doing, wsl_view


def test_it_shows_the_way_rests_while_a_step_is_taken_and_goes(qtbot: QtBot, look: Look) -> None:
    """The bar is there only while something is done."""
    part = WslPart(look)
    qtbot.addWidget(part)
    qtbot.addWidget(part.foot)
    report = WslReport(step=WslStep.IMPORT)
    part.show_view(wsl_view(report, None, None))
    busy = part.findChild(QWidget, "wsl-busy")
    assert busy is not None
    assert busy.isHidden()
    assert part.foot.button.isEnabled()

    part.show_view(wsl_view(report, Doing(step=WslStep.IMPORT, elapsed_s=3.0), None))
    assert not busy.isHidden()
    assert not part.foot.button.isEnabled()

    part.show_view(None)
    assert part.isHidden()
    assert part.foot.isHidden()
