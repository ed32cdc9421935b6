"""The calls about chat clients, and one answer through the gateway, as a program would use them."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from studio.control.client import ControlClient
from studio.control.client_connect import answer
from studio.control.router import Router
from studio.control.transport import PREFIX
from studio.domain.clients import TryGrant
from studio.domain.control import UpRequest
from studio.domain.errors import StudioError
from tests.app.running import Running, fake_paths, running


async def down() -> None:
    """End nothing."""


@pytest.fixture
async def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Running]:
    """Return a Studio in a home of nobody."""
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    with fake_paths(tmp_path, boot_s=0.05) as paths:
        async with running(paths) as made:
            yield made


async def ask(made: Running, method: str, path: str, body: object = None) -> tuple[int, dict]:
    """Return status and answer."""
    raw = b"" if body is None else json.dumps(body).encode()
    router = Router(made.studio, down=down)
    status, said = await router.answer(method, PREFIX + path, "", raw)
    return status, json.loads(said)


async def test_a_client_is_planned_connected_and_undone(made: Running, tmp_path: Path) -> None:
    """The three calls that the window makes."""
    file = tmp_path / "a b.json"
    body = {"model": "fake-demo", "file": str(file)}

    _, plan = await ask(made, "POST", "/clients/opencode/plan", body)
    status, done = await ask(
        made, "POST", "/clients/opencode/connect", {**body, "seen": plan["digest"]}
    )
    _, listed = await ask(made, "GET", "/clients")

    assert status == 200
    assert done["path"] == str(file)
    states = {one["id"]: one["state"] for one in listed["clients"]}
    assert states["opencode"] == "connected"
    assert (await ask(made, "POST", "/clients/opencode/undo"))[1]["was_removed"] is True
    assert not file.exists()


@pytest.mark.parametrize(
    ("path", "body", "status", "code"),
    [
        ("/clients/lava/plan", {}, 404, "client-unknown"),
        ("/clients/zed/undo", None, 404, "client-not-connected"),
        ("/clients/zed/connect", {"key": 1}, 400, "request-invalid"),
        ("/clients/zed/connect", {"keys": "a"}, 400, "request-invalid"),
        ("/try", None, 404, "client-model-unknown"),
    ],
)
async def test_nonsense_is_refused_with_its_code(
    made: Running, path: str, body: object, status: int, code: str
) -> None:
    """A program gets an answer that it can act on."""
    found, said = await ask(made, "POST", path, body)
    assert (found, said["code"]) == (status, code)


async def test_an_answer_streams_through_the_gateway_with_what_was_seen_of_it(
    made: Running,
) -> None:
    """Real gateway, real key; the last piece has the engine's own count."""
    await made.studio.up(UpRequest(preset="fake-demo"))
    grant = await made.studio.clients.grant(None)

    pieces = [piece async for piece in answer(grant, "Hi")]

    assert "".join(piece.text for piece in pieces)
    assert pieces[-1].is_last
    assert pieces[-1].tokens
    assert pieces[-1].ttft_s is not None
    assert pieces[-1].ttft_s >= 0


async def test_a_refusal_and_a_closed_gateway_are_said(made: Running) -> None:
    """Nothing serves: the gateway says so itself; nothing listens: its address is named."""
    await made.studio.up(UpRequest(preset="fake-demo"))
    grant = await made.studio.clients.grant(None)
    wrong = TryGrant(base_url=grant.base_url, model=grant.model, key="sk-weir-no")
    gone = TryGrant(base_url="http://127.0.0.1:9/v1", model="m", key="k")

    for one, code in ((wrong, "try-refused"), (gone, "gateway-unreachable")):
        with pytest.raises(StudioError) as caught:
            _ = [piece async for piece in answer(one, "Hi")]
        assert caught.value.code == code


def test_the_client_has_every_call() -> None:
    """The window finds them by these names."""
    for name in ("clients", "plan_client", "connect_client", "undo_client", "grant_try"):
        assert callable(getattr(ControlClient, name))
