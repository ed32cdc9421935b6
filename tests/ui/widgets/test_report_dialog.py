"""The report's preview: every file is shown before anything is saved, and just that is saved."""

import zipfile
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QLabel, QWidget
from pytestqt.qtbot import QtBot

from studio.domain.errors import ErrorInfo
from studio.ui.theme import Look
from studio.ui.widgets.report_dialog import ReportDialog
from tests.ui.fake_service import REPORT


@pytest.fixture
def dialog(qtbot: QtBot, look: Look) -> ReportDialog:
    """Return a dialog that waits for its report."""
    made = ReportDialog(look)
    qtbot.addWidget(made)
    made.show()
    return made


def _said(dialog: ReportDialog, name: str) -> str:
    found = dialog.findChild(QLabel, name)
    assert found is not None
    return found.text()


def _save(dialog: ReportDialog) -> QAbstractButton:
    found = dialog.findChild(QAbstractButton, "report-save")
    assert found is not None
    return found


def test_nothing_can_be_saved_before_it_is_seen(dialog: ReportDialog, tmp_path: Path) -> None:
    """Collecting takes a moment."""
    assert not _save(dialog).isEnabled()
    assert not dialog.save_to(str(tmp_path / "x.zip"))
    assert list(tmp_path.iterdir()) == []


def test_every_file_is_shown_and_what_is_shown_is_saved(
    dialog: ReportDialog, tmp_path: Path
) -> None:
    """Whoever passes it on has to know what is in it."""
    dialog.show_preview(REPORT)
    seen = {}
    for row in range(dialog.files.count()):
        dialog.files.setCurrentRow(row)
        seen[dialog.files.item(row).text()] = dialog.text.toPlainText()
    path = tmp_path / "mein bericht ü.zip"

    assert _save(dialog).isEnabled()
    assert dialog.save_to(str(path))

    with zipfile.ZipFile(path) as archive:
        saved = {name: archive.read(name).decode() for name in archive.namelist()}
    assert saved == seen == {one.name: one.text for one in REPORT.entries}
    assert _said(dialog, "report-said") == f"Saved: {path}"


def test_a_folder_that_is_not_there_is_told(dialog: ReportDialog, tmp_path: Path) -> None:
    """The dialog stays, so that another one can be chosen."""
    dialog.show_preview(REPORT)

    assert not dialog.save_to(str(tmp_path / "none" / "x.zip"))
    assert "cannot be written" in _said(dialog, "report-said")
    assert list(tmp_path.iterdir()) == []


def test_a_report_that_cannot_be_made_says_how_else(dialog: ReportDialog) -> None:
    """The service may be what is broken."""
    dialog.show_error(ErrorInfo(code="service-unreachable", message="The service is gone."))

    assert "The service is gone." in _said(dialog, "report-about")
    assert "weir report" in _said(dialog, "report-about")
    assert not _save(dialog).isEnabled()


@pytest.mark.parametrize("name", ["report-files", "report-text", "report-save", "report-close"])
def test_escape_closes_it_wherever_the_keyboard_is(
    qtbot: QtBot, dialog: ReportDialog, name: str
) -> None:
    """Nothing is saved, and nothing is kept of it."""
    dialog.show_preview(REPORT)
    part = dialog.findChild(QWidget, name)
    assert part is not None
    part.setFocus()
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)  # qtbot closes it, too

    qtbot.keyClick(part, Qt.Key.Key_Escape)

    assert not dialog.isVisible()


def test_it_is_no_larger_than_the_window_below_it(qtbot: QtBot, look: Look) -> None:
    """On a small screen its buttons would lie beyond the edge."""
    window = QWidget()
    window.resize(900, 600)
    qtbot.addWidget(window)

    dialog = ReportDialog(look, window)

    assert dialog.width() <= 900
    assert dialog.height() <= 600
