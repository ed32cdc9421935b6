"""The strip and the banner."""

import msgspec
from PySide6.QtWidgets import QAbstractButton, QLabel
from pytestqt.qtbot import QtBot

from studio.domain.control import GatewayInfo
from studio.ui.state import Known, Link
from studio.ui.theme import Look
from studio.ui.viewmodels.frame import banner_view, frame_view
from studio.ui.widgets.strip import Banner, Strip
from tests.ui.fake_service import BASE_URL, DEMO, READY

LONG = msgspec.structs.replace(DEMO, title="A very long name of a preset " * 6)
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
