"""The facade of kept prompts: who has it on is shown everywhere."""

from pathlib import Path

import pytest

from studio.app.prompts import Prompts
from studio.domain.control import KeyInfo
from studio.domain.errors import BadInput, NotFound
from studio.domain.events import Event, KeysChanged
from studio.domain.keys import PromptLogRequest
from studio.gateway.prompt_log import PromptLog

KEYS = [
    KeyInfo(id="k1", name="laptop", prefix="sk", created_at="2026-01-01T00:00:00+00:00"),
    KeyInfo(id="k2", name="old", prefix="sk", created_at="2026-01-01T00:00:00+00:00",
            revoked_at="2026-02-01T00:00:00+00:00"),
]  # fmt: skip


def made(path: Path, events: list[Event]) -> tuple[Prompts, PromptLog]:
    """Return the facade and what lies behind it."""
    log = PromptLog(path / "prompts")
    return Prompts(log, keys=lambda: KEYS, publish=events.append), log


async def test_it_is_announced_and_shown_while_it_is_on(tmp_path: Path) -> None:
    """A window puts up its red sign at once."""
    events: list[Event] = []
    prompts, log = made(tmp_path, events)
    assert prompts.on() == ()

    state = await prompts.switch("k1", PromptLogRequest(seconds=600))
    log.keep("k1", "r1", "/v1/messages", 0.0, b"Hi")

    assert events == [KeysChanged()]
    assert state.until is not None
    assert [(one.key, one.until) for one in prompts.on()] == [("laptop", state.until)]
    assert prompts.until("k1") == state.until
    assert [one.body for one in await prompts.entries("k1", 5)] == ["Hi"]

    off = await prompts.switch("k1", PromptLogRequest(seconds=0))
    assert (off.until, off.kept, prompts.on()) == (None, 1, ())
    assert (await prompts.clear("k1")).kept == 0


async def test_only_for_a_key_that_is_there_and_works(tmp_path: Path) -> None:
    """What was kept of a revoked one can still be looked at and deleted."""
    prompts, _ = made(tmp_path, [])
    with pytest.raises(NotFound, match="no key 'k3'"):
        await prompts.state("k3")
    with pytest.raises(BadInput, match="was revoked"):
        await prompts.switch("k2", PromptLogRequest(seconds=60))

    assert (await prompts.switch("k2", PromptLogRequest(seconds=0))).until is None


async def test_prompts_go_with_their_key(tmp_path: Path) -> None:
    """Also when the folder cannot be written to, the key goes."""
    prompts, log = made(tmp_path, [])
    await prompts.switch("k1", PromptLogRequest(seconds=600))
    log.keep("k1", "r1", "/v1/messages", 0.0, b"Hi")

    await prompts.forget("k1")

    assert await prompts.entries("k1", 5) == []
    assert prompts.on() == ()
