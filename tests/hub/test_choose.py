"""Which hub is asked where nobody said, and that nothing is switched behind a person's back."""

import asyncio
import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from studio.domain.downloads import HubName
from studio.domain.errors import NetworkFailure
from studio.hub import access as access_module
from studio.hub.access import Access
from studio.hub.choose import chosen
from tests.fakes import hub as fake
from tests.fakes.hub import Hub
from tests.fakes.waiting import LIMIT_S, until
from tests.hub.test_get import a_hub, access, request

FACE, SCOPE = HubName.HUGGING_FACE, HubName.MODEL_SCOPE


@pytest.fixture
def silent() -> Iterator[str]:
    """Yield an address that takes connections and says nothing, as a firewall between does."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


@contextlib.contextmanager
def silent_until(holds: Callable[[], bool]) -> Iterator[str]:
    """Yield such an address, where the connection is lost as soon as `holds`.

    So the test takes no longer than it must, and a busy machine as long as it needs.
    """
    with socket.create_server(("127.0.0.1", 0)) as server:

        def hang_up() -> None:
            connection, _ = server.accept()
            with connection:
                until(holds, "the other hub's turn")

        thread = threading.Thread(target=hang_up)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        thread.join()


def unnamed(
    hub: Hub, folder: Path, monkeypatch: pytest.MonkeyPatch, *, face: str, scope: str
) -> Access:
    """Return access by which nobody says where the hubs are; they are where the test has them."""
    places = {FACE: (("HF_ENDPOINT",), face), SCOPE: (("MODELSCOPE_ENDPOINT",), scope)}
    monkeypatch.setattr(access_module, "_ENDPOINTS", places)
    return access(hub, folder, HF_ENDPOINT="", MODELSCOPE_ENDPOINT="")


async def test_hugging_face_is_asked_and_nobody_else_hears_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a person fetches is no business of another hub."""
    with fake.running(a_hub()) as hub, fake.running(a_hub()) as other:
        way = unnamed(hub, tmp_path, monkeypatch, face=hub.url, scope=other.url)

        assert await chosen(request(), way) is FACE
        assert other.asked == []


async def test_a_silent_hub_is_said_and_the_other_offered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Never taken by itself: the same name may hold other files there."""
    with fake.running(a_hub()) as hub, silent_until(lambda: bool(hub.asked)) as silent:
        way = unnamed(hub, tmp_path, monkeypatch, face=silent, scope=hub.url)
        with pytest.raises(NetworkFailure) as caught:
            await chosen(request(), way, head_start_s=0.05, within_s=LIMIT_S)

    error = caught.value
    assert (error.code, error.data["hub"]) == ("hub-other", "modelscope")
    assert silent in error.message
    assert "HF_ENDPOINT" in str(error.hint)


async def test_a_hub_without_the_repository_is_not_offered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would be a second disappointment."""
    with fake.running(a_hub()) as hub, silent_until(lambda: bool(hub.asked)) as silent:
        way = unnamed(hub, tmp_path, monkeypatch, face=silent, scope=hub.url)
        with pytest.raises(NetworkFailure) as caught:
            await chosen(request(repository="no/such"), way, head_start_s=0.01, within_s=LIMIT_S)

    assert caught.value.data["hub"] is None
    assert "has no no/such" in caught.value.message


async def test_where_neither_answers_it_is_hugging_face(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, silent: str
) -> None:
    """A line that is down is waited for with patience, not blamed on one of them."""
    way = unnamed(Hub(files={}), tmp_path, monkeypatch, face=silent, scope=silent)

    assert await chosen(request(), way, head_start_s=0.01, within_s=0.2) is FACE


@pytest.mark.parametrize("hub", [FACE, SCOPE])
async def test_who_says_which_hub_is_asked_no_further(
    hub: HubName, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, silent: str
) -> None:
    """By `--hub`, a preset's source, or a variable that names a mirror."""
    way = unnamed(Hub(files={}), tmp_path, monkeypatch, face=silent, scope=silent)

    async with asyncio.timeout(LIMIT_S):
        assert await chosen(request(hub=hub), way, within_s=10 * LIMIT_S) is hub
    named = access(Hub(files={}, url=silent), tmp_path)
    async with asyncio.timeout(LIMIT_S):
        assert await chosen(request(), named, within_s=10 * LIMIT_S) is FACE
