"""What the first run asks: once, while it is shown, and again after something was changed."""

from pytestqt.qtbot import QtBot

from studio.domain.errors import ErrorInfo
from studio.ui.bridge import Bridge
from studio.ui.session import Session
from studio.ui.welcome import WelcomeArea
from tests.ui.fake_planning import CHAT, MTP
from tests.ui.fake_service import FakeService
from tests.ui.fake_welcome import FakeWelcome


def test_everything_is_asked_once_and_again_when_asked_to(
    qtbot: QtBot, service: FakeService, session: Session, bridge: Bridge
) -> None:
    """The card's answer is not worth a question at every tick."""
    fake = FakeWelcome(service, "wsl2")
    area = WelcomeArea(bridge)
    session.begin()
    qtbot.waitUntil(lambda: area.was_served is False)
    for _ in range(3):
        area.look((CHAT, MTP))
    qtbot.waitUntil(lambda: area.doctor is not None and len(area.plans) == 2)
    assert fake.asked == ["/doctor"]

    area.look_again()
    area.look((CHAT, MTP))

    qtbot.waitUntil(lambda: area.doctor is not None and len(area.plans) == 2)
    assert fake.asked == ["/doctor", "/doctor"]


def test_a_refusal_is_kept_and_not_asked_for_in_a_circle(
    qtbot: QtBot, service: FakeService, session: Session, bridge: Bridge
) -> None:
    """Every answer shows the page anew, which looks anew."""
    fake = FakeWelcome(service, "wsl2")
    fake.planning.plans[CHAT.id] = ErrorInfo(code="x", message="No.")
    area = WelcomeArea(bridge)
    session.begin()
    qtbot.waitUntil(lambda: area.was_served is False)
    area.look((CHAT,))
    qtbot.waitUntil(lambda: not area.is_looking)
    asked = len(fake.planning.requests)

    area.look((CHAT,))

    assert isinstance(area.plans[CHAT.id], ErrorInfo)
    assert len(fake.planning.requests) == asked
    assert not area.is_looking
