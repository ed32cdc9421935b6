"""Trusted signers, in a window; and what `weir runtime` and `weir models` can do, the pages can."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QLineEdit, QScrollArea
from pytestqt.qtbot import QtBot

from studio.cli.bundle import BUNDLE_COMMANDS
from studio.cli.models import MODEL_COMMANDS
from studio.cli.runtime import RUNTIME_COMMANDS
from studio.domain.bundles import Signer, SignerList
from studio.ui.controllers.runtimes import RuntimesController
from studio.ui.viewmodels.frame import PageId
from studio.ui.window import MainWindow
from tests.ui.fake_runtimes import SIGNER, FakeRuntimes
from tests.ui.fake_service import FakeService
from tests.ui.opened import opened
from tests.ui.test_window import click, shown

WHERE = {
    "list": "picks", "show": "card", "series": "do", "pin": "open", "install": "do",
    "verify": "do", "repair": "do", "versions": "versions", "rollback": "do", "gc": "garbage",
    "export": "do", "import": "import_asked", "signers": "signers", "stop": "work",
}  # fmt: skip
"""Of the runtimes page, the part that does what a verb does."""


@pytest.fixture
def page(qtbot: QtBot, service: FakeService, window: MainWindow) -> RuntimesController:
    """Return the page in front, with its signers."""
    FakeRuntimes(service)
    made = opened(window, PageId.RUNTIMES, RuntimesController)
    qtbot.waitUntil(lambda: made.area.signers is not None and not made.area.pending)
    return made


def typed(page: RuntimesController, name: str) -> QLineEdit:
    """Return a field of the card."""
    found = page.view.findChild(QLineEdit, name)
    assert found is not None
    return found


def test_a_signer_is_trusted_and_forgotten(
    qtbot: QtBot, page: RuntimesController, window: MainWindow
) -> None:
    """The field is empty again only when the service took it."""
    field = typed(page, "signer-fingerprint")
    field.setText("short")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: page.area.problem is not None)
    assert field.text() == "short"

    field.setText("feed" * 16)
    typed(page, "signer-name").setText("Ada")
    click(qtbot, window, "signer-trust")
    qtbot.waitUntil(lambda: field.text() == "")
    qtbot.waitUntil(lambda: shown(page.view.signers, "signer-forget-" + "feed" * 16))

    click(qtbot, window, f"signer-forget-{SIGNER}")
    qtbot.waitUntil(lambda: all(one.fingerprint != SIGNER for one in page.area.signers.signers))
    qtbot.waitUntil(lambda: not shown(page.view.signers, f"signer-forget-{SIGNER}"))


def test_fingerprints_stand_there_whole_also_in_a_small_window(
    qtbot: QtBot, page: RuntimesController, window: MainWindow
) -> None:
    """They are there to be compared: two that differ in their last sign looked the same."""
    for _wish in ("icons only", "words, whatever the width"):
        click(qtbot, window, "rail-collapse")
    window.resize(900, 600)
    begin = "e7f0-609e-9ead-c363-2c82-9ff6-fd3f-a9a"
    signers = tuple(
        Signer(fingerprint=f"{begin}{last}", name="Ada " * 30, trusted_at="2026-11-02T10:00:00")
        for last in "01"
    )
    page.area.signers = SignerList(signers=signers)
    page.area.changed.emit()

    found = [one for one in page.view.signers.findChildren(QLabel) if begin in one.text()]
    assert {one.text() for one in found} == {one.fingerprint for one in signers}
    qtbot.waitUntil(lambda: all(one.isVisible() for one in found))
    assert all(one.width() >= one.fontMetrics().horizontalAdvance(one.text()) for one in found)
    scroll = window.findChild(QScrollArea, "runtimes-scroll")
    assert scroll is not None
    assert page.view.signers.minimumSizeHint().width() <= scroll.viewport().width()


def test_the_page_can_do_what_weir_runtime_can(page: RuntimesController) -> None:
    """A new verb needs its place here."""
    verbs = {name.partition(" ")[2] for name in RUNTIME_COMMANDS}

    assert verbs == set(WHERE)
    assert {name.partition(" ")[2] for name in BUNDLE_COMMANDS} <= verbs
    for part in set(WHERE.values()):
        assert hasattr(page.view, part) or hasattr(page, part), part


def test_the_models_page_can_do_what_weir_models_can(window: MainWindow) -> None:
    """The same for models."""
    parts = {
        "": "library", "list": "library", "show": "library", "verify": "check_all_asked",
        "rm": "library", "import": "import_asked", "roots": "folders",
    }  # fmt: skip
    window.show_page(PageId.MODELS)
    view = window.controller(PageId.MODELS).view

    assert {name.partition(" ")[2] for name in MODEL_COMMANDS} == set(parts)
    assert all(hasattr(view, part) for part in parts.values())
