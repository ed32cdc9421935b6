"""Rows of downloads and folders."""

import msgspec
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from studio.domain.downloads import DownloadDeed, DownloadList, DownloadState
from studio.ui.focus import focus_named, focused_name
from studio.ui.pages.model_places import QueuePart
from studio.ui.theme import Look
from studio.ui.viewmodels.downloads import downloads_view
from tests.ui.fake_models import PAUSED, QUEUED, RUNNING


def test_rows_move_with_the_queue_and_keep_their_buttons(qtbot: QtBot, look: Look) -> None:
    """Four events a second must not take a button from under the mouse."""
    part = QueuePart(look)
    qtbot.addWidget(part)
    part.show_view(downloads_view(DownloadList(downloads=(RUNNING, QUEUED)), is_live=True))
    pause = part.findChild(QPushButton, f"download-{RUNNING.id}-pause")
    assert pause is not None

    part.show_view(downloads_view(DownloadList(downloads=(PAUSED, RUNNING)), is_live=True))

    assert part.findChild(QPushButton, f"download-{RUNNING.id}-pause") is pause
    with qtbot.waitSignal(part.done) as done:
        pause.click()
    assert done.args == [RUNNING.id, DownloadDeed.PAUSE]
    assert pause.accessibleName() == f"Pause {RUNNING.title}"


def test_the_focus_goes_from_pause_to_go_on_and_never_to_cancel(qtbot: QtBot, look: Look) -> None:
    """Space pressed twice pauses and goes on; it used to pause and cancel."""
    part = QueuePart(look)
    qtbot.addWidget(part)
    part.show_view(downloads_view(DownloadList(downloads=(RUNNING, QUEUED)), is_live=True))
    with qtbot.waitExposed(part):
        part.show()
    focus_named(part, f"download-{RUNNING.id}-pause")
    stopped = msgspec.structs.replace(RUNNING, state=DownloadState.PAUSED)

    part.show_view(downloads_view(DownloadList(downloads=(stopped, QUEUED)), is_live=True))
    assert focused_name(part) == f"download-{RUNNING.id}-resume"
    part.show_view(downloads_view(DownloadList(downloads=(RUNNING, QUEUED)), is_live=True))
    assert focused_name(part) == f"download-{RUNNING.id}-pause"

    part.show_view(downloads_view(DownloadList(downloads=(QUEUED,)), is_live=True))
    assert focused_name(part) == "downloads-limit"
