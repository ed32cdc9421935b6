"""What the window asks about models."""

import pytest
from pytestqt.qtbot import QtBot

from studio.domain.downloads import GetRequest
from studio.domain.errors import ErrorInfo
from studio.domain.events import ModelsChanged
from studio.ui.bridge import Bridge
from studio.ui.models import ModelsArea
from studio.ui.session import Session
from studio.ui.state import Link
from tests.ui.fake_models import CHECKING, GATED, FakeModels
from tests.ui.fake_service import FakeService


@pytest.fixture
def fake(service: FakeService) -> FakeModels:
    """Return the fake library of the fake service."""
    return FakeModels(service)


@pytest.fixture
def area(qtbot: QtBot, fake: FakeModels, bridge: Bridge, session: Session) -> ModelsArea:
    """Return an area over a service that answers."""
    session.begin()
    qtbot.waitUntil(lambda: session.known.link is Link.LIVE)
    return ModelsArea(bridge)


def test_a_download_that_was_cancelled_is_no_error(
    qtbot: QtBot, area: ModelsArea, fake: FakeModels
) -> None:
    """Whoever pressed Cancel knows; any other refusal is shown."""
    for refusal, shown in (
        (ErrorInfo(code="download-cancelled", message="It was cancelled."), None), (GATED, GATED),
    ):  # fmt: skip
        fake.refusal = refusal
        area.get(GetRequest(repository="a/b"))
        qtbot.waitUntil(lambda: area.downloads is not None and not area.pending)
        assert area.problem == shown


def test_two_models_are_got_at_once_and_the_same_one_is_asked_for_once(
    qtbot: QtBot, area: ModelsArea, fake: FakeModels
) -> None:
    """The service queues them."""
    fake.gate.clear()
    for name in ("a/b", "a/b", "c/d"):
        area.get(GetRequest(repository=name))
    fake.gate.set()

    qtbot.waitUntil(lambda: not area.pending)

    assert sorted(request.repository for _verb, request in fake.asked) == ["a/b", "c/d"]


def test_progress_of_a_check_is_no_reason_to_look_again(area: ModelsArea) -> None:
    """Ten events a second must not walk the disks ten times."""
    news = ModelsChanged(models=4, size_bytes=9, checks=(CHECKING,))

    assert area.hear_models(news)
    assert not area.hear_models(news)
    assert area.hear_models(ModelsChanged(models=4, size_bytes=9))
    assert area.checks == ()
