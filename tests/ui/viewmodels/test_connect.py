"""What the connect page says, as tables."""

import msgspec
import pytest

from studio.domain.clients import ClientState, TryPiece
from studio.ui.viewmodels.connect import (
    NEW_KEY,
    TryState,
    choices,
    connect_view,
    first_choice,
    key_choices,
    try_view,
)
from tests.ui.fake_clients import CLAUDE, FakeClients
from tests.ui.fake_service import KEY, FakeService


@pytest.fixture
def clients() -> FakeClients:
    """Return the fake clients of the fake service."""
    return FakeClients(FakeService())


@pytest.mark.parametrize(
    ("state", "word", "undo"),
    [
        (ClientState.UNTOUCHED, "Not connected", (False, False)),
        (ClientState.CONNECTED, "Connected", (True, True)),
        (ClientState.CHANGED, "Changed since it was written", (True, False)),
    ],
)
def test_a_state_is_a_word_and_decides_about_undo(
    state: ClientState, word: str, undo: tuple[bool, bool], clients: FakeClients
) -> None:
    """A changed file is not put back, and the button says why."""
    clients.become("claude-code", state)

    view = connect_view(clients.plan("claude-code"), None, is_busy=False, is_live=True)

    assert view.sign.text == word
    assert (view.undo.visible, view.undo.enabled) == undo
    assert view.undo.tooltip
    plan = clients.plan("claude-code")
    assert not connect_view(plan, None, is_busy=True, is_live=True).write.enabled
    assert not connect_view(plan, None, is_busy=False, is_live=False).write.enabled


def test_keys_to_choose_from_are_those_that_can_be_shown(clients: FakeClients) -> None:
    """A hash cannot be put into a file; a revoked key is of no use."""
    stored = msgspec.structs.replace(KEY, id="k2", name="Shared", stored="file")
    gone = msgspec.structs.replace(stored, id="k3", name="Old", revoked_at="2026-01-01T00:00:00Z")

    found = key_choices(clients.plan("claude-code"), [KEY, stored, gone])

    assert [one.value for one in found] == [None, "Shared", NEW_KEY]
    assert key_choices(None, []) == ()


def test_the_list_marks_what_is_connected_and_keeps_the_choice() -> None:
    """By a sign and a word, not by colour."""
    info = msgspec.structs.replace(CLAUDE, state=ClientState.CONNECTED)
    fake = FakeClients(FakeService())
    fake.become("claude-code", ClientState.CONNECTED)
    known = fake.answer("GET", "/clients", b"")

    (first, *_rest) = choices(known)

    assert first.text == f"{info.title} ✓"
    assert first.spoken == "Claude Code, Connected"
    assert first_choice(known, "cline") == "cline"
    assert first_choice(known, "gone") == "claude-code"
    assert choices(None) == ()


def test_an_answer_grows_with_what_was_seen_of_it() -> None:
    """Thoughts are no answer; figures are those of the newest piece."""
    thought = TryPiece(text="hm", is_thought=True, ttft_s=0.2, tokens=1)
    piece = TryPiece(text="Hi", ttft_s=0.2, tokens=2, tokens_per_s=10.0)

    assert try_view(TryState.STREAMS, (thought,), is_serving=True).answer == "Thinking."
    view = try_view(TryState.STREAMS, (thought, piece), is_serving=True)

    assert (view.answer, view.is_quiet) == ("Hi", False)
    assert view.seen.startswith("seen here: first token 0.20 s")
    assert view.stop.visible
    assert not view.ask.enabled
    assert not try_view(TryState.IDLE, (), is_serving=False).ask.enabled
