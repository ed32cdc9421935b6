"""The two threads: calls go one way, signals come the other."""

import logging
import threading

import pytest
from pytestqt.qtbot import QtBot

from studio.control.client import ControlClient
from studio.domain.control import KeyRequest, Status, UpRequest, UpResult
from studio.domain.errors import ServiceUnreachable
from studio.domain.events import EngineChanged, LogAppended, Ticked
from studio.ui.bridge import Answer, Bridge, Farewell
from studio.ui.state import Action, Opening
from tests.ui.fake_service import DEMO, PORT_TAKEN, READY, FakeService, line, tick


def test_opening_brings_everything_the_pages_need(
    qtbot: QtBot, service: FakeService, bridge: Bridge
) -> None:
    """A page that waits for a second question is empty for a second time."""
    service.be_ready(seconds=10)

    with qtbot.waitSignal(bridge.opened) as found:
        bridge.start()

    opening = found.args[0]
    assert isinstance(opening, Opening)
    assert opening.status.engine == READY
    assert len(opening.history) == 10
    assert opening.presets[0] == DEMO


def test_signals_arrive_on_the_thread_of_qt(
    qtbot: QtBot, service: FakeService, bridge: Bridge
) -> None:
    """A widget touched from another thread crashes now and then, and never in a test."""
    threads: list[threading.Thread] = []
    bridge.opened.connect(lambda _: threads.append(threading.current_thread()))

    with qtbot.waitSignal(bridge.opened):
        bridge.start()

    qtbot.waitUntil(lambda: bool(threads))
    assert threads == [threading.main_thread()]


def test_a_flood_of_events_arrives_in_few_batches(
    qtbot: QtBot, service: FakeService, bridge: Bridge
) -> None:
    """Each signal costs a trip around the event loop; four a second leave room for all else."""
    batches: list[tuple[object, ...]] = []
    bridge.arrived.connect(batches.append)
    with qtbot.waitSignal(bridge.opened):
        bridge.start()
    qtbot.waitUntil(lambda: service.listeners == 1)

    service.publish(*(Ticked(tick=tick(second)) for second in range(400)))

    qtbot.waitUntil(lambda: sum(map(len, batches)) >= 402)
    assert len(batches) < 20


def test_log_batches_that_wait_become_one(
    qtbot: QtBot, service: FakeService, bridge: Bridge
) -> None:
    """A burst is laid out once, not forty times."""
    got: list[object] = []
    bridge.arrived.connect(got.extend)
    with qtbot.waitSignal(bridge.opened):
        bridge.start()
    qtbot.waitUntil(lambda: service.listeners == 1)

    for start in range(0, 4_000, 100):
        lines = tuple(line(seq, "x") for seq in range(start, start + 100))
        service.publish(LogAppended(lines=lines))

    def logs() -> list[LogAppended]:
        return [event for event in got if isinstance(event, LogAppended)]

    qtbot.waitUntil(lambda: sum(len(event.lines) for event in logs()) == 4_000)
    assert len(logs()) < 20


def test_answers_and_errors_come_back_with_their_action(
    qtbot: QtBot, service: FakeService, bridge: Bridge
) -> None:
    """The window asks several things at once and must tell the answers apart."""
    with qtbot.waitSignal(bridge.opened):
        bridge.start()
    service.on_up = service.come_up
    answers: dict[Action, Answer] = {}
    bridge.answered.connect(lambda answer: answers.update({answer.action: answer}))

    bridge.up(UpRequest(preset=DEMO.id))
    bridge.stop()
    bridge.create_key(KeyRequest(name="Zed"))
    bridge.revoke_key("nobody")

    qtbot.waitUntil(lambda: len(answers) == 4)
    assert isinstance(answers[Action.UP].value, UpResult)
    assert isinstance(answers[Action.STOP].value, Status)
    error = answers[Action.REVOKE_KEY].error
    assert error is not None
    assert error.code == "key-unknown"
    assert error.exit_status == 3


def test_an_error_keeps_the_data_its_remedy_needs(
    qtbot: QtBot, service: FakeService, bridge: Bridge
) -> None:
    """Without the free port the card has nothing to offer."""
    with qtbot.waitSignal(bridge.opened):
        bridge.start()
    service.on_up = lambda _request: PORT_TAKEN

    with qtbot.waitSignal(bridge.answered) as answered:
        bridge.up(UpRequest())

    assert answered.args[0].error == PORT_TAKEN


def test_a_question_before_the_service_answers_is_an_error_and_not_a_hang(
    qtbot: QtBot, bridge: Bridge
) -> None:
    """A click must lead to something."""
    with qtbot.waitSignal(bridge.answered) as answered:
        bridge.stop()

    assert answered.args[0].error.code == "service-unreachable"


def test_an_unforeseen_exception_is_logged_and_shown_under_one_number(
    qtbot: QtBot, service: FakeService, caplog: pytest.LogCaptureFixture
) -> None:
    """A person can only report what carries a number that the log has too."""

    async def broken() -> ControlClient:
        raise ValueError("nobody saw this coming")

    bridge = Bridge(broken)
    with caplog.at_level(logging.ERROR), qtbot.waitSignal(bridge.closed) as closed:
        bridge.start()
    bridge.close()

    farewell = closed.args[0]
    assert isinstance(farewell, Farewell)
    record = next(record for record in caplog.records if record.exc_info)
    assert record.getMessage().removeprefix("fault ") in farewell.reason
    assert "ValueError" in farewell.reason


def test_a_service_that_cannot_be_started_is_tried_again(
    qtbot: QtBot, service: FakeService
) -> None:
    """A laptop that wakes up finds its network a moment later."""
    attempts: list[int] = []

    async def connect() -> ControlClient:
        attempts.append(1)
        if len(attempts) == 1:
            raise ServiceUnreachable("service-unreachable", "Not yet.")
        return await service.connect()

    bridge = Bridge(connect)
    with qtbot.waitSignals([bridge.closed, bridge.opened]):
        bridge.start()
    bridge.close()

    assert len(attempts) == 2


def test_after_a_goodbye_the_window_joins_a_service_that_another_started(
    qtbot: QtBot, service: FakeService
) -> None:
    """`weir down`, then `weir up` in a terminal: the window is back, and never started one."""
    started: list[int] = []

    async def connect() -> ControlClient:
        started.append(1)
        return await service.connect()

    async def join() -> ControlClient:
        if not service.is_open:
            raise ServiceUnreachable("service-unreachable", "None runs.")
        return service.client()

    bridge = Bridge(connect, join)
    with qtbot.waitSignal(bridge.opened):
        bridge.start()
    qtbot.waitUntil(lambda: service.listeners == 1)
    with qtbot.waitSignal(bridge.closed) as closed:
        service.say_goodbye("It was asked to end.")
    assert closed.args[0] == Farewell(reason="It was asked to end.", announced=True)

    with qtbot.waitSignal(bridge.opened):
        service.open()
    bridge.close()

    assert started == [1]


def test_closing_ends_the_thread_also_while_an_answer_is_awaited(
    qtbot: QtBot, service: FakeService
) -> None:
    """A window that cannot be closed is killed, and takes its settings with it."""
    bridge = Bridge(service.connect)
    with qtbot.waitSignal(bridge.opened):
        bridge.start()
    release, asked = threading.Event(), threading.Event()

    def hang(_request: UpRequest) -> UpResult:
        service.publish(EngineChanged(engine=READY))
        asked.set()
        release.wait(10)
        return service.come_up(_request)

    service.on_up = hang
    bridge.up(UpRequest())
    assert asked.wait(10)

    bridge.close()

    assert "weir-bridge" not in {thread.name for thread in threading.enumerate()}
    release.set()
