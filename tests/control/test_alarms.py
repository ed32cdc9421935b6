"""The calls about alarms, as a program would send them."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from studio.control.router import Router
from studio.control.transport import PREFIX
from tests.app.running import fake_paths, running


async def down() -> None:
    """End nothing."""


@pytest.fixture
async def router(tmp_path: Path) -> AsyncIterator[Router]:
    """Return the calls of a running Studio."""
    with fake_paths(tmp_path, boot_s=0.05) as paths:
        async with running(paths) as made:
            yield Router(made.studio, down=down)


async def ask(router: Router, method: str, path: str, body: object = None) -> tuple[int, dict]:
    """Return status and answer."""
    raw = b"" if body is None else json.dumps(body).encode()
    status, answer = await router.answer(method, PREFIX + path, "", raw)
    return status, json.loads(answer)


async def test_a_code_is_muted_and_heard_again(router: Router) -> None:
    """What the window and other programs do."""
    status, answer = await ask(router, "POST", "/alarms/spill-swap/mute", {"for_s": 60})
    assert status == 200
    assert answer["mutes"][0]["code"] == "spill-swap"

    _, listed = await ask(router, "GET", "/alarms")
    assert listed["is_watched"] is True
    assert len(listed["mutes"]) == 1

    _, after = await ask(router, "POST", "/alarms/spill-swap/unmute")
    assert after["mutes"] == []


@pytest.mark.parametrize(
    ("path", "body", "status", "code"),
    [
        ("/alarms/lava/mute", {}, 404, "alarm-unknown"),
        ("/alarms/lava/unmute", {}, 404, "alarm-unknown"),
        ("/alarms/spill-swap/mute", {"for_s": "long"}, 400, "request-invalid"),
        ("/alarms/spill-swap/mute", {"for_s": -1}, 400, "request-invalid"),
        ("/alarms/spill-swap/mute", {"for": 1}, 400, "request-invalid"),
        ("/alarms/spill-swap/mute", {"is_once": True}, 400, "alarm-not-active"),
        ("/alarms/%00%2F..%2F/mute", {}, 404, "alarm-unknown"),
    ],
)
async def test_nonsense_is_refused_with_its_code(
    router: Router, path: str, body: object, status: int, code: str
) -> None:
    """And changes nothing."""
    found, answer = await ask(router, "POST", path, body)

    assert (found, answer["code"]) == (status, code)
