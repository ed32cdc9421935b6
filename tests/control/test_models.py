"""The calls about the library, as a program would send them."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from studio.control.router import Router
from studio.control.transport import PREFIX
from tests.app.running import fake_paths, running
from tests.control.test_alarms import ask, down
from tests.fakes.waiting import LIMIT_S
from tests.models.made_models import cached


@pytest.fixture
async def router(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Router]:
    """Return the calls of a running Studio, with a model in a cache of the test's own."""
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    cached(tmp_path / "hf" / "hub")
    with fake_paths(tmp_path, boot_s=0.05) as paths:
        async with running(paths) as made:
            yield Router(made.studio, down=down)


async def test_a_model_is_listed_checked_and_removed(router: Router) -> None:
    """What the window does."""
    _, listed = await ask(router, "GET", "/models")
    _, begun = await ask(router, "POST", "/models/checks", {"name": "owner/name"})

    async def state() -> str:
        _, answer = await ask(router, "GET", "/models")
        found = {one["name"]: one for one in answer["models"]}
        return str(found["owner/name"]["state"])

    async with asyncio.timeout(LIMIT_S):
        while (ready := await state()) != "ready":
            _, checks = await ask(router, "GET", "/models/checks")
            assert checks["checks"]
    _, planned = await ask(router, "POST", "/models/remove", {"name": "name", "dry_run": True})
    status, removed = await ask(router, "POST", "/models/remove", {"name": "name"})
    _, after = await ask(router, "GET", "/models")

    assert {one["name"] for one in listed["models"]} == {"owner/name", "fake-model"}
    assert [one["kind"] for one in listed["roots"]] == ["own", "cache"]
    assert len(begun["checks"]) == 1
    assert ready == "ready"
    assert planned["freed_bytes"] > 0
    assert (status, removed["is_done"]) == (200, True)
    assert {one["name"] for one in after["models"]} == {"fake-model"}


async def test_one_model_is_asked_for_by_a_name_with_a_slash(router: Router) -> None:
    """In the query, where it needs no rules of its own."""
    raw = await router.answer("GET", f"{PREFIX}/models/one", "name=owner%2Fname", b"")

    assert raw[0] == 200
    assert len(json.loads(raw[1])["files"]) == 2


async def test_a_folder_is_taken_in_and_forgotten(router: Router, tmp_path: Path) -> None:
    """With what was really done."""
    path = str(tmp_path / "hf" / "hub" / "models--owner--name")
    _, taken = await ask(router, "POST", "/models/import", {"path": path, "by": "link"})
    _, idle = await ask(router, "GET", "/models/import")
    _, roots = await ask(router, "POST", "/models/roots", {"add": str(tmp_path)})
    _, again = await ask(router, "POST", "/models/roots", {"remove": str(tmp_path)})

    assert (taken["by"], taken["model"]["name"]) == ("link", "owner--name")
    assert idle.get("current") is None
    assert [one["kind"] for one in roots] == ["own", "cache", "folder"]
    assert len(again) == 2


@pytest.mark.parametrize(
    ("path", "body", "status", "code"),
    [
        ("/models/remove", {}, 400, "request-invalid"),
        ("/models/remove", {"name": "none"}, 404, "model-unknown"),
        ("/models/remove", {"name": "../../etc"}, 404, "model-unknown"),
        ("/models/checks", {"name": 7}, 400, "request-invalid"),
        ("/models/checks", {"name": "none"}, 404, "model-unknown"),
        ("/models/checks/stop", {}, 400, "request-invalid"),
        ("/models/roots", {"add": "relative"}, 400, "path-invalid"),
        ("/models/roots", {"add": "/no/such/folder"}, 404, "models-folder-missing"),
        ("/models/roots", {"remove": "/no/such/folder"}, 404, "models-folder-unknown"),
        ("/models/import", {"path": "/etc"}, 404, "model-none-here"),
        ("/models/import", {"path": "/no/such"}, 404, "model-missing"),
        ("/models/import", {"path": "/etc", "by": "magic"}, 400, "request-invalid"),
    ],
)
async def test_nonsense_is_refused_with_its_code(
    router: Router, path: str, body: object, status: int, code: str
) -> None:
    """And changes nothing."""
    found, answer = await ask(router, "POST", path, body)

    assert (found, answer["code"]) == (status, code)
    assert (await ask(router, "GET", "/models/one"))[0] == 400
