"""The holder of what is known."""

import msgspec
import pytest
from pytestqt.qtbot import QtBot

from studio.domain.control import UpRequest
from studio.domain.events import EngineChanged, LogAppended, Ticked
from studio.ui.session import Session
from studio.ui.state import Action, Link
from tests.ui.fake_service import DEMO, HOST, KEY, READY, FakeService, line, tick


def live(qtbot: QtBot, session: Session) -> None:
    """Begin, and wait for the service."""
    session.begin()
    qtbot.waitUntil(lambda: session.known.link is Link.LIVE)


def test_history_is_kept_once_and_for_five_minutes(
    qtbot: QtBot, service: FakeService, session: Session
) -> None:
    """The stream begins with a tick that the history has too."""
    service.be_ready(seconds=301)
    live(qtbot, session)
    qtbot.waitUntil(lambda: service.listeners == 1)

    service.publish(*(Ticked(tick=tick(second)) for second in range(301, 311)))

    qtbot.waitUntil(lambda: session.ticks[-1].at == tick(310).at)
    instants = [item.at for item in session.ticks]
    assert instants == sorted(set(instants))
    assert len(instants) == 301


def test_pending_is_known_at_once_and_gone_with_the_answer(
    qtbot: QtBot, service: FakeService, session: Session
) -> None:
    """Between click and first event the button must not invite a second click."""
    live(qtbot, session)
    service.on_up = service.come_up

    session.start(DEMO.id)

    assert Action.UP in session.known.pending
    qtbot.waitUntil(lambda: not session.known.pending)
    qtbot.waitUntil(lambda: session.known.engine == READY)  # an event, with or after the answer


def test_a_running_engine_is_switched_and_a_stopped_one_started(
    qtbot: QtBot, service: FakeService, session: Session
) -> None:
    """`up` on a running engine would be refused."""
    service.on_up = service.come_up
    live(qtbot, session)
    session.start(DEMO.id)
    qtbot.waitUntil(lambda: session.known.engine == READY and not session.known.pending)

    session.start("other")

    qtbot.waitUntil(lambda: not session.known.pending)
    assert service.asked == [
        ("/up", UpRequest(preset=DEMO.id)),
        ("/switch", UpRequest(preset="other")),
    ]


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask for what is missing at once, instead of once a second."""
    monkeypatch.setattr("studio.ui.session._HOST_MS", 20)


@pytest.mark.usefixtures("eager")
def test_a_machine_that_is_looked_at_later_is_asked_for_again(
    qtbot: QtBot, service: FakeService, session: Session
) -> None:
    """A service that was started by this window answers before it has seen the host."""
    service.host = None
    live(qtbot, session)
    assert session.known.host is None

    service.host = HOST

    qtbot.waitUntil(lambda: session.known.host == HOST)


def test_retry_repeats_a_restart_as_a_restart(
    qtbot: QtBot, service: FakeService, session: Session
) -> None:
    """The second try is the same thing, or it is no second try."""
    service.be_ready()
    live(qtbot, session)
    session.restart()
    qtbot.waitUntil(lambda: session.known.problem is not None)

    session.retry()

    qtbot.waitUntil(lambda: len(service.asked) == 2)
    assert [route for route, _ in service.asked] == ["/restart", "/restart"]


def test_usage_follows_when_keys_change(
    qtbot: QtBot, service: FakeService, session: Session
) -> None:
    """A key made in a terminal belongs on the page as well."""
    service.keys = [KEY]
    live(qtbot, session)

    session.create_key("Zed")

    qtbot.waitUntil(lambda: len(session.known.keys or ()) == 2 and not session.known.pending)
    assert session.known.secret is not None
    session.forget_secret()
    assert session.known.secret is None


def test_lines_seen_twice_are_shown_once(
    qtbot: QtBot, service: FakeService, session: Session
) -> None:
    """Answer and stream overlap."""
    service.log = [line(seq, "old") for seq in range(5)]
    added: list[list[object]] = []
    session.log_added.connect(lambda lines, _dropped: added.append(lines))
    live(qtbot, session)
    qtbot.waitUntil(lambda: service.listeners == 1)

    service.publish(LogAppended(lines=(line(4, "old"), line(5, "new"))))

    qtbot.waitUntil(lambda: bool(added))
    assert added == [[line(5, "new")]]


def test_ticks_alone_do_not_repaint_everything(
    qtbot: QtBot, service: FakeService, session: Session
) -> None:
    """Once a second the charts are told, not the whole window."""
    service.be_ready(seconds=1)
    live(qtbot, session)
    qtbot.waitUntil(lambda: service.listeners == 1)
    with qtbot.waitSignal(session.ticked):
        service.publish(Ticked(tick=tick(1)))
    told: list[object] = []
    session.changed.connect(told.append)

    with qtbot.waitSignal(session.ticked):
        service.publish(Ticked(tick=tick(2)))
    assert told == []

    moved = msgspec.structs.replace(READY, restarts=1)
    service.publish(EngineChanged(engine=moved))
    qtbot.waitUntil(lambda: bool(told))
