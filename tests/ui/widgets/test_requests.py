"""The table of running requests."""

from pytestqt.qtbot import QtBot

from studio.ui.theme import Look
from studio.ui.viewmodels.live import requests_view
from studio.ui.widgets.requests import Requests
from studio.ui.widgets.text import Elided
from tests.ui.fake_serving import POOL_REPORT


def test_rows_of_requests_that_ended_are_hidden(qtbot: QtBot, look: Look) -> None:
    """A request that is over must not stand there as if it ran."""
    table = Requests(look)
    qtbot.addWidget(table)
    table.show_requests(requests_view(POOL_REPORT, None, 0.0))
    with qtbot.waitExposed(table):
        table.show()
    seen = [cell for cell in table.findChildren(Elided) if cell.isVisible()]
    assert len(seen) == 15

    table.show_requests(requests_view(None, None, 0.0))

    assert not any(cell.isVisible() for cell in seen)
