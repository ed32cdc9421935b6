"""The table: order, marks, keys."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from studio.ui.theme import Look
from studio.ui.widgets.table import Cell, Column, Kind, Row, Table, TableModel

COLUMNS = (Column("name", "Name", stretches=True), Column("size", "Size", Kind.SIZE))


def row(name: str, size: float | None) -> Row:
    """Return a row of a name and a size."""
    text = "–" if size is None else f"{size:.1f} GiB"
    return Row(name, (Cell(name), Cell(text, size)))


ROWS = (row("beta", 10.0), row("Alpha", None), row("gamma", 9.0))


@pytest.fixture
def table(qtbot: QtBot, look: Look) -> Table:
    """Return a table of three rows."""
    made = Table(look, "models", "Models", COLUMNS)
    qtbot.addWidget(made)
    made.show_rows(ROWS)
    made.show()
    return made


def names(table: Table) -> list[str]:
    """Return the first column as it is shown."""
    model = table.model()
    return [model.index(number, 0).data() for number in range(model.rowCount())]


def test_the_model_keeps_qts_rules(qtmodeltester: ModelTester) -> None:
    """A view trusts its model blindly."""
    model = TableModel(COLUMNS)
    qtmodeltester.check(model)

    model.show_rows(ROWS)
    model.show_rows((row("beta", 1.0), *ROWS[1:]))
    model.show_rows(ROWS[:1])

    assert model.rowCount() == 1


def test_figures_sort_as_figures_and_the_unknown_is_last_in_both_orders(table: Table) -> None:
    """`10.0 GiB` is more than `9.0 GiB`; what nobody knows is neither least nor most."""
    assert names(table) == ["beta", "Alpha", "gamma"]

    table.sortByColumn(1, Qt.SortOrder.AscendingOrder)
    assert names(table) == ["gamma", "beta", "Alpha"]

    table.sortByColumn(1, Qt.SortOrder.DescendingOrder)
    assert names(table) == ["beta", "gamma", "Alpha"]

    table.sortByColumn(0, Qt.SortOrder.AscendingOrder)
    assert names(table) == ["Alpha", "beta", "gamma"]


def test_the_mark_follows_its_row(table: Table) -> None:
    """A refresh every few seconds must not throw a person back to the top."""
    table.mark("gamma")
    table.show_rows((row("new", 1.0), *ROWS))
    assert table.chosen == "gamma"

    table.show_rows(ROWS[:2])
    assert table.chosen != "gamma"


def test_enter_opens_and_the_copy_keys_copy(qtbot: QtBot, table: Table) -> None:
    """All of it works without a mouse."""
    table.mark("beta")
    with qtbot.waitSignal(table.opened) as opened:
        qtbot.keyClick(table, Qt.Key.Key_Return)
    qtbot.keyClick(table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)

    assert opened.args == ["beta"]
    assert QGuiApplication.clipboard().text() == "beta\t10.0 GiB"


def test_figures_stand_at_the_right(table: Table) -> None:
    """Digits of one weight stand under one another."""
    role = Qt.ItemDataRole.TextAlignmentRole
    model = table.rows_model

    assert model.index(0, 0).data(role) & Qt.AlignmentFlag.AlignLeft
    assert model.index(0, 1).data(role) & Qt.AlignmentFlag.AlignRight


def test_the_height_of_its_rows_shows_them_all(table: Table) -> None:
    """Without a bar for scrolling where there is nothing to scroll."""
    table.show_rows([row(name, 1.0) for name in "abcde"])

    table.resize(600, table.height_of(3))

    assert table.verticalScrollBar().maximum() == 0
    assert table.viewport().height() == 5 * table.verticalHeader().defaultSectionSize()


def test_a_column_that_cuts_its_words_gets_the_room_nobody_needs(qtbot: QtBot, look: Look) -> None:
    """“engine: cpu-de…” stood beside a hand of empty space; what a person made narrow stays so."""
    table = Table(look, "models", "Models", COLUMNS)
    qtbot.addWidget(table)
    header = table.horizontalHeader()
    header.resizeSection(1, 100)
    long = "used by an engine with a long name"
    table.show_rows([Row("a", (Cell("short"), Cell(long)))])
    table.resize(700, 200)
    table.show()
    assert header.sectionSize(1) >= table.fontMetrics().horizontalAdvance(long)
    assert header.length() == table.viewport().width()

    table.resize(140, 200)
    assert header.sectionSize(1) == 100

    table.resize(700, 200)
    table.show_rows(ROWS)
    assert header.sectionSize(1) == 100

    header.resizeSection(1, 40)
    table.show_rows([Row("a", (Cell("short"), Cell(long)))])
    assert header.sectionSize(1) == 40


def test_a_rule_parts_rows_and_none_doubles_the_frame(qtbot: QtBot, table: Table) -> None:
    """Below the last row stands the frame, where the table ends there; else a rule closes it."""
    table.setFixedHeight(table.height_of(0))
    with qtbot.waitExposed(table):
        pass
    assert ruled(table) == [True, True, False]

    table.setFixedHeight(table.height_of(0) + 40)

    assert ruled(table) == [True, True, True]


def test_a_table_is_no_higher_than_its_rows_or_a_bound(table: Table) -> None:
    """What has more rows scrolls."""
    row_height = table.rowHeight(0)

    assert table.height_of(5) - table.height_of(0) == 2 * row_height
    assert table.height_of(0) - table.height_of(0, 2) == row_height


def ruled(table: Table) -> list[bool]:
    """Tell of each row whether its last line of pixels is another than the one above."""
    picture = table.viewport().grab().toImage()
    ends = [table.rowViewportPosition(row) + table.rowHeight(row) - 1 for row in range(3)]
    return [picture.pixel(3, end) != picture.pixel(3, end - 2) for end in ends]


def test_what_is_empty_in_a_column_is_given_up_before_anything_is_scrolled_to(
    qtbot: QtBot, look: Look
) -> None:
    """In the smallest window tok/s and duration of requests lay beyond the edge."""
    columns = (COLUMNS[0], *(Column(name, name, Kind.NUMBER) for name in "abcdef"))
    table = Table(look, "requests", "Requests", columns)
    qtbot.addWidget(table)
    header = table.horizontalHeader()
    for place in range(1, len(columns)):
        header.resizeSection(place, 120)
    table.show_rows([Row("a", tuple(Cell(text) for text in ("model", *("–" * 6))))])
    table.resize(640, 200)
    table.show()

    assert table.horizontalScrollBar().maximum() == 0

    table.resize(1_200, 200)
    assert header.sectionSize(1) == 120
