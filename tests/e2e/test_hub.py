"""Models and downloads by real commands, with a real service and without, from a hub of ours."""

import dataclasses
import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes import hub as fake
from tests.fakes.hub import COMMIT, NAME, Hub
from tests.fakes.waiting import until
from tests.fakes.weir import LIMIT_S, Weir, weir_home

SECRET = "hf_a_token_that_nobody_else_may_see"
FILES = {"config.json": b"{}", "model.safetensors": random.Random(1).randbytes(5_000_000)}


@pytest.fixture
def hub() -> Iterator[Hub]:
    """Serve a small repository."""
    with fake.running(Hub(files=dict(FILES), lfs=frozenset({"model.safetensors"}))) as one:
        yield one


@pytest.fixture
def weir(hub: Hub, tmp_path: Path) -> Iterator[Weir]:
    """Yield commands that know no other hub and no token, with no service yet."""
    with weir_home(tmp_path / "wéir home", None) as one:
        unset = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_HUB_CACHE", "HF_TOKEN_PATH")
        known = {name: text for name, text in one.environment.items() if name not in unset}
        known.update(HF_ENDPOINT=hub.url, HF_HOME=str(tmp_path / "hf"))
        yield dataclasses.replace(one, environment=known)


def login(weir: Weir, token: str) -> "subprocess.CompletedProcess[str]":
    """Give a token on standard input."""
    return subprocess.run(
        [sys.executable, "-m", "studio", "models", "login", "--token", "-", "--json"],
        env=dict(weir.environment), input=f"{token}\n", capture_output=True, text=True,
        timeout=LIMIT_S, check=False, cwd=weir.paths.home,
    )  # fmt: skip


def states(weir: Weir) -> list[tuple[str, str]]:
    """Return the queue as titles and states, as a command shows it."""
    return [(one["title"], one["state"]) for one in weir.json("downloads")["downloads"]]


def kept(weir: Weir) -> list[tuple[str, str]]:
    """Return ids and states of what would go on after a kill now; costs no command."""
    book = weir.paths.home / "downloads.json"
    jobs = json.loads(book.read_bytes())["jobs"] if book.exists() else []
    return [(one["id"], one["state"]) for one in jobs]


@pytest.mark.parametrize("has_service", [False, True])
def test_a_gated_model_comes_after_a_login_that_is_proven(
    weir: Weir, hub: Hub, *, has_service: bool
) -> None:
    """The whole way of a person: refused, a wrong token, the right one, the model, logged out."""
    hub.gated_token = SECRET
    hub.token_names[SECRET] = "mia"
    if has_service:
        weir.begin_service()

    refused = weir.run("models", "get", NAME, "--json")
    wrong = login(weir, "hf_wrong")
    right = login(weir, SECRET)
    found = weir.json("models", "get", NAME)
    out = weir.json("models", "logout")

    assert json.loads(refused.stdout)["code"] == "model-gated"
    assert json.loads(wrong.stdout)["code"] == "hub-token-refused"
    assert json.loads(right.stdout)["account"] == "mia"
    assert found["commit"] == COMMIT
    assert all((Path(found["folder"]) / name).read_bytes() == data for name, data in FILES.items())
    assert out.get("source") is None
    assert SECRET not in right.stdout + right.stderr + wrong.stderr


def test_the_queue_goes_on_after_the_service_was_killed(weir: Weir, hub: Hub) -> None:
    """In its order, the paused one paused, and next to nothing fetched twice; it can be seen and
    changed while no service runs.
    """
    weir.json("downloads", "limit", "0.2")
    weir.begin_service()
    asking = weir.start("models", "get", NAME, "--json")
    until(lambda: hub.sent_bytes > 100_000, "some bytes", limit_s=LIMIT_S)
    paused = weir.start("models", "get", NAME, "--include", "config.json", "--json")
    until(lambda: len(kept(weir)) == 2, "both in the queue", limit_s=LIMIT_S)
    weir.json("downloads", "pause", kept(weir)[1][0])
    status = weir.json("status")["downloads"]

    os.kill(weir.service_pid(), signal.SIGKILL)
    for process in (asking, paused):
        process.communicate(timeout=LIMIT_S)
    left = weir.json("downloads")
    assert [one["state"] for one in left["downloads"]] == ["queued", "paused"]
    weir.json("downloads", "limit", "off")
    weir.begin_service()
    until(lambda: len(kept(weir)) == 1, "the end of the first", limit_s=LIMIT_S)

    assert status["running"][0]["title"] == NAME
    assert status["paused"] == 1
    assert left["is_at_work"] is False
    assert left["limit_bytes_per_s"] == 200_000
    assert sorted(states(weir)) == [(NAME, "done"), (NAME, "paused")]
    assert hub.sent_bytes <= len(FILES["model.safetensors"]) + (1 << 20)


def test_what_waits_can_be_cancelled_without_a_service(weir: Weir) -> None:
    """Somebody who sees it after a restart must not have to start it first."""
    book = {
        "jobs": [
            {"id": "1a", "request": {"repository": "a/b"}, "state": "queued"},
            {"id": "2b", "request": {"repository": "c/d"}, "state": "queued"},
        ]
    }
    (weir.paths.home / "downloads.json").write_text(json.dumps(book))

    moved = weir.json("downloads", "first", "c/d")
    gone = weir.json("downloads", "cancel", "1a")
    text = weir.run("downloads").stdout

    assert [one["id"] for one in moved["downloads"]] == ["2b", "1a"]
    assert [one["id"] for one in gone["downloads"]] == ["2b"]
    assert "No service runs" in text
