"""A window that is open for long holds no more than one that was just opened."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from studio.ui.viewmodels.frame import PageId
from tests.bench.bench_long_window import Counts, LongWindow

pytestmark = pytest.mark.soak

ROUND_S = 400
"""Seconds of the service between two looks, ten of them in a real one."""
WARM_UP_S = 4_200
"""An hour and more, after which a chart of an hour lets go of as much as comes."""


@pytest.fixture
def window(tmp_path: Path) -> Iterator[LongWindow]:
    """Return one that has shown each of its pages."""
    made = LongWindow(str(tmp_path))
    for page in PageId:
        made.ask(f"page {page.value}")
    yield made
    made.close()


def _walked(window: LongWindow, page: PageId) -> Counts:
    """Show each page, and this one at the end; return what there is then."""
    for other in PageId:
        window.ask(f"page {other.value}")
    return window.ask(f"page {page.value}")


@pytest.mark.timeout(900)
@pytest.mark.parametrize("page", [PageId.SERVE, PageId.MONITOR, PageId.LOGS])
def test_a_window_in_use_does_not_grow(window: LongWindow, page: PageId) -> None:
    """Objects, files and widgets stay; memory may move by a few megabytes."""
    window.ask(f"page {page.value}")
    window.watched(WARM_UP_S, rate=100)
    before = _walked(window, page)  # pages make rows of what has come since they were first shown

    for _ in range(3):
        window.watched(ROUND_S, rate=20)
        after = _walked(window, page)

    assert after.files <= before.files + 2
    assert after.widgets <= before.widgets + 10  # some wait for their deletion at each look
    assert after.qobjects <= before.qobjects + 20
    grown = after.objects - before.objects
    lines = 3 * ROUND_S * 20  # the log keeps them, up to its hundred thousand
    assert grown < lines + 3_000
    assert after.rss_mb < before.rss_mb + 25


@pytest.mark.timeout(300)
def test_a_hidden_window_costs_next_to_nothing(window: LongWindow) -> None:
    """It sits in the tray all day; nothing is drawn for nobody."""
    window.ask("page monitor")
    shown = window.watched(200, rate=10)
    window.ask("hide")
    window.watched(20, rate=10)

    hidden = window.watched(200, rate=10)

    assert hidden < shown / 3
