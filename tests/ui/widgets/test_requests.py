"""The table of running requests."""

from pytestqt.qtbot import QtBot

from studio.ui.theme import Look
from studio.ui.viewmodels.live import RequestsView, requests_view
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


def test_the_name_of_a_key_has_the_room_that_figures_do_not_need(qtbot: QtBot, look: Look) -> None:
    """“Open We…” stood beside the width of two words that held nothing."""
    made = Requests(look)
    qtbot.addWidget(made)
    columns = ("Key", "Model", "Tokens", "State", "Took")
    made.show_requests(
        RequestsView(
            heading="Running requests",
            columns=columns,
            rows=(("Cline on the laptop", "chat", "13,000", "answering", "12.0 s"),),
            empty="",
            more="",
            queue="",
        )
    )
    made.resize(460, 200)
    made.show()
    made.grab()

    shown = [
        one for one in made.findChildren(Elided) if one.text() in {"Cline on the laptop", "chat"}
    ]

    assert len(shown) == 2
    for one in shown:
        assert one.fontMetrics().horizontalAdvance(one.text()) <= one.width(), one.text()
