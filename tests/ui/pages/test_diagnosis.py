"""The pages of causes and boots by themselves."""

from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from studio.domain.diagnosis import Diagnosis
from studio.ui.pages.diagnosis import BootsPage, DiagnosisPage
from studio.ui.theme import Look
from studio.ui.viewmodels.diagnosis import boot_rows, file_causes
from tests.ui.fake_records import BOOTS, MATCH

FOUND = Diagnosis(matches=(MATCH,), source="/a", lines=1)


def test_what_needs_a_hand_is_copied_and_nothing_is_doubled(qtbot: QtBot, look: Look) -> None:
    """Shown again, the same causes are not built anew."""
    page = DiagnosisPage(look)
    qtbot.addWidget(page)
    page.show_view("Said.", file_causes(FOUND), can_act=True)
    copy = page.findChild(QPushButton, "cause-0-remedy-1")
    assert copy is not None
    assert copy.toolTip() == "weir gpus"

    page.show_view("Said.", file_causes(FOUND), can_act=True)

    assert page.findChild(QPushButton, "cause-0-remedy-1") is copy


def test_no_boots_say_why(qtbot: QtBot, look: Look) -> None:
    """And then there are some."""
    page = BootsPage(look)
    qtbot.addWidget(page)
    page.show_rows((), "None yet.")
    assert [one.text() for one in page.findChildren(QLabel)] == ["None yet."]
    page.show_rows(boot_rows(BOOTS), "")
    assert page.findChild(QLabel, "boot-2-phases") is not None
