"""The list of requests."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QLabel
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from studio.ui.pages.requests import RequestsPage
from studio.ui.theme import Look
from studio.ui.viewmodels.requests import detail_of, key_choices, request_lines
from tests.ui.fake_monitor import afternoon, request
from tests.ui.fake_serving import POOL_REPORT

ENTRIES = afternoon(40)


@pytest.fixture
def page(qtbot: QtBot, look: Look) -> RequestsPage:
    """Return the list of an afternoon."""
    made = RequestsPage(look)
    qtbot.addWidget(made)
    made.resize(840, 500)
    with qtbot.waitExposed(made):
        made.show()
    made.show_choices(key_choices(ENTRIES, POOL_REPORT))
    made.show_lines(request_lines(ENTRIES, POOL_REPORT, key="", only_failed=False), "42 requests")
    return made


def test_numbers_are_sorted_as_numbers_and_unknown_is_last(
    page: RequestsPage, qtmodeltester: ModelTester
) -> None:
    """In both directions: the largest prompt is what one looks for."""
    model = page.table.model()
    qtmodeltester.check(model)

    page.table.sortByColumn(4, Qt.SortOrder.DescendingOrder)
    assert model.index(0, 4).data() == "18,000"
    page.table.sortByColumn(6, Qt.SortOrder.AscendingOrder)
    assert model.index(model.rowCount() - 1, 6).data() == "–"
    page.table.sortByColumn(6, Qt.SortOrder.DescendingOrder)
    assert model.index(model.rowCount() - 1, 6).data() == "–"


def test_key_and_failures_are_asked_for(page: RequestsPage) -> None:
    """And a key that is gone falls back to all."""
    asked: list[tuple[str, bool]] = []
    page.narrowed.connect(lambda key, failed: asked.append((key, failed)))

    page.key.setCurrentText("Open WebUI")
    page.only_failed.setChecked(True)
    page.show_choices(key_choices(ENTRIES[:0], None))

    assert asked == [("Open WebUI", False), ("Open WebUI", True), ("", True)]


def test_a_thousand_requests_keep_the_eye_in_its_place(page: RequestsPage) -> None:
    """The list is read again every three seconds."""
    many = [request(number) for number in reversed(range(1_000))]
    page.show_lines(request_lines(many, None, key="", only_failed=False), "")
    page.table.mark("req-00500")

    more = [*many[1:], request(2_000)]
    page.show_lines(request_lines(more, None, key="", only_failed=False), "")

    assert page.table.model().rowCount() == 1_000
    assert page.table.chosen == "req-00500"


def test_details_stand_beside_the_list_and_go_again(page: RequestsPage) -> None:
    """Selectable, so that an id can be copied into a report."""
    card = page.findChild(QFrame, "request-detail")
    assert isinstance(card, QFrame)
    assert card.isHidden()

    page.show_detail(detail_of("req-00004", ENTRIES, None))
    texts = [part.text() for part in card.findChildren(QLabel)]
    assert "The prompt of 9,120 tokens is longer than 8,192." in texts
    page.show_detail(detail_of("req-00000", ENTRIES, None))
    page.show_detail(None)

    assert card.isHidden()
