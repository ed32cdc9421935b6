"""What is done while the service is away."""

from pytestqt.qtbot import QtBot

from studio.domain.errors import ErrorInfo
from studio.ui.between import Between
from studio.ui.bridge import Bridge
from studio.ui.session import Session
from studio.ui.state import Link
from studio.ui.window import MainWindow
from tests.ui.fake_service import FakeService


def heard(between: Between) -> list[tuple[str, object]]:
    """Return what is said when it is over, as it comes."""
    found: list[tuple[str, object]] = []
    between.over.connect(lambda name, what: found.append((name, what)))
    return found


def test_a_service_that_does_not_end_is_left_as_it_is(
    qtbot: QtBot, window: MainWindow, bridge: Bridge, session: Session, service: FakeService
) -> None:
    """Its reason is said; nothing is done beside a service that goes on."""
    assert window is not None
    error = ErrorInfo(code="down-refused", message="Not now.")
    service.areas.insert(0, lambda _m, route, _b: error if route == "/down" else None)
    between = Between(bridge, session)
    found = heard(between)

    between.begin("a", None)
    between.begin("b", None)

    qtbot.waitUntil(lambda: bool(found))
    [(name, what)] = found
    assert name == "a"
    assert isinstance(what, ErrorInfo)
    assert what.code == "down-refused"
    assert session.known.link is Link.LIVE
    assert between.name is None


def test_without_a_service_it_is_done_at_once(bridge: Bridge, session: Session) -> None:
    """Nobody has to say goodbye."""
    between = Between(bridge, session)
    found = heard(between)

    between.begin("a", None)

    assert found == [("a", None)]
    assert session.known.link is Link.CONNECTING
