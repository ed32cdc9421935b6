"""Another version takes over from the window: the service ends, comes back, serves again."""

import msgspec
import pytest
from pytestqt.qtbot import QtBot

from studio.domain.control import UpRequest
from studio.domain.errors import ErrorInfo, HostLacks
from studio.domain.self_update import Came, UpdateState, UpdateStatus
from studio.domain.server import EngineSnapshot
from studio.ui.bridge import Bridge, Farewell
from studio.ui.controllers.settings import SettingsController
from studio.ui.session import Session
from studio.ui.state import Link
from studio.ui.viewmodels.frame import PageId
from studio.ui.viewmodels.settings import Section
from studio.ui.window import MainWindow
from tests.ui.fake_service import DEMO, FakeService
from tests.ui.fake_settings import FakeSettings
from tests.ui.opened import opened
from tests.ui.test_window import button, click, shown, text

PATIENCE_MS = 60_000


class Versions:
    """The service's versions: chosen by a call, exchanged by its end, proven when it is back."""

    def __init__(self, service: FakeService) -> None:
        self.service = service
        self.refusal: ErrorInfo | None = None
        self.is_stuck = False
        """Whether the one before goes on, and could not even write down why."""
        self.ends = 0
        self.status = UpdateStatus(
            version="1.0.0", came=Came.RUN, feed="https://releases.example/f", previous="0.9.4",
            last_version="1.0.0",
        )  # fmt: skip
        service.areas.insert(0, self.answer)

    def answer(self, method: str, route: str, _body: bytes) -> object:
        """Return what is asked of versions; None: it is something else."""
        if route == "/update":
            if self.ends and not self.is_stuck and self.status.state is UpdateState.WAITING:
                self.status = msgspec.structs.replace(
                    self.status, state=UpdateState.NOT_CHECKED, version="0.9.4", waiting=None,
                    last_version="0.9.4", previous=None,
                )  # fmt: skip
            return self.status
        if route == "/update/rollback":
            if self.refusal is not None:
                return self.refusal
            self.status = msgspec.structs.replace(
                self.status, state=UpdateState.WAITING, waiting="0.9.4"
            )
            return self.status
        if (method, route) == ("POST", "/down"):
            self.ends += 1
            return {"down": True}
        return None


@pytest.fixture
def versions(service: FakeService, monkeypatch: pytest.MonkeyPatch) -> Versions:
    """Return a service that serves, and was updated before; it is looked at often."""
    monkeypatch.setattr("studio.ui.exchange._LOOK_MS", 20)
    service.be_ready()
    service.on_up = service.come_up
    FakeSettings(service)
    return Versions(service)


@pytest.fixture
def page(qtbot: QtBot, versions: Versions, window: MainWindow) -> SettingsController:
    """Return the part about updates."""
    made = opened(window, PageId.SETTINGS, SettingsController)
    made.choose(Section.UPDATES)
    qtbot.waitUntil(lambda: shown(window, "do-program.rollback"))
    return made


def test_going_back_asks_once_and_does_all_of_it(
    qtbot: QtBot, versions: Versions, page: SettingsController, window: MainWindow,
    session: Session, service: FakeService,
) -> None:  # fmt: skip
    """As `weir update rollback`: nobody has to know that the service must be started anew."""
    click(qtbot, window, "do-program.rollback")
    qtbot.waitUntil(lambda: shown(window, "problem-program.rollback"))
    words = text(window, "problem-program.rollback")
    assert "0.9.4" in words
    assert DEMO.id in words
    assert versions.ends == 0

    click(qtbot, window, "yes-program.rollback")
    qtbot.waitUntil(lambda: versions.ends == 1)
    service.engine = EngineSnapshot()
    service.say_goodbye()

    qtbot.waitUntil(lambda: any(route == "/up" for route, _ in service.asked), timeout=PATIENCE_MS)
    assert versions.ends == 1
    request = next(one for route, one in service.asked if route == "/up")
    assert isinstance(request, UpRequest)
    assert request.preset == DEMO.id
    qtbot.waitUntil(lambda: session.known.link is Link.LIVE)
    qtbot.waitUntil(lambda: text(window, "value-program.version").startswith("0.9.4"))
    assert not page.takeover.exchange.is_under_way


def test_a_no_changes_nothing(
    qtbot: QtBot, versions: Versions, page: SettingsController, window: MainWindow
) -> None:
    """“Leave it” closes the question."""
    click(qtbot, window, "do-program.rollback")
    qtbot.waitUntil(lambda: shown(window, "no-program.rollback"))

    click(qtbot, window, "no-program.rollback")

    qtbot.waitUntil(lambda: not shown(window, "problem-program.rollback"))
    assert versions.status.state is UpdateState.NOT_CHECKED
    assert button(window, "do-program.rollback").isEnabled()


def test_a_refusal_stands_below_the_button_and_the_service_goes_on(
    qtbot: QtBot, versions: Versions, page: SettingsController, window: MainWindow
) -> None:
    """Nothing is ended for a version that cannot be had."""
    versions.refusal = ErrorInfo(code="update-no-previous", message="There is no version before.")
    click(qtbot, window, "do-program.rollback")
    qtbot.waitUntil(lambda: shown(window, "yes-program.rollback"))

    click(qtbot, window, "yes-program.rollback")

    qtbot.waitUntil(
        lambda: text(window, "problem-program.rollback") == "There is no version before."
    )
    assert versions.ends == 0
    assert not page.takeover.exchange.is_under_way


def gone_back(qtbot: QtBot, versions: Versions, window: MainWindow, service: FakeService) -> None:
    """Ask for the version before, and wait until the service was told to end."""
    qtbot.waitUntil(lambda: service.listeners == 1)  # else nobody would hear its goodbye
    click(qtbot, window, "do-program.rollback")
    qtbot.waitUntil(lambda: shown(window, "yes-program.rollback"))
    click(qtbot, window, "yes-program.rollback")
    qtbot.waitUntil(lambda: versions.ends == 1)


def test_a_second_yes_says_what_is_under_way(
    qtbot: QtBot, versions: Versions, page: SettingsController, window: MainWindow,
    service: FakeService,
) -> None:  # fmt: skip
    """It did nothing, without a word; the words go when the first one is over."""
    versions.status = msgspec.structs.replace(
        versions.status, state=UpdateState.STAGED, offered="1.1.0"
    )
    page.choose(Section.UPDATES)
    qtbot.waitUntil(lambda: shown(window, "do-program.apply"))
    click(qtbot, window, "do-program.apply")
    qtbot.waitUntil(lambda: shown(window, "yes-program.apply"))
    gone_back(qtbot, versions, window, service)

    click(qtbot, window, "yes-program.apply")

    assert text(window, "problem-program.apply").startswith("Another version is taking over.")
    assert not shown(window, "yes-program.apply")
    service.say_goodbye()
    qtbot.waitUntil(lambda: page.takeover.exchange.name is None, timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: "program.apply" not in page.area.machine.problems)
    assert versions.ends == 1


def test_a_version_that_neither_came_nor_failed_is_not_waited_for(
    qtbot: QtBot, versions: Versions, page: SettingsController, window: MainWindow,
    service: FakeService,
) -> None:  # fmt: skip
    """On a full disk nothing is noted; what was served is served again by the one that is there."""
    versions.is_stuck = True
    gone_back(qtbot, versions, window, service)
    service.engine = EngineSnapshot()
    service.started_at += 60.0
    service.say_goodbye()

    qtbot.waitUntil(lambda: any(route == "/up" for route, _ in service.asked), timeout=PATIENCE_MS)
    assert not page.takeover.exchange.is_under_way
    qtbot.waitUntil(lambda: "program.rollback" not in page.area.machine.pending)


def test_a_service_that_takes_long_to_end_is_not_taken_for_the_next(
    qtbot: QtBot, versions: Versions, page: SettingsController, window: MainWindow,
    session: Session, service: FakeService,
) -> None:  # fmt: skip
    """Its last answers take a minute, and until then it answers the window, too."""
    versions.is_stuck = True
    gone_back(qtbot, versions, window, service)
    asked: list[str] = []
    service.areas.insert(0, lambda _method, route, _body: asked.append(route))
    service.say_goodbye()

    qtbot.waitUntil(lambda: asked.count("/update") > 5, timeout=PATIENCE_MS)
    assert page.takeover.exchange.is_under_way
    assert session.known.link is Link.LIVE


def test_a_service_that_does_not_start_is_asked_for_once_and_says_why(
    qtbot: QtBot, versions: Versions, page: SettingsController, window: MainWindow,
    bridge: Bridge, session: Session, service: FakeService, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """The bridge tries again after a pause; to ask at each refusal was a loop without one."""
    starts: list[str] = []
    seen: list[Farewell] = []
    start = session.start_service

    def started() -> None:
        starts.append("asked")
        start()

    def refuse() -> None:
        raise HostLacks("disk-full", "The disk is full.")

    gone_back(qtbot, versions, window, service)
    monkeypatch.setattr("studio.ui.bridge._PAUSES_S", (0.01,))
    monkeypatch.setattr(session, "start_service", started)
    monkeypatch.setattr(service, "open", refuse)
    bridge.closed.connect(seen.append)
    service.say_goodbye()

    qtbot.waitUntil(lambda: len(seen) > 3, timeout=PATIENCE_MS)
    assert starts == ["asked"]
    assert session.known.link is Link.LOST
    assert session.known.farewell == "The disk is full."
    assert page.takeover.exchange.is_under_way
