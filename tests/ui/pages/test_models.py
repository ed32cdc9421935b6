"""The models page in a window, against the fake service."""

import msgspec
import pytest
from PySide6.QtWidgets import QDialog, QLabel, QLineEdit, QPushButton
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from studio.domain.downloads import DownloadState, GetRequest, HubName
from studio.domain.events import DownloadsChanged, ModelsChanged
from studio.domain.library import (
    CheckRequest,
    ImportProgress,
    ImportWay,
    LostModel,
    ModelImport,
    RemoveRequest,
    RootChange,
)
from studio.ui.controllers.models import ModelsController
from studio.ui.pages.models import Part
from studio.ui.state import Link
from studio.ui.viewmodels.frame import PageId
from studio.ui.viewmodels.models import ModelDeed
from studio.ui.widgets.get_dialog import GetDialog
from studio.ui.widgets.import_dialog import ImportDialog
from studio.ui.widgets.path_dialog import PathDialog
from studio.ui.window import MainWindow
from tests.ui.fake_models import (
    CHECKING,
    FAILED,
    GATED,
    GGUF,
    PARTLY,
    PAUSED,
    QUEUED,
    QWEN,
    RUNNING,
    TINY,
    FakeModels,
    entry,
)
from tests.ui.fake_service import FakeService
from tests.ui.opened import opened
from tests.ui.test_window import click, text
from tests.ui.tree import tree_text


@pytest.fixture
def fake(service: FakeService) -> FakeModels:
    """Return the fake library of the fake service."""
    return FakeModels(service)


@pytest.fixture
def page(qtbot: QtBot, fake: FakeModels, window: MainWindow) -> ModelsController:
    """Return the page in front, with the first model shown."""
    made = opened(window, PageId.MODELS, ModelsController)
    settle(qtbot, made)
    return made


def settle(qtbot: QtBot, page: ModelsController) -> None:
    """Wait until nothing is asked any more."""
    qtbot.waitUntil(lambda: page.area.library is not None and not page.area.pending)


def test_a_marked_row_is_shown_in_full_below_the_table(
    qtbot: QtBot, page: ModelsController, window: MainWindow, qtmodeltester: ModelTester
) -> None:
    """By mouse or by arrow keys."""
    assert text(window, "model-title") == QWEN.name
    qtmodeltester.check(page.view.library.table.rows_model)

    page.view.library.table.mark(PARTLY.path)

    assert text(window, "model-title") == PARTLY.name
    assert text(window, "model-state") == "Incomplete"
    assert text(window, "models-summary").startswith("4 models · 32.37 GiB")


def test_a_model_is_got_with_the_dialog_and_its_end_is_said(
    qtbot: QtBot, page: ModelsController, window: MainWindow, fake: FakeModels
) -> None:
    """The queue comes to the front, because that is where it goes on."""
    click(qtbot, window, "model-get")
    dialog = window.findChild(GetDialog)
    assert dialog is not None
    dialog.repository.setText("Qwen/Qwen3-0.6B")
    click(qtbot, dialog, "get-do")

    qtbot.waitUntil(lambda: "whole and proven" in text(window, "model-done-text"))
    assert page.view.part is Part.DOWNLOADS
    assert fake.asked == [("get", GetRequest(repository="Qwen/Qwen3-0.6B"))]


def test_a_download_is_paused_resumed_moved_and_cancelled(
    qtbot: QtBot, page: ModelsController, window: MainWindow, fake: FakeModels
) -> None:
    """Each press shows the queue as it then is; events bring the rest."""
    fake.downloads = [RUNNING, QUEUED, PAUSED]
    fake.service.publish(DownloadsChanged(downloads=fake.queue()))
    page.view.show_part(Part.DOWNLOADS)
    qtbot.waitUntil(
        lambda: window.findChild(QPushButton, f"download-{PAUSED.id}-first") is not None
    )
    assert page.view.parts.button("downloads").text() == "Downloads · 3"

    for identity, verb in (
        (RUNNING.id, "pause"), (PAUSED.id, "resume"), (PAUSED.id, "first"), (QUEUED.id, "cancel"),
    ):  # fmt: skip
        click(qtbot, window, f"download-{identity}-{verb}")
        settle(qtbot, page)

    assert [one.id for one in fake.downloads] == [PAUSED.id, RUNNING.id]
    assert fake.downloads[1].state is DownloadState.PAUSED
    page.view.queue.limit.activated.emit(5)
    settle(qtbot, page)
    assert fake.limit == 20_000_000
    assert page.view.queue.limit.currentText() == "At most 20 MB/s"


def test_a_gated_model_leads_to_the_tokens(
    qtbot: QtBot, page: ModelsController, window: MainWindow, fake: FakeModels
) -> None:
    """Refused, logged in, tried again: without a terminal."""
    fake.refusal = GATED
    fake.downloads = [FAILED]
    page.get(GetRequest(repository=FAILED.title))
    qtbot.waitUntil(lambda: page.view.problem.isVisible() and not page.area.pending)

    click(qtbot, window, f"download-{FAILED.id}-login")
    field = window.findChild(QLineEdit, "hub-huggingface-token")
    assert field is not None
    field.setText("hf_x")
    click(qtbot, window, "hub-huggingface-keep")

    words = window.findChild(QLabel, "hub-huggingface-text")
    assert words is not None
    qtbot.waitUntil(lambda: "huggingface.example" in words.text())
    assert fake.tokens == {HubName.HUGGING_FACE: "hf_x"}
    click(qtbot, window, "hub-huggingface-forget")
    qtbot.waitUntil(lambda: not fake.tokens and not page.area.pending)


def test_a_check_shows_its_progress_and_is_stopped(
    qtbot: QtBot, page: ModelsController, window: MainWindow, fake: FakeModels
) -> None:
    """Progress comes as events; the whole library is not read for each."""
    page.area.choose(TINY.path)
    click(qtbot, window, "model-check")
    settle(qtbot, page)
    assert fake.asked == [("checks", CheckRequest(name=TINY.path))]
    fake.service.publish(ModelsChanged(models=4, size_bytes=1, checks=(CHECKING,)))
    qtbot.waitUntil(lambda: "114.4 MiB of 257.5 MiB" in tree_text(page.view.library.card))
    settle(qtbot, page)

    click(qtbot, window, "model-stop")

    settle(qtbot, page)
    assert fake.asked[-1] == ("stop", CheckRequest(name=TINY.path))
    page.do(ModelDeed.STOP)
    settle(qtbot, page)


def test_removing_asks_in_place_and_shows_what_it_frees(
    qtbot: QtBot, page: ModelsController, window: MainWindow, fake: FakeModels
) -> None:
    """The careful answer has the focus; one in use cannot be removed at all."""
    page.area.choose(TINY.path)
    click(qtbot, window, "model-remove")
    settle(qtbot, page)
    yes = window.findChild(QPushButton, "model-remove-yes")
    assert yes is not None
    assert not yes.isEnabled()
    page.area.choose(GGUF.path)
    assert page.view.library.question.isHidden()

    click(qtbot, window, "model-remove")
    settle(qtbot, page)
    assert "13.88 GiB" in yes.text()
    click(qtbot, window, "model-remove-no")
    assert page.view.library.question.isHidden()
    click(qtbot, window, "model-remove")
    settle(qtbot, page)
    click(qtbot, window, "model-remove-yes")

    qtbot.waitUntil(lambda: "are free again" in text(window, "model-done-text"))
    settle(qtbot, page)
    assert GGUF not in fake.models
    assert fake.asked[-1] == ("remove", RemoveRequest(name=GGUF.path))


def test_a_model_is_taken_in_and_its_progress_shown(
    qtbot: QtBot, page: ModelsController, window: MainWindow, fake: FakeModels
) -> None:
    """A copy of 60 GB takes its time."""
    fake.gate.clear()
    fake.importing = ImportProgress(path="/x", name="mine", done_bytes=1 << 30, total_bytes=4 << 30)
    click(qtbot, window, "model-import")
    dialog = window.findChild(ImportDialog)
    assert dialog is not None
    dialog.path.setText("/media/größe disk/mine")
    dialog.way.button("copy").click()
    click(qtbot, dialog, "take-in-do")
    qtbot.waitUntil(lambda: "1.00 GiB of 4.00 GiB" in tree_text(page.view))

    fake.gate.set()

    qtbot.waitUntil(lambda: "copied" in text(window, "model-done-text"))
    settle(qtbot, page)
    request = ModelImport(path="/media/größe disk/mine", by=ImportWay.COPY)
    assert ("import", request) in fake.asked


def test_folders_are_added_and_searched_no_more(
    qtbot: QtBot, page: ModelsController, window: MainWindow, fake: FakeModels
) -> None:
    """No file in them is touched."""
    page.view.show_part(Part.FOLDERS)
    click(qtbot, window, "folder-add")
    dialog = window.findChild(PathDialog)
    assert dialog is not None
    dialog.path.setText("/media/neu")
    click(qtbot, dialog, "folder-do")
    qtbot.waitUntil(lambda: window.findChild(QPushButton, "folder-4-remove") is not None)
    settle(qtbot, page)

    click(qtbot, window, "folder-4-remove")

    settle(qtbot, page)
    assert fake.asked[-2:] == [
        ("roots", RootChange(add="/media/neu")), ("roots", RootChange(remove="/media/neu")),
    ]  # fmt: skip


def test_a_model_that_another_hand_took_away_stands_above_the_table(
    qtbot: QtBot, page: ModelsController, window: MainWindow, fake: FakeModels
) -> None:
    """Until it is back; where nothing is missed, no room is taken."""
    assert page.view.library.findChild(QLabel, "models-lost").isHidden()
    fake.lost = [
        LostModel(name="a/b", path="/big/b", uses=("fast",), size_bytes=None, seen_at_s=0.0)
    ]
    page.area.refresh()
    qtbot.waitUntil(lambda: "removed or moved from /big/b" in text(window, "models-lost"))

    fake.lost = []
    page.area.refresh()

    qtbot.waitUntil(page.view.library.findChild(QLabel, "models-lost").isHidden)


def test_nothing_here_and_five_hundred_models_both_work(
    qtbot: QtBot, page: ModelsController, window: MainWindow, fake: FakeModels
) -> None:
    """Empty says the next step; many stay quick."""
    fake.models = []
    page.area.refresh()
    qtbot.waitUntil(lambda: "Get one from a hub" in text(window, "models-empty"))
    settle(qtbot, page)
    assert page.view.library.card.isHidden()

    fake.models = [entry(f"owner-{number}/{'name ' * 30}") for number in range(500)]
    page.area.refresh()
    qtbot.waitUntil(lambda: page.view.library.table.model().rowCount() == 500)
    settle(qtbot, page)
    assert page.view.library.card.isVisible()


def test_a_model_is_found_by_any_of_its_words(
    qtbot: QtBot, page: ModelsController, window: MainWindow
) -> None:
    """Ctrl+F belongs to the page that is in front."""
    page.view.show_part(Part.FOLDERS)
    assert page.begin_search()
    field = page.view.library.field
    qtbot.keyClicks(field, "QWEN ready")
    assert page.view.library.table.model().rowCount() == 1
    assert text(window, "model-title") == QWEN.name

    field.setText("nothing like it")

    assert "No model matches" in text(window, "models-empty")
    field.clear()
    assert page.view.library.table.model().rowCount() == 4


def test_a_service_that_went_away_is_said_and_its_return_fills_the_page(
    qtbot: QtBot, page: ModelsController, service: FakeService, window: MainWindow
) -> None:
    """What was read stays readable meanwhile; nothing can be pressed."""
    service.close()
    qtbot.waitUntil(lambda: page.desk.session.known.link is not Link.LIVE)
    assert not page.view.get.isEnabled()
    assert text(window, "model-title") == QWEN.name

    qtbot.waitUntil(lambda: page.desk.session.known.link is Link.LIVE)
    qtbot.waitUntil(page.view.get.isEnabled)
    settle(qtbot, page)


def test_a_page_at_the_back_asks_nothing(
    qtbot: QtBot, page: ModelsController, window: MainWindow, fake: FakeModels
) -> None:
    """Events are kept, nothing is read."""
    window.show_page(PageId.SERVE)
    library = page.area.library
    fake.downloads = [RUNNING]
    fake.service.publish(
        ModelsChanged(models=9, size_bytes=9), DownloadsChanged(downloads=fake.queue())
    )
    qtbot.waitUntil(lambda: bool(page.area.downloads and page.area.downloads.downloads))

    assert page.area.pending == frozenset()
    assert page.area.library is library


def test_everything_fits_into_the_smallest_window(
    qtbot: QtBot, page: ModelsController, window: MainWindow, fake: FakeModels
) -> None:
    """No label is wider than its page, and all that can be pressed has a name."""
    fake.downloads = [msgspec.structs.replace(FAILED, title="owner/" + "name-" * 40), RUNNING]
    page.area.refresh()
    window.resize(900, 600)
    for part in Part:
        page.view.show_part(part)
        settle(qtbot, page)
        for button in page.view.findChildren(QPushButton):
            if button.isVisible():
                assert button.accessibleName() or button.text(), button.objectName()
        wide = page.view.width()
        for one in page.view.findChildren(QLabel):
            assert not one.isVisible() or one.width() <= wide, one.text()
    assert not [one for one in window.findChildren(QDialog) if one.isVisible()]
