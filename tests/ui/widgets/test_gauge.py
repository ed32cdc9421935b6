"""The weir, painted."""

import msgspec
import pytest
from PySide6.QtGui import QColor, QImage
from pytestqt.qtbot import QtBot

from studio.ui.state import Known, Link
from studio.ui.theme import Look, ThemeChoice
from studio.ui.viewmodels.serve import serve_view
from studio.ui.widgets.gauge import Gauge
from tests.ui.fake_service import POOL, READY, tick

LIVE = Known(link=Link.LIVE, engine=READY)


@pytest.fixture
def gauge(qtbot: QtBot, look: Look) -> Gauge:
    """Return a gauge that is shown."""
    made = Gauge(look, "gauge")
    made.resize(620, 280)
    qtbot.addWidget(made)
    with qtbot.waitExposed(made):
        made.show()
    return made


def show(gauge: Gauge, **fields: object) -> QImage:
    """Show five minutes of one level, and return the picture."""
    ticks = [tick(second, **fields) for second in range(301)]
    gauge.show_gauge(serve_view(LIVE, ticks).gauge)
    return gauge.grab().toImage()


def is_water(colour: QColor) -> bool:
    """Tell whether a pixel is blue rather than grey."""
    return colour.blue() - colour.red() > 50


def water_top(image: QImage) -> int:
    """Return the row of the surface in the middle of the basin."""
    x = image.width() // 2
    return next((y for y in range(image.height()) if is_water(image.pixelColor(x, y))), -1)


def test_the_level_stands_where_the_pool_stands(gauge: Gauge) -> None:
    """The picture is the number."""
    tops = [water_top(show(gauge, pool_used_tokens=round(POOL * share))) for share in (0.25, 0.75)]
    basin = 280 - 34 - 24

    assert tops[0] == pytest.approx(34 + basin * 0.75, abs=4)
    assert tops[1] == pytest.approx(34 + basin * 0.25, abs=4)


def test_spill_is_red_in_the_channel_and_nowhere_without_spill(gauge: Gauge) -> None:
    """Red means harm, so it must not be there for decoration."""

    def red(image: QImage) -> int:
        picture = ((x, y) for x in range(560, 618) for y in range(254))
        colours = (image.pixelColor(x, y) for x, y in picture)
        return sum(colour.red() - colour.blue() > 90 for colour in colours)

    assert red(show(gauge, spill_bytes=0)) == 0
    assert red(show(gauge, spill_bytes=8 << 30)) > 200


@pytest.mark.parametrize("theme", [ThemeChoice.DARK, ThemeChoice.LIGHT])
def test_unknown_is_an_empty_basin_with_words(gauge: Gauge, look: Look, theme: ThemeChoice) -> None:
    """No water where nobody knows the level."""
    look.choose(theme)
    gauge.show_gauge(serve_view(Known(link=Link.LIVE), []).gauge)

    assert water_top(gauge.grab().toImage()) == -1
    assert gauge.accessibleDescription() == "– of – in use, spill –"


def test_a_gap_in_the_numbers_is_a_gap_in_the_water(gauge: Gauge) -> None:
    """The service was away for two minutes: nobody knows what was then."""
    ticks = [tick(second, pool_used_tokens=POOL // 2) for second in range(301)]
    blank = [
        msgspec.structs.replace(item, pool_used_tokens=None) if 90 < number < 210 else item
        for number, item in enumerate(ticks)
    ]

    gauge.show_gauge(serve_view(LIVE, blank).gauge)

    assert water_top(gauge.grab().toImage()) == -1


def _tones(image: QImage) -> set[tuple[int, int, int]]:
    """Return the tones of the water in the middle of the basin, its surface line apart."""
    x = image.width() // 2
    colours = (image.pixelColor(x, y) for y in range(image.height()))
    return {(one.red(), one.green(), one.blue()) for one in colours if is_water(one)}


def test_reused_prompts_are_darker_water_from_the_ground_up(gauge: Gauge) -> None:
    """A pool that is full of what is used again is a good sign; the picture tells it apart."""
    level = round(POOL * 0.8)

    plain = _tones(show(gauge, pool_used_tokens=level, prefix_hit_share=None))
    reused = show(gauge, pool_used_tokens=level, prefix_hit_share=0.5)

    assert len(_tones(reused)) > len(plain)
    x, basin = reused.width() // 2, 280 - 34 - 24
    ground = reused.pixelColor(x, 34 + basin - 20)
    top = reused.pixelColor(x, 34 + round(basin * 0.3))
    assert ground.lightness() < top.lightness()


def test_without_word_of_reuse_the_water_has_one_tone(gauge: Gauge) -> None:
    """An engine that does not tell it must not look as if it told of none."""
    image = show(gauge, pool_used_tokens=POOL // 2, prefix_hit_share=None)
    x, basin = image.width() // 2, 280 - 34 - 24

    ground = image.pixelColor(x, 34 + basin - 10)
    top = image.pixelColor(x, 34 + round(basin * 0.6))

    assert ground == top
