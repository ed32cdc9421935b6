"""Connecting a chat client: gateway, model and key come together in its file."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from studio.domain.clients import ClientState, ConnectRequest
from studio.domain.control import KeyRequest
from studio.domain.errors import BadInput, NotFound
from tests.app.running import Running, fake_paths, running

FAKE = ConnectRequest(model="fake-demo")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a person's home with Claude Code in it."""
    home = tmp_path / "ada wörk"
    (home / ".claude").mkdir(parents=True)
    (home / ".claude" / "settings.json").write_text('{"model": "opus"} // mine\n', "utf-8")
    for name in ("XDG_CONFIG_HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", "")
    return home


@pytest.fixture
async def made(tmp_path: Path, home: Path) -> AsyncIterator[Running]:
    """Return a Studio that has served nothing yet."""
    with fake_paths(tmp_path, boot_s=0.05) as paths:
        async with running(paths) as made:
            yield made


async def test_a_plan_changes_nothing_and_shows_no_key(made: Running, home: Path) -> None:
    """It is what a person looks at, and pastes, before saying yes."""
    plan = await made.studio.clients.plan("claude-code", FAKE)

    assert plan.diff.count("\n+") >= 6
    assert "sk-weir-…" in plan.diff
    assert (plan.key_name, plan.key_exists) == ("Claude Code", False)
    assert await made.studio.keys.all() == []
    assert not (home / ".claude" / "settings.json.weir-backup").exists()


async def test_connecting_makes_one_key_writes_once_and_is_undone(
    made: Running, home: Path
) -> None:
    """The file then says what the gateway wants, and afterwards what it said before."""
    clients, file = made.studio.clients, home / ".claude" / "settings.json"
    before = file.read_bytes()

    done = await clients.connect("claude-code", FAKE)
    again = await clients.connect("claude-code", FAKE)

    (key,) = await made.studio.keys.all()
    secret = (await made.studio.keys.reveal(key.id)).key
    said = json.loads(file.read_text("utf-8").replace("// mine", ""))
    assert said["env"]["ANTHROPIC_AUTH_TOKEN"] == secret
    assert done.has_changed
    assert done.key_was_made
    assert secret not in done.plan.diff
    assert "The file holds the key `Claude Code`: whoever reads it can use it." in done.plan.notes
    assert not again.has_changed
    assert (await clients.plan("claude-code", FAKE)).is_written
    first = (await clients.all()).clients[0]
    assert (first.id, first.state) == ("claude-code", ClientState.CONNECTED)

    undone = await clients.undo("claude-code")

    assert file.read_bytes() == before
    assert undone.key_name == "Claude Code"


async def test_a_client_without_a_file_gets_its_key_in_the_values(made: Running) -> None:
    """What the person types in has to be the real one."""
    done = await made.studio.clients.connect("cline", FAKE)

    secret = next(one.value for one in done.plan.values if one.is_secret)
    assert secret.startswith("sk-weir-")
    assert secret != "sk-weir-…"
    assert done.path is None


async def test_a_key_that_cannot_be_shown_is_not_replaced_silently(made: Running) -> None:
    """Another one is made only when that is asked for, under a name of its own."""
    await made.studio.keys.create(KeyRequest(name="Zed"))

    with pytest.raises(BadInput) as caught:
        await made.studio.clients.connect("zed", FAKE)
    assert caught.value.code == "key-not-stored"

    new = ConnectRequest(model="fake-demo", key="new")
    assert (await made.studio.clients.connect("zed", new)).plan.key_name == "Zed 2"


async def test_a_file_that_is_other_than_it_was_shown_is_not_written(
    made: Running, home: Path
) -> None:
    """What was agreed to is what is done; no key is made for what is refused."""
    plan = await made.studio.clients.plan("claude-code", FAKE)
    (home / ".claude" / "settings.json").write_text("{}")

    with pytest.raises(BadInput) as caught:
        await made.studio.clients.connect(
            "claude-code", ConnectRequest(model="fake-demo", seen=plan.digest)
        )

    assert caught.value.code == "client-file-changed"
    assert await made.studio.keys.all() == []


@pytest.mark.parametrize(
    ("client", "request_", "code"),
    [
        ("cursor", FAKE, "client-unknown"),
        ("zed", ConnectRequest(), "client-model-unknown"),
        ("zed", ConnectRequest(model="lava"), "preset-unknown"),
        ("zed", ConnectRequest(model="fake-demo", key="nobody"), "key-unknown"),
        ("zed", ConnectRequest(model="fake-demo", file="a.json"), "path-not-absolute"),
        ("cline", ConnectRequest(model="fake-demo", file="/a.json"), "client-has-no-file"),
    ],
)
async def test_what_cannot_be_done_is_refused_before_anything_is_made(
    made: Running, client: str, request_: ConnectRequest, code: str
) -> None:
    """Each with its own code."""
    with pytest.raises((BadInput, NotFound)) as caught:
        await made.studio.clients.connect(client, request_)
    assert caught.value.code == code
    assert await made.studio.keys.all() == []


async def test_two_at_once_end_as_one_after_the_other(made: Running, home: Path) -> None:
    """A window and a terminal press the same button."""
    async with asyncio.TaskGroup() as tasks:
        for client in ("claude-code", "codex", "claude-code"):
            tasks.create_task(made.studio.clients.connect(client, FAKE))

    names = sorted(one.name for one in await made.studio.keys.all())
    assert names == ["Claude Code", "Codex CLI"]


async def test_one_answer_is_lent_a_key_of_its_own(made: Running) -> None:
    """The same one each time, so that the list of keys does not grow."""
    first = await made.studio.clients.grant("fake-demo")
    second = await made.studio.clients.grant("fake-demo")

    assert first == second
    assert [one.name for one in await made.studio.keys.all()] == ["Try it"]
