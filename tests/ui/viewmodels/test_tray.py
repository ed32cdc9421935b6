"""The sign in the tray: what it shows and what can be done from it."""

import msgspec
import pytest

from studio.domain.control import GatewayInfo
from studio.domain.server import EngineSnapshot, EngineState
from studio.ui.state import Known, Link
from studio.ui.viewmodels.frame import frame_view
from studio.ui.viewmodels.tray import TrayView, tray_view
from studio.ui.viewmodels.words import Role, Shape
from tests.ui.fake_service import BASE_URL, DEMO, READY, booting, tick

LIVE = Known(link=Link.LIVE, presets=(DEMO,))
SERVING = msgspec.structs.replace(
    LIVE, engine=READY, gateway=GatewayInfo(base_url=BASE_URL), tick=tick(5)
)


def view(known: Known) -> TrayView:
    """Return the tray for what is known."""
    return tray_view(known, frame_view(known, 0.0, chosen=DEMO.id, choosing=False))


def test_while_it_serves_the_sign_shows_the_water_and_the_menu_stops_it() -> None:
    """State at a glance, in words as well."""
    shown = view(SERVING)

    assert shown.sign.level is not None
    assert 0 < shown.sign.level < 1
    assert (shown.sign.shape, shown.sign.role) == (Shape.DOT, Role.OK)
    assert shown.tooltip.splitlines()[1] == "Try it, on any machine · Ready, booted in 49.8 s"
    assert shown.tooltip.splitlines()[2].startswith("Pool: about ")
    assert shown.stop.visible
    assert shown.stop.enabled
    assert not shown.start.visible
    assert shown.copy.enabled
    assert shown.address == BASE_URL


def test_at_rest_it_starts_what_is_marked_and_has_nothing_to_copy() -> None:
    """The first press of a day may come from the tray."""
    shown = view(LIVE)

    assert shown.start.visible
    assert shown.start.enabled
    assert not shown.stop.visible
    assert not shown.copy.enabled
    assert shown.sign.level is None


def test_a_service_that_is_away_leaves_nothing_to_press() -> None:
    """The last figures are not those of now."""
    shown = view(msgspec.structs.replace(SERVING, link=Link.LOST))

    assert shown.sign.level is None
    assert not shown.stop.enabled
    assert not shown.start.enabled
    assert not shown.copy.enabled


@pytest.mark.parametrize(
    ("engine", "shape"),
    [
        (booting(3, elapsed_s=20.0), Shape.HALF),
        (EngineSnapshot(state=EngineState.FAILED, preset=DEMO.id), Shape.CROSS),
        (EngineSnapshot(), Shape.RING),
    ],
)
def test_each_state_has_a_shape_of_its_own(engine: EngineSnapshot, shape: Shape) -> None:
    """Colour is never the only sign."""
    assert view(msgspec.structs.replace(LIVE, engine=engine)).sign.shape is shape


def test_small_moves_of_the_pool_do_not_move_the_sign() -> None:
    """An icon that is sent to the desktop each second costs both of us."""
    before = view(SERVING)
    near = msgspec.structs.replace(tick(5), pool_used_share=tick(5).pool_used_share or 0)
    moved = msgspec.structs.replace(near, pool_used_share=(near.pool_used_share or 0) + 0.004)

    assert view(msgspec.structs.replace(SERVING, tick=moved)).sign == before.sign


def test_spill_is_a_sign_and_a_line() -> None:
    """The one thing that should be seen from across the room."""
    shown = view(msgspec.structs.replace(SERVING, tick=tick(5, spill_bytes=3 << 30)))

    assert shown.sign.spills
    assert shown.tooltip.splitlines()[-1] == "Spills 3.00 GiB"


def test_another_machine_is_named_first() -> None:
    """Two signs in one tray have to be told apart."""
    shown = view(msgspec.structs.replace(SERVING, place="gpu-box"))

    assert shown.tooltip.splitlines()[0] == "Weir Studio · gpu-box"
