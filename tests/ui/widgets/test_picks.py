"""The list to pick from."""

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from studio.ui.theme import Look
from studio.ui.viewmodels.picks import PickView
from studio.ui.viewmodels.words import Role, Shape
from studio.ui.widgets.picks import Pick, Picks

BASE = PickView(
    id="a", group="Here", title="One", detail="Installed", shape=Shape.TICK, role=Role.OK
)
VIEWS = (BASE, msgspec.structs.replace(BASE, id="b", group="Elsewhere", title="Two " * 90))


@pytest.fixture
def listed(qtbot: QtBot, look: Look) -> Picks:
    """Return a list of two groups."""
    made = Picks(look, "runtime", "Runtimes")
    qtbot.addWidget(made)
    made.show_picks(VIEWS, "a")
    with qtbot.waitExposed(made):
        made.show()
    return made


def test_an_entry_is_picked_by_mouse_and_by_keyboard(qtbot: QtBot, listed: Picks) -> None:
    """One stop for the tabulator, arrows inside."""
    first, second = listed.findChildren(Pick)
    with qtbot.waitSignal(listed.chosen) as chosen:
        qtbot.mouseClick(second, Qt.MouseButton.LeftButton)
    assert chosen.args == ["b"]
    second.setFocus()
    with qtbot.waitSignal(listed.chosen) as chosen:
        qtbot.keyClick(second, Qt.Key.Key_Up)
        qtbot.keyClick(first, Qt.Key.Key_Space)
    assert chosen.args == ["a"]


def test_groups_have_headings_and_long_names_stay_inside(listed: Picks) -> None:
    """A name of a thousand letters must not widen the list."""
    assert [one.text() for one in listed.findChildren(QLabel)] == ["Here", "Elsewhere"]
    assert all(one.width() <= listed.width() for one in listed.findChildren(Pick))
    assert not listed.grab().isNull()


def test_other_words_change_an_entry_in_place(listed: Picks) -> None:
    """Focus and scroll position stay where they are."""
    before = listed.findChildren(Pick)[0]

    listed.show_picks((msgspec.structs.replace(BASE, detail="Damaged"), VIEWS[1]), "a")

    assert listed.findChildren(Pick)[0] is before
    assert before.accessibleName() == "One, Damaged"


def test_a_title_goes_on_in_a_second_line_where_one_does_not_hold_it(
    qtbot: QtBot, look: Look
) -> None:
    """Two runtimes may differ in their last word only."""
    titles = ("vLLM 0.32.0", "vLLM 0.32.0 with the HyperQwen series", "x" * 99)
    short, long, unbroken = (
        Pick(look, "runtime", msgspec.structs.replace(BASE, title=title)) for title in titles
    )
    for one in (short, long, unbroken):
        qtbot.addWidget(one)

    assert long.sizeHint().height() > short.sizeHint().height() == unbroken.sizeHint().height()
    long.show_view(BASE)
    assert long.sizeHint() == short.sizeHint()
