"""The strip and the banner."""

import msgspec
import pytest
from PySide6.QtWidgets import QAbstractButton, QLabel
from pytestqt.qtbot import QtBot

from studio.domain.control import GatewayInfo
from studio.domain.remedies import Badge
from studio.ui.state import Known, Link
from studio.ui.theme import Look
from studio.ui.viewmodels.frame import banner_view, frame_view
from studio.ui.widgets.strip import Banner, Strip
from tests.ui.fake_service import BASE_URL, DEMO, READY

LONG = msgspec.structs.replace(DEMO, title="A very long name of a preset " * 6)
NAMED = msgspec.structs.replace(DEMO, title="Small chat model on the processor")
SLOW = msgspec.structs.replace(
    READY,
    badges=(
        Badge(
            code="cpu-libraries",
            title="Faster libraries not loaded",
            cost="",
            evidence="",
        ),
    ),
)
READY_WITH_ADDRESS = Known(
    link=Link.LIVE, engine=READY, presets=(LONG,), gateway=GatewayInfo(base_url=BASE_URL)
)


def test_the_address_is_never_cut_even_where_the_name_is(qtbot: QtBot, look: Look) -> None:
    """The first screenful answers what the address is."""
    strip = Strip(look)
    qtbot.addWidget(strip)
    strip.resize(840, 64)
    with qtbot.waitExposed(strip):
        strip.show()
    strip.show_frame(frame_view(READY_WITH_ADDRESS, 0.0, chosen=None, choosing=False))
    address = strip.findChild(QLabel, "address")
    assert address is not None

    needed = address.fontMetrics().horizontalAdvance(BASE_URL)
    qtbot.waitUntil(lambda: address.width() >= needed)


def test_its_buttons_ask_and_do_not_act(qtbot: QtBot, look: Look) -> None:
    """What a click means is decided elsewhere."""
    strip = Strip(look)
    qtbot.addWidget(strip)
    strip.show_frame(frame_view(READY_WITH_ADDRESS, 0.0, chosen=None, choosing=False))

    for name, signal in (
        ("stop", strip.stop_asked),
        ("restart", strip.restart_asked),
        ("switch", strip.switch_asked),
    ):
        button = strip.findChild(QAbstractButton, name)
        assert button is not None
        with qtbot.waitSignal(signal):
            button.click()


def test_the_banner_comes_and_goes(qtbot: QtBot, look: Look) -> None:
    """Nothing is said while all is well."""
    banner = Banner(look)
    qtbot.addWidget(banner)
    banner.show_banner(banner_view(Known(link=Link.ENDED, farewell="It was asked to end.")))
    assert not banner.isHidden()

    banner.show_banner(None)
    assert banner.isHidden()


def test_the_name_of_the_preset_is_whole_where_words_on_buttons_can_go(
    qtbot: QtBot, look: Look
) -> None:
    """At the first size of the window three letters of it were left beside five worded buttons."""
    strip = Strip(look)
    qtbot.addWidget(strip)
    known = msgspec.structs.replace(READY_WITH_ADDRESS, presets=(NAMED,), engine=SLOW)
    strip.resize(1_003, 64)
    with qtbot.waitExposed(strip):
        strip.show()
    strip.show_frame(frame_view(known, 0.0, chosen=None, choosing=False))
    title = strip.findChild(QLabel, "preset-title")
    copy = strip.findChild(QAbstractButton, "copy-address")
    connect = strip.findChild(QAbstractButton, "connect-clients")
    assert title is not None
    assert copy is not None
    assert connect is not None

    needed = title.fontMetrics().horizontalAdvance(NAMED.title)
    qtbot.waitUntil(lambda: title.width() >= needed)
    assert copy.text() == ""
    assert connect.text() == "Connect"

    strip.resize(1_600, 64)
    qtbot.waitUntil(lambda: copy.text() != "")
    assert title.width() >= needed


@pytest.mark.parametrize("name", ["box", "ada@gpu-box-in-the-hall-on-the-second-floor.example.org"])
def test_another_machines_name_is_a_small_sign_whatever_its_length(
    qtbot: QtBot, look: Look, name: str
) -> None:
    """It stood as high as the strip, and a long one took the place of everything else."""
    strip = Strip(look)
    look.dress(strip)
    qtbot.addWidget(strip)
    strip.resize(840, strip.height())
    with qtbot.waitExposed(strip):
        strip.show()
    known = msgspec.structs.replace(READY_WITH_ADDRESS, place=name)
    strip.show_frame(frame_view(known, 0.0, chosen=None, choosing=False))
    strip.grab()  # lays everything out
    place = strip.findChild(QLabel, "place")
    assert place is not None

    assert place.height() < strip.height() / 2
    assert place.width() < 200
    assert name in place.toolTip() + place.text()


def test_a_title_alone_stands_in_the_middle(qtbot: QtBot, look: Look) -> None:
    """“No preset is chosen” hung above the place of words that were not there."""
    strip = Strip(look)
    qtbot.addWidget(strip)
    strip.resize(840, 64)
    strip.show_frame(
        frame_view(Known(link=Link.LIVE, presets=()), 0.0, chosen=None, choosing=False)
    )
    strip.show()
    strip.grab()
    title, state = strip.findChild(QLabel, "preset-title"), strip.findChild(QLabel, "state")
    assert title is not None
    assert state is not None

    lies = [one.mapTo(strip, one.rect().center()).y() for one in (title, state)]

    assert abs(lies[0] - lies[1]) <= 2
