"""The disk meter."""

import pytest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from studio.ui.theme import Look
from studio.ui.viewmodels.disk import disk_view
from studio.ui.widgets.disk_meter import DiskMeter
from tests.ui.fake_runtimes import DISK


@pytest.fixture
def meter(qtbot: QtBot, look: Look) -> DiskMeter:
    """Return a meter that is shown."""
    made = DiskMeter(look)
    made.resize(700, 120)
    qtbot.addWidget(made)
    with qtbot.waitExposed(made):
        made.show()
    return made


def test_a_small_part_is_still_seen_and_the_bar_is_never_overfull(meter: DiskMeter) -> None:
    """117 MiB of 930 GiB are a tenth of a pixel."""
    meter.show_view(disk_view(DISK, is_asked=False))

    widths = meter.bar.widths(700)

    assert min(widths) >= 4
    assert sum(widths) <= 700.001
    assert not meter.grab().isNull()


def test_before_the_answer_there_are_words_in_place_of_the_bar(meter: DiskMeter) -> None:
    """An empty bar would look like an empty disk."""
    meter.show_view(disk_view(None, is_asked=True))
    assert meter.bar.isHidden()
    empty = meter.findChild(QLabel, "disk-empty")
    assert empty is not None
    assert empty.text() == "Measuring the folders."

    meter.show_view(disk_view(DISK, is_asked=False))
    assert meter.bar.isVisible()
    assert meter.bar.accessibleDescription().startswith("Runtimes 13.00 GiB")


def test_the_answer_moves_nothing_that_stands_below(meter: DiskMeter) -> None:
    """The buttons of a runtime jumped away from under the mouse when the sizes came."""
    meter.show_view(disk_view(None, is_asked=True))
    before = meter.sizeHint().height()

    meter.show_view(disk_view(DISK, is_asked=False))

    assert abs(meter.sizeHint().height() - before) <= 4
