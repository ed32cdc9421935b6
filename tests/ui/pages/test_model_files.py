"""The files of the model in front, in a window."""

from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from studio.ui.controllers.models import ModelsController
from studio.ui.viewmodels.frame import PageId
from studio.ui.window import MainWindow
from tests.ui.fake_models import FakeModels
from tests.ui.fake_service import FakeService
from tests.ui.opened import opened
from tests.ui.test_window import click, shown, text


def test_files_are_asked_for_when_they_are_wanted_and_follow_the_model(
    qtbot: QtBot, service: FakeService, window: MainWindow
) -> None:
    """Nobody who only looks at the list has a thousand names read from the disk."""
    fake = FakeModels(service)
    page = opened(window, PageId.MODELS, ModelsController)
    qtbot.waitUntil(lambda: page.area.library is not None and not page.area.pending)
    assert page.area.detail is None

    click(qtbot, window, "model-files-fold")
    qtbot.waitUntil(lambda: shown(window, "model-files-table"))
    assert page.area.detail_of == fake.models[0].path
    assert "1 of 3 proven" in text(window, "model-files-note")

    page.view.library.table.mark(fake.models[1].path)
    qtbot.waitUntil(lambda: page.area.detail_of == fake.models[1].path)

    click(qtbot, window, "model-files-fold")
    assert not shown(window, "model-files-table")
    fold = window.findChild(QPushButton, "model-files-fold")
    assert fold is not None
    assert fold.text() == "Show its 5 files"
