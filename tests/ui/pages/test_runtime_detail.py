"""What stands beside one runtime."""

import msgspec
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QLineEdit, QPushButton
from pytestqt.qtbot import QtBot

from studio.ui.pages.runtime_detail import NotesCard, OpenCard, RuntimeCard
from studio.ui.theme import Look
from studio.ui.viewmodels.runtimes import RuntimesKnown, runtime_view
from studio.ui.viewmodels.runtimes_beside import open_views
from tests.ui.fake_runtimes import CPU, OLDER, QWEN, detail_of

QWEN_KNOWN = RuntimesKnown(is_live=True, chosen=QWEN.name, detail=detail_of(QWEN))


def test_a_hash_is_typed_and_supplied_and_a_refresh_leaves_what_was_typed(
    qtbot: QtBot, look: Look
) -> None:
    """Sixty-four digits are not typed twice."""
    card = OpenCard(look)
    qtbot.addWidget(card)
    views = open_views(QWEN_KNOWN)
    card.show_views(views, can_forget=False, can_act=True)
    field = card.findChild(QLineEdit, "open-0-field")
    assert field is not None
    field.setText("ab" * 32)

    card.show_views(views, can_forget=False, can_act=True)
    button = card.findChild(QPushButton, "open-0")
    assert button is not None
    with qtbot.waitSignal(card.supplied) as supplied:
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)

    assert supplied.args == [views[0], "ab" * 32]
    card.show_views((), can_forget=True, can_act=False)
    assert card.heading.text() == "What you supplied"


def test_buttons_change_with_the_runtime_and_old_ones_are_gone(qtbot: QtBot, look: Look) -> None:
    """A button of the runtime before would act on this one."""
    card = RuntimeCard(look)
    qtbot.addWidget(card)
    for info, names in ((CPU, "repair"), (OLDER, "install")):
        view = runtime_view(RuntimesKnown(is_live=True, chosen=info.name, detail=detail_of(info)))
        assert view is not None
        card.show_view(view)
        card.show()
        shown = [one.objectName() for one in card.findChildren(QPushButton) if one.isVisible()]
        assert shown[0] == f"runtime-{names}"


def test_notes_of_failure_are_folded_till_somebody_asks(qtbot: QtBot, look: Look) -> None:
    """Who has no trouble reads no troubles."""
    card = NotesCard(look)
    qtbot.addWidget(card)
    view = runtime_view(RuntimesKnown(chosen=CPU.name, detail=detail_of(CPU)))
    assert view is not None
    card.show_view(view)
    fold = card.findChild(QPushButton, "runtime-notes-fold")
    assert fold is not None
    assert fold.text() == "2 ways in which it is known to fail"
    texts = [one for one in card.findChildren(QLabel) if "nvcc" in one.text()]
    assert all(one.isHidden() for one in texts)

    fold.setChecked(True)

    assert all(one.isVisibleTo(card) for one in texts)
    card.show_view(msgspec.structs.replace(view, notes=()))
    assert card.isHidden()
