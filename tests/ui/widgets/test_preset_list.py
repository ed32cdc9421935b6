"""The preset rows."""

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from studio.ui.state import Known, Link
from studio.ui.theme import Look
from studio.ui.viewmodels.presets import PresetRow, chooser_view
from studio.ui.widgets.preset_list import PresetButton, PresetList
from tests.ui.fake_service import DEMO, FAST


def rows(*names: str, chosen: str | None = None) -> tuple[PresetRow, ...]:
    """Return rows of presets called `names`."""
    presets = tuple(msgspec.structs.replace(DEMO, id=name, title=name) for name in names)
    return chooser_view(Known(link=Link.LIVE, presets=presets), chosen).rows


@pytest.fixture
def chooser(qtbot: QtBot, look: Look) -> PresetList:
    """Return a list that is shown."""
    made = PresetList(look)
    made.resize(500, 400)
    qtbot.addWidget(made)
    with qtbot.waitExposed(made):
        made.show()
    return made


def test_a_row_is_chosen_by_mouse_and_by_keyboard(qtbot: QtBot, chooser: PresetList) -> None:
    """Arrows move inside, space chooses."""
    chooser.show_rows(rows("a", "b", chosen="a"), "")
    first, second = chooser.findChildren(PresetButton)
    with qtbot.waitSignal(chooser.chosen) as chosen:
        qtbot.mouseClick(second, Qt.MouseButton.LeftButton)
    assert chosen.args == ["b"]

    second.setFocus()
    with qtbot.waitSignal(chooser.chosen) as chosen:
        qtbot.keyClick(second, Qt.Key.Key_Up)
        qtbot.keyClick(first, Qt.Key.Key_Space)
    assert chosen.args == ["a"]


def test_rows_come_and_go_with_the_presets(qtbot: QtBot, chooser: PresetList) -> None:
    """A preset that was added in an editor appears, one that is gone goes."""
    chooser.show_rows(rows("a", "b"), "")
    gone = chooser.findChildren(PresetButton)[0]
    with qtbot.waitSignal(gone.destroyed):
        chooser.show_rows(rows("b", "c", "d"), "")

    assert [item.preset_id for item in chooser.findChildren(PresetButton)] == ["b", "c", "d"]


def test_none_says_why(chooser: PresetList) -> None:
    """The empty state says the next step."""
    chooser.show_rows((), "There is no preset yet.")

    words = chooser.findChild(QLabel)
    assert words is not None
    assert words.isVisible()
    assert words.text() == "There is no preset yet."


def test_a_long_name_is_drawn_inside_its_row(qtbot: QtBot, chooser: PresetList) -> None:
    """Names are made by people, and some people like names."""
    known = Known(link=Link.LIVE, presets=(msgspec.structs.replace(FAST, title="名前 " * 200),))
    chooser.show_rows(chooser_view(known, FAST.id).rows, "")

    row = chooser.findChildren(PresetButton)[0]
    qtbot.waitUntil(lambda: row.width() <= chooser.width())
    assert not row.grab().isNull()


def test_a_row_has_the_height_of_its_words(look: Look) -> None:
    """A summary, and why a preset does not fit, ended in “…” and could be read nowhere."""
    words = (
        "It needs 29.80 GiB of memory for the history, about 1.5 GiB on each card for every one. "
    )
    known = Known(link=Link.LIVE, presets=(msgspec.structs.replace(DEMO, summary=words * 2),))
    (row,) = chooser_view(known, None).rows
    made = PresetButton(look, row)

    assert made.heightForWidth(240) > made.heightForWidth(480) > made.heightForWidth(2_000)
    assert made.minimumSizeHint().width() < 300
    assert PresetButton(look, rows("a" * 300)[0]).minimumSizeHint().width() < 300
