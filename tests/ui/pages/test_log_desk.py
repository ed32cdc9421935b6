"""The logs page with files, diagnosis and boots, against the fake service."""

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QLabel, QLineEdit, QPushButton
from pytestqt.qtbot import QtBot

from studio.domain.diagnosis import DiagnoseRequest, FixRequest
from studio.domain.errors import ErrorInfo
from studio.domain.events import LogAppended
from studio.ui.controllers.logs import LogsController
from studio.ui.pages.log_desk import Part
from studio.ui.viewmodels.frame import PageId
from studio.ui.window import MainWindow
from tests.ui.fake_records import MATCH, FakeRecords
from tests.ui.fake_service import START, FakeService, line
from tests.ui.opened import opened
from tests.ui.test_window import click, text


@pytest.fixture
def records(service: FakeService) -> FakeRecords:
    """Return the fake's logs, failure and boots."""
    return FakeRecords(service)


@pytest.fixture
def page(records: FakeRecords, window: MainWindow) -> LogsController:
    """Return the page in front."""
    return opened(window, PageId.LOGS, LogsController)


def test_files_of_earlier_boots_are_read_page_by_page(
    qtbot: QtBot, page: LogsController, window: MainWindow
) -> None:
    """Older lines go on top; at the beginning the button rests."""
    click(qtbot, window, "part-engine")
    lines = page.parts.files.view.lines
    qtbot.waitUntil(lambda: lines.count == 50)

    click(qtbot, window, "log-older")

    qtbot.waitUntil(lambda: lines.count == 100)
    assert lines.shown[0].text == "page 2 line 0"
    older = window.findChild(QPushButton, "log-older")
    assert older is not None
    qtbot.waitUntil(lambda: not older.isEnabled())


def test_a_failure_is_taken_care_of_by_one_press(
    qtbot: QtBot, page: LogsController, window: MainWindow, records: FakeRecords
) -> None:
    """The number goes with what it was for, so that nothing else is done."""
    click(qtbot, window, "part-diagnosis")
    qtbot.waitUntil(lambda: page.area.known is not None and not page.area.pending)
    assert text(window, "cause-0-title") == MATCH.cause

    click(qtbot, window, "cause-0-remedy-0")

    asked = ("/remedies", FixRequest(number=1, about=MATCH.code))
    qtbot.waitUntil(lambda: asked in records.asked and not page.area.pending)
    assert "went well" in text(window, "diagnosis-headline")


def test_evidence_is_marked_in_the_log(
    qtbot: QtBot, service: FakeService, page: LogsController, window: MainWindow
) -> None:
    """The line that proves it, where it stands."""
    evidence = tuple(line(seq, words) for seq, words in enumerate(("before", *MATCH.evidence)))
    service.publish(LogAppended(lines=evidence, dropped=0))
    qtbot.waitUntil(lambda: page.view.view.lines.count > 0)
    click(qtbot, window, "part-diagnosis")
    qtbot.waitUntil(lambda: page.area.known is not None and not page.area.pending)

    click(qtbot, window, "cause-0-show")

    assert page.parts.part is Part.LIVE
    assert page.view.view.lines.matches


def test_a_file_that_is_dropped_is_diagnosed(
    qtbot: QtBot, page: LogsController, window: MainWindow, records: FakeRecords, tmp_path: Path
) -> None:
    """Also one with blanks in its name; a refusal is a card."""
    click(qtbot, window, "part-diagnosis")
    file = tmp_path / "their engine ü.log"
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(file))])
    drop = QDropEvent(
        QPointF(1, 1), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )  # fmt: skip

    page.parts.diagnosis.dropEvent(drop)

    qtbot.waitUntil(lambda: page.area.found is not None)
    assert ("/diagnose", DiagnoseRequest(path=str(file))) in records.asked
    records.diagnosis = ErrorInfo(code="log-damaged", message="It is no log.")
    page.area.read_file(str(file))
    qtbot.waitUntil(lambda: not page.parts.diagnosis.problem.isHidden())


def test_a_time_is_gone_to_and_nonsense_is_said(
    qtbot: QtBot, service: FakeService, page: LogsController, window: MainWindow
) -> None:
    """In what is there; else the files are read from then on."""
    many = tuple(line(seq, f"line {seq}") for seq in range(3_000))
    service.publish(LogAppended(lines=many, dropped=0))
    qtbot.waitUntil(lambda: page.view.view.lines.count == 3_000)

    assert page.view.view.go_to(START + 20)
    assert page.view.view.verticalScrollBar().value() == 1_000
    assert not page.view.view.follow

    field = window.findChild(QLineEdit, "log-time")
    assert field is not None
    field.setText("soon")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert "is not a time" in text(window, "log-said")
    field.setText("1m")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: page.parts.files.view.lines.count == 50)


def test_boots_are_listed_with_their_phases(
    qtbot: QtBot, page: LogsController, window: MainWindow
) -> None:
    """The newest on top."""
    click(qtbot, window, "part-boots")

    qtbot.waitUntil(lambda: window.findChild(QLabel, "boot-0-phases") is not None)

    assert "Loading weights" in text(window, "boot-0-phases")
