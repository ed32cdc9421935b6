"""The runtimes page in a window, against the fake service."""

import msgspec
import pytest
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from studio.domain.bundles import ExportRequest, ImportRequest
from studio.domain.errors import ErrorInfo
from studio.domain.events import StageProgress, StageState
from studio.domain.runtimes import CollectRequest, RuntimeWork
from studio.ui.controllers.runtimes import RuntimesController
from studio.ui.state import Link
from studio.ui.viewmodels.frame import PageId
from studio.ui.viewmodels.runtimes import Deed
from studio.ui.widgets.path_dialog import PathDialog
from studio.ui.window import MainWindow
from tests.ui.fake_runtimes import (
    BROKEN,
    CPU,
    INSTALLING,
    LARGE,
    OLDER,
    SIGNER,
    STOPPED,
    UNKNOWN_SIGNER,
    FakeRuntimes,
)
from tests.ui.fake_service import FakeService
from tests.ui.opened import opened
from tests.ui.test_window import button, click, shown, text
from tests.ui.tree import tree_text


@pytest.fixture
def fake(service: FakeService) -> FakeRuntimes:
    """Return the fake runtimes of the fake service."""
    return FakeRuntimes(service)


@pytest.fixture
def page(qtbot: QtBot, fake: FakeRuntimes, window: MainWindow) -> RuntimesController:
    """Return the page in front, with the first runtime shown."""
    made = opened(window, PageId.RUNTIMES, RuntimesController)
    settle(qtbot, made)
    return made


def settle(qtbot: QtBot, page: RuntimesController) -> None:
    """Wait until nothing is asked any more."""
    qtbot.waitUntil(lambda: page.area.detail is not None and not page.area.pending)


def test_a_damaged_file_is_found_shown_and_restored(
    qtbot: QtBot, page: RuntimesController, window: MainWindow, fake: FakeRuntimes
) -> None:
    """Two presses; each answer is a card that stays until it is closed."""
    fake.verdict = BROKEN
    click(qtbot, window, "runtime-verify")
    qtbot.waitUntil(lambda: "2 files differ" in text(window, "runtime-done-text"))
    settle(qtbot, page)

    click(qtbot, window, "runtime-repair")
    qtbot.waitUntil(lambda: "whole again" in text(window, "runtime-done-text"))
    assert [verb for verb, _ in fake.asked] == ["verify", "repair"]
    settle(qtbot, page)
    page.view.said.close_button.click()
    assert page.view.said.isHidden()


def test_a_large_download_asks_first_and_the_yes_goes_along(
    qtbot: QtBot, page: RuntimesController, window: MainWindow, fake: FakeRuntimes
) -> None:
    """Nobody's data plan is used up by one press."""
    page.view.picks.chosen.emit(OLDER.name)
    settle(qtbot, page)
    fake.refusal = LARGE
    click(qtbot, window, "runtime-install")
    qtbot.waitUntil(lambda: page.view.problem.isVisible() and not page.area.pending)

    click(qtbot, window, "runtimes-problem-consent")

    qtbot.waitUntil(lambda: text(window, "runtime-done-text") == f"{OLDER.title} is installed.")
    assert ("install", OLDER.name) in fake.asked
    settle(qtbot, page)
    assert text(window, "runtime-state") == "Installed"


def test_progress_of_anybody_is_shown_and_its_end_reads_the_page_again(
    qtbot: QtBot, page: RuntimesController, service: FakeService, window: MainWindow
) -> None:
    """Somebody may install from a terminal meanwhile."""
    service.publish(INSTALLING)
    qtbot.waitUntil(page.view.work.isVisible)
    assert "8.8 s left" in tree_text(page.view.work)
    verify = window.findChild(QPushButton, "runtime-verify")
    assert verify is not None
    assert not verify.isEnabled()
    assert not button(window, "stop").isVisible()
    assert button(window, "start").isVisible()

    page.area.listed = None
    service.publish(
        StageProgress(stage=INSTALLING.stage, state=StageState.DONE, title=INSTALLING.title)
    )

    qtbot.waitUntil(lambda: page.area.listed is not None and not page.area.pending)
    assert page.view.work.isHidden()
    assert verify.isEnabled()


def test_an_installation_is_cancelled_where_it_is_shown(
    qtbot: QtBot, page: RuntimesController, window: MainWindow, fake: FakeRuntimes
) -> None:
    """One press, and what stays is said; whoever cancels it is not told so as of a failure."""
    page.view.picks.chosen.emit(OLDER.name)
    settle(qtbot, page)
    fake.gate.clear()
    click(qtbot, window, "runtime-install")
    fake.service.publish(INSTALLING)
    qtbot.waitUntil(lambda: not page.view.work.isHidden())
    assert "What was fetched is kept" in text(window, "runtime-stop-about")

    click(qtbot, window, "runtime-stop")

    qtbot.waitUntil(lambda: "is stopped." in text(window, "runtime-done-text"))
    settle(qtbot, page)
    assert ("stop", OLDER.name) in fake.asked
    assert page.view.problem.isHidden()
    failed = msgspec.structs.replace(INSTALLING, state=StageState.FAILED, step=None)
    fake.service.publish(failed)
    qtbot.waitUntil(page.view.work.isHidden)


@pytest.mark.parametrize(
    ("work", "said"),
    [
        (RuntimeWork.REPAIR, "What is restored stays restored"),
        (RuntimeWork.VERIFY, "A check changes nothing"),
        (RuntimeWork.EXPORT, "No file is left"),
    ],
)
def test_other_work_is_cancelled_there_too(
    qtbot: QtBot,
    page: RuntimesController,
    window: MainWindow,
    fake: FakeRuntimes,
    work: RuntimeWork,
    said: str,
) -> None:
    """What stays of it is another thing each time."""
    fake.stopped = msgspec.structs.replace(STOPPED, code=f"{work.value}-stopped")
    fake.gate.clear()
    click(qtbot, window, "runtime-verify")
    fake.service.publish(msgspec.structs.replace(INSTALLING, step=None, work=work))
    qtbot.waitUntil(lambda: not page.view.work.isHidden())
    assert said in text(window, "runtime-stop-about")

    click(qtbot, window, "runtime-stop")

    qtbot.waitUntil(lambda: "is stopped." in text(window, "runtime-done-text"))
    settle(qtbot, page)
    assert ("stop", INSTALLING.runtime) in fake.asked
    assert page.view.problem.isHidden()


def test_what_cannot_be_stopped_has_no_cancel(
    qtbot: QtBot, page: RuntimesController, window: MainWindow, fake: FakeRuntimes
) -> None:
    """Where the service does not say which runtime it is about, there is nothing to ask for."""
    fake.service.publish(msgspec.structs.replace(INSTALLING, step=None, runtime=None))

    qtbot.waitUntil(lambda: not page.view.work.isHidden())

    assert not shown(window, "runtime-stop")


def test_what_nothing_uses_is_shown_before_it_is_removed(
    qtbot: QtBot, page: RuntimesController, window: MainWindow, fake: FakeRuntimes
) -> None:
    """Keeping all is as near as removing."""
    click(qtbot, window, "runtime-free")
    qtbot.waitUntil(lambda: page.view.garbage.isVisible() and not page.area.pending)
    click(qtbot, window, "garbage-no")
    assert page.view.garbage.isHidden()
    assert fake.asked == [("gc", CollectRequest(dry_run=True))]

    click(qtbot, window, "runtime-free")
    qtbot.waitUntil(lambda: page.view.garbage.isVisible() and not page.area.pending)
    click(qtbot, window, "garbage-yes")

    qtbot.waitUntil(lambda: "3.00 GiB are free again" in text(window, "runtime-done-text"))
    assert fake.asked[-1] == ("gc", CollectRequest())


def test_an_unknown_signer_is_asked_about_with_the_fingerprint(
    qtbot: QtBot, page: RuntimesController, window: MainWindow, fake: FakeRuntimes
) -> None:
    """Trust is given to a key that was compared, not to a file."""
    fake.refusal = UNKNOWN_SIGNER
    click(qtbot, window, "runtime-import")
    dialog = window.findChild(PathDialog)
    assert dialog is not None
    dialog.path.setText("/media/stick/cpu.weir")
    click(qtbot, dialog, "import-do")
    qtbot.waitUntil(lambda: page.view.problem.isVisible() and not page.area.pending)

    click(qtbot, window, "runtimes-problem-consent")

    qtbot.waitUntil(lambda: page.view.said.isVisible())
    assert fake.asked[-1] == ("import", ImportRequest(path="/media/stick/cpu.weir", trust=SIGNER))


def test_an_export_goes_into_the_folder_that_was_given(
    qtbot: QtBot, page: RuntimesController, window: MainWindow, fake: FakeRuntimes
) -> None:
    """Its fingerprint is shown: the other side has to compare it. A folder that is gone is none."""
    click(qtbot, window, "runtime-export")
    dialog = window.findChild(PathDialog)
    assert dialog is not None
    dialog.path.setText("/media/großer stick")
    click(qtbot, dialog, "export-do")

    qtbot.waitUntil(lambda: page.view.said.isVisible())
    assert ("export", ExportRequest(to="/media/großer stick/")) in fake.asked
    assert SIGNER in tree_text(page.view.said)


def test_an_update_is_taken_and_a_step_back_leads_to_the_one_before(
    qtbot: QtBot, page: RuntimesController, window: MainWindow, fake: FakeRuntimes
) -> None:
    """An update that does harm is one press away from being gone."""
    click(qtbot, window, f"update-{CPU.name}-do")
    qtbot.waitUntil(lambda: page.view.updates.isHidden() and not page.area.pending)
    click(qtbot, window, "runtime-back")
    qtbot.waitUntil(lambda: window.findChild(QPushButton, "runtime-forward") is not None)
    settle(qtbot, page)

    click(qtbot, window, "runtime-forward")

    qtbot.waitUntil(lambda: [verb for verb, _ in fake.asked][-1] == "rollback")
    settle(qtbot, page)
    assert window.findChildren(QPushButton, "runtime-back")


def test_a_service_that_went_away_is_said_and_its_return_fills_the_page(
    qtbot: QtBot, page: RuntimesController, service: FakeService, window: MainWindow
) -> None:
    """What was read stays readable meanwhile; nothing can be pressed."""
    service.close()
    qtbot.waitUntil(lambda: page.desk.session.known.link is not Link.LIVE)
    repair = window.findChild(QPushButton, "runtime-repair")
    assert repair is not None
    assert not repair.isEnabled()
    assert text(window, "runtime-title") == CPU.title

    qtbot.waitUntil(lambda: page.desk.session.known.link is Link.LIVE)
    qtbot.waitUntil(repair.isEnabled)


def test_a_page_at_the_back_asks_nothing(
    qtbot: QtBot, page: RuntimesController, window: MainWindow, fake: FakeRuntimes
) -> None:
    """A page that is not in front costs nothing."""
    window.show_page(PageId.SERVE)
    page.area.listed = None
    fake.service.publish(INSTALLING)
    qtbot.waitUntil(lambda: bool(page.desk.session.known.stages))

    assert page.area.pending == frozenset()
    assert page.area.listed is None


def test_everything_fits_into_the_smallest_window(
    qtbot: QtBot, page: RuntimesController, window: MainWindow
) -> None:
    """No label is wider than its page, and all that can be pressed has a name."""
    window.resize(900, 600)
    for found in page.view.findChildren(QPushButton):
        if found.isVisible():
            assert found.accessibleName() or found.text(), found.objectName()
    wide = page.view.width()
    assert all(one.width() <= wide for one in page.view.findChildren(QLabel) if one.isVisible())


def test_a_work_that_fell_silent_holds_nobody_up(
    qtbot: QtBot, page: RuntimesController, service: FakeService, window: MainWindow
) -> None:
    """Whoever installed from a terminal may have been killed; its last word stays the last."""
    service.publish(INSTALLING)
    qtbot.waitUntil(page.view.work.isVisible)

    page.quiet.timeout.emit()

    assert page.view.work.isHidden()
    verify = window.findChild(QPushButton, "runtime-verify")
    assert verify is not None
    assert verify.isEnabled()
    page.show_known(page.desk.session.known)
    assert page.view.work.isHidden()
    service.publish(msgspec.structs.replace(INSTALLING, done=300_000_000))
    qtbot.waitUntil(page.view.work.isVisible)


def test_trying_again_is_offered_for_what_was_tried_alone(
    qtbot: QtBot, page: RuntimesController, window: MainWindow, fake: FakeRuntimes
) -> None:
    """Pressed under a refused fingerprint it would do the last work once more."""
    fake.refusal = ErrorInfo(code="disk-full", message="The disk is full.")
    page.do(Deed.REPAIR)
    qtbot.waitUntil(lambda: page.view.problem.isVisible() and not page.area.pending)
    assert shown(window, "runtimes-problem-retry")

    page.area.trust("5f3a", "A friend")
    qtbot.waitUntil(lambda: "no fingerprint" in tree_text(page.view.problem))

    assert not shown(window, "runtimes-problem-retry")
