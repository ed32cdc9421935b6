"""What the window asks about runtimes."""

from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from studio.domain.errors import ErrorInfo
from studio.domain.runtimes import RuntimeState
from studio.ui.bridge import Bridge
from studio.ui.runtimes import RuntimesArea
from studio.ui.session import Session
from studio.ui.state import Link
from tests.ui.fake_runtimes import CPU, LARGE, OLDER, FakeRuntimes
from tests.ui.fake_service import FakeService


@pytest.fixture
def area(
    qtbot: QtBot, service: FakeService, bridge: Bridge, session: Session
) -> Iterator[RuntimesArea]:
    """Return an area over a service that answers."""
    FakeRuntimes(service)
    session.begin()
    qtbot.waitUntil(lambda: session.known.link is Link.LIVE)
    return RuntimesArea(bridge)


def test_choosing_quickly_shows_the_last_choice(qtbot: QtBot, area: RuntimesArea) -> None:
    """An answer about what was chosen before must not take its place."""
    area.choose(CPU.name)
    area.choose(OLDER.name)

    qtbot.waitUntil(lambda: area.detail is not None and not area.pending)

    assert area.detail is not None
    assert area.detail.info.name == OLDER.name


def test_a_recipe_that_cannot_be_read_is_shown_with_its_mistake(
    qtbot: QtBot, service: FakeService, area: RuntimesArea
) -> None:
    """The list knows file and place of it."""
    fake = FakeRuntimes(service)
    area.refresh()
    qtbot.waitUntil(lambda: area.detail is not None and not area.pending)
    broken = ErrorInfo(code="document-damaged", message="runtime.toml line 3: no such key.")
    service.areas.insert(
        0, lambda _method, route, _body: broken if route.startswith("/runtimes/cpu") else None
    )

    area.choose(fake.runtimes[1].name)

    qtbot.waitUntil(lambda: area.detail is not None and not area.pending)
    assert area.detail is not None
    assert area.detail.info.state is RuntimeState.AVAILABLE
    assert area.detail.engine == ""
    assert area.problem is None


def test_a_refusal_stays_until_it_is_closed_and_can_be_tried_again(
    qtbot: QtBot, service: FakeService, area: RuntimesArea
) -> None:
    """Trying again asks for the same."""
    fake = FakeRuntimes(service)
    service.areas.reverse()
    fake.refusal = LARGE
    area.do(lambda client, _yes: client.repair_runtime(CPU.name))
    qtbot.waitUntil(lambda: area.problem is not None)

    fake.refusal = None
    area.again(consent=False)

    qtbot.waitUntil(lambda: area.done is not None and not area.pending)
    assert area.problem is None
    assert fake.asked == [("repair", "refused"), ("repair", CPU.name)]
