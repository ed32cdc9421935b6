"""The home page."""

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from studio.domain.errors import ErrorInfo
from studio.domain.server import EngineSnapshot, EngineState
from studio.ui.pages.serve import ServePage
from studio.ui.state import Known, Link, Secret
from studio.ui.theme import Look
from tests.ui.fake_service import BOOT_FAILED, DEMO, HOST, READY, booting, tick

PANELS = ("chooser", "progress", "weir")


@pytest.fixture
def page(qtbot: QtBot, look: Look) -> ServePage:
    """Return the page, shown as narrow as it gets."""
    made = ServePage(look)
    made.resize(840, 500)
    qtbot.addWidget(made)
    with qtbot.waitExposed(made):
        made.show()
    return made


@pytest.mark.parametrize(
    ("engine", "panel"),
    [
        (EngineSnapshot(), "chooser"),
        (booting(3, elapsed_s=20.0), "progress"),
        (READY, "weir"),
        (EngineSnapshot(state=EngineState.FAILED), "chooser"),
    ],
)
def test_one_panel_is_shown_at_a_time(page: ServePage, engine: EngineSnapshot, panel: str) -> None:
    """The page answers the question of the moment."""
    page.show_known(Known(link=Link.LIVE, engine=engine, presets=(DEMO,)), 0.0, DEMO.id, False)

    seen = [name for name in PANELS if page.findChild(QWidget, name).isVisible()]
    assert seen == [panel]


def test_nothing_is_wider_than_the_page(qtbot: QtBot, page: ServePage) -> None:
    """At 900 pixels nothing is cut off on the right: the page scrolls down only."""
    long = ErrorInfo(
        code="odd", message="A sentence that goes on and on. " * 12, evidence=BOOT_FAILED.evidence
    )
    known = Known(
        link=Link.LIVE,
        engine=READY,
        presets=(DEMO,),
        host=HOST,
        problem=long,
        secret=Secret(key="weir-3fQmT0pXb2vVnYkLr8sHdQ9wE1uZ"),
    )
    for choosing in (False, True):
        page.show_known(known, 0.0, DEMO.id, choosing)
        page.show_ticks(known, [tick(second) for second in range(301)])
        qtbot.waitUntil(lambda: page.scroller.widget().width() <= page.scroller.viewport().width())
        assert page.scroller.widget().minimumSizeHint().width() <= page.scroller.viewport().width()


def test_charts_get_the_ticks(page: ServePage) -> None:
    """Gauge and charts draw from one list."""
    known = Known(link=Link.LIVE, engine=READY)

    page.show_ticks(known, [tick(second) for second in range(60)])

    assert [len(chart.view.lines[0].points) for chart in page.charts if chart.view] == [60] * 4
