"""The plan page's questions."""

from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from studio.ui.pages.plan_dialogs import NameDialog, RemoveDialog, UpdateDialog
from studio.ui.theme import Look
from studio.ui.viewmodels.plan_page import change_views
from tests.ui.fake_planning import UPDATED


def test_a_title_alone_is_asked_for_where_the_name_stays(qtbot: QtBot, look: Look) -> None:
    """An empty one cannot be given; the name's field is not there."""
    dialog = NameDialog(look, ("Another title", "", "Rename"), "Mine", None)
    qtbot.addWidget(dialog)
    given: list[tuple[str, str]] = []
    dialog.named.connect(lambda *words: given.append(words))
    dialog.title_field.setText("  ")
    assert not dialog.ok.isEnabled()
    dialog.title_field.setText(" Für uns ")

    dialog.ok.click()

    assert given == [("", "Für uns")]
    assert dialog.id_field.parent() is None


def test_a_deletion_is_agreed_to_by_its_own_button_only(qtbot: QtBot, look: Look) -> None:
    """Enter keeps the preset."""
    dialog = RemoveDialog(look, "Delete?", "It goes.")
    qtbot.addWidget(dialog)
    agreed: list[bool] = []
    dialog.agreed.connect(lambda: agreed.append(True))

    dialog.reject()

    assert agreed == []


def test_nothing_ticked_keeps_everything(qtbot: QtBot, look: Look) -> None:
    """And says so on the button; what both changed to the same has nothing to tick."""
    dialog = UpdateDialog(look, change_views(UPDATED), "27b-dflash2")
    qtbot.addWidget(dialog)
    taken: list[tuple[str, ...]] = []
    dialog.agreed.connect(taken.append)
    assert set(dialog.boxes) == {"attention_backend", "max_num_seqs", "max_model_len"}
    dialog.boxes["attention_backend"].setChecked(False)
    words = [one.text() for one in dialog.findChildren(QLabel)]
    assert "changed by both, to the same" in words

    dialog._ok.click()

    assert taken == [()]
