"""Widgets are deleted in the window's thread, whoever fills the memory."""

import gc
import threading

from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from studio.ui.garbage import Garbage, collect_due


class Circle(QObject):
    """An object of Qt's that only a collection finds."""

    def __init__(self, ended: list[int]) -> None:
        super().__init__()
        self._itself = self
        self._ended = ended

    def __del__(self) -> None:
        self._ended.append(threading.get_ident())


def test_what_another_thread_allocates_deletes_no_widget_there(qtbot: QtBot) -> None:
    """Qt ends the process when that happens while it works on the widget."""
    ended: list[int] = []
    garbage = Garbage()
    Circle(ended)
    assert not gc.isenabled()

    kept: list[list[int]] = []
    thread = threading.Thread(target=lambda: kept.extend([one] for one in range(100_000)))
    thread.start()
    thread.join()

    assert ended == []
    assert collect_due() > 0
    assert ended == [threading.get_ident()]
    garbage.deleteLater()
