"""The pictures of the settings, the help sheet, the card about the tray, and the tray itself."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QImage, QPainter

from studio.ui.controllers.settings import SettingsController
from studio.ui.layouts import settle
from studio.ui.theme import Look
from studio.ui.viewmodels.frame import PageId
from studio.ui.viewmodels.settings import Edit, Section, Verb
from studio.ui.viewmodels.settings_gateway import EVERYWHERE
from studio.ui.viewmodels.tray import TraySign
from studio.ui.viewmodels.words import Role, Shape
from studio.ui.widgets.help_sheet import HelpSheet
from studio.ui.widgets.tray_card import TrayCard
from studio.ui.widgets.tray_sign import tray_icon
from studio.ui.window import MainWindow
from tests.ui.opened import opened
from tests.ui.visits import SECTIONS

Wait = Callable[[Callable[[], bool]], None]
SIGNS = (
    TraySign(),
    TraySign(shape=Shape.HALF, role=Role.WATER),
    TraySign(level=0.1, shape=Shape.DOT, role=Role.OK),
    TraySign(level=0.6, shape=Shape.DOT, role=Role.OK),
    TraySign(level=1.0, spills=True, shape=Shape.DOT, role=Role.OK),
    TraySign(shape=Shape.TRIANGLE, role=Role.WARN),
    TraySign(shape=Shape.CROSS, role=Role.HARM),
)


def settings_pages(window: MainWindow, folder: Path, theme: str, wait: Wait) -> None:
    """Write one picture of each part, and of what lies around the pages."""
    page = opened(window, PageId.SETTINGS, SettingsController)
    for section in SECTIONS:
        page.choose(section)
        wait(lambda: not page.area.pending)
        if section is Section.GATEWAY:
            edit = Edit(row="gateway.address", verb=Verb.SET, value=EVERYWHERE)
            page.view.edited.emit(edit)
            wait(lambda: not page.area.pending)
        window.grab().save(str(folder / f"{theme}-settings-{section.value}.png"))
    window.resize(900, 600)
    settle()  # what a window does before it paints
    window.grab().save(str(folder / f"{theme}-settings-900.png"))
    window.resize(1180, 760)
    window.show_page(PageId.SERVE)
    window.explain_tray()
    window.grab().save(str(folder / f"{theme}-tray-card.png"))
    card = window.findChild(TrayCard)
    assert card is not None
    card.hide()


def help_sheet(window: MainWindow, folder: Path, theme: str, wait: Wait) -> None:
    """Write the sheet of keys."""
    window.show_help()
    wait(lambda: window.findChild(HelpSheet) is not None)
    sheet = window.findChild(HelpSheet)
    assert sheet is not None
    sheet.grab().save(str(folder / f"{theme}-help.png"))
    sheet.close()


def tray_signs(look: Look, folder: Path, theme: str) -> None:
    """Write every sign on a light and on a dark tray, four times as large."""
    size, zoom, gap = 22, 4, 8
    side = size * zoom + gap
    picture = QImage(side * len(SIGNS), side * 2, QImage.Format.Format_RGB32)
    painter = QPainter(picture)
    for row, ground in enumerate((Qt.GlobalColor.white, Qt.GlobalColor.black)):
        painter.fillRect(QRectF(0, row * side, picture.width(), side), ground)
        for place, sign in enumerate(SIGNS):
            pixmap = tray_icon(look, sign).pixmap(size, size)
            target = QRectF(place * side + gap / 2, row * side + gap / 2, size * zoom, size * zoom)
            painter.drawPixmap(target, pixmap, QRectF(pixmap.rect()))
    painter.end()
    picture.save(str(folder / f"{theme}-tray.png"))
