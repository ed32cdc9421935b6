"""What a page asks for itself."""

import asyncio

from pytestqt.qtbot import QtBot

from studio.domain.control import Status
from studio.domain.errors import ErrorInfo
from studio.ui.area import Area
from studio.ui.bridge import Bridge
from studio.ui.window import MainWindow
from tests.ui.fake_service import FakeService
from tests.ui.fake_serving import POOL_REPORT


def test_an_answer_comes_on_qts_thread_and_is_announced(
    qtbot: QtBot, window: MainWindow, bridge: Bridge
) -> None:
    """While it is under way the same question is not asked twice."""
    area, answers = Area(bridge), []

    with qtbot.waitSignal(area.changed):
        assert area.ask("status", lambda client: client.status(), answers.append)
    assert not area.ask("status", lambda client: client.status(), answers.append)
    assert area.pending == {"status"}

    qtbot.waitUntil(lambda: not area.pending)
    assert [type(answer) for answer in answers] == [Status]


def test_a_refusal_stays_until_it_is_closed(qtbot: QtBot, bridge: Bridge) -> None:
    """A service that is not there yet is a refusal too."""
    area = Area(bridge)

    area.ask("status", lambda client: client.status(), lambda _status: None)

    qtbot.waitUntil(lambda: area.problem is not None)
    assert area.problem.code == "service-unreachable"
    area.dismiss()
    assert area.problem is None


def test_an_answer_closes_the_refusal_of_the_same_question_only(
    qtbot: QtBot, window: MainWindow, bridge: Bridge, service: FakeService
) -> None:
    """What was refused before is possible by now; the card of another deed is still true."""
    area = Area(bridge)

    def ask(name: str) -> None:
        area.ask(name, lambda client: client.pool(), lambda _pool: None)
        qtbot.waitUntil(lambda: not area.pending)

    service.serving.pool = ErrorInfo(code="not-yet", message="Nothing serves yet.")
    ask("pool")
    assert area.problem is not None
    service.serving.pool = POOL_REPORT

    ask("another")
    assert area.problem is not None
    ask("pool")
    assert area.problem is None


def test_an_own_way_with_refusals_leaves_no_card(
    qtbot: QtBot, window: MainWindow, bridge: Bridge, service: FakeService
) -> None:
    """Some refusals belong beside a field."""
    area, refusals = Area(bridge), []

    async def fail(_client: object) -> None:
        await asyncio.sleep(0)
        raise AssertionError("a mistake of ours")

    area.ask("odd", fail, lambda _value: None, refusals.append)

    qtbot.waitUntil(lambda: bool(refusals))
    assert isinstance(refusals[0], ErrorInfo)
    assert refusals[0].code == "unexpected"
    assert area.problem is None


def test_what_was_read_before_a_change_is_read_again(bridge: Bridge) -> None:
    """Two questions go two ways, and the older answer may come last: it knows nothing of it."""
    area, asked, shown = Area(bridge), [], []

    def put(_question, done, _failed) -> None:
        asked.append(done)

    area.ask("list", lambda client: client.signers(), shown.append, put=put)
    area.ask("add", lambda client: client.signers(), shown.append, put=put, writes="list")
    read, added = asked
    added("with it")
    read("without it")

    assert shown == ["with it"]
    assert area.pending == {"list"}
    asked[-1]("with it")
    assert shown == ["with it", "with it"]
    assert not area.pending
