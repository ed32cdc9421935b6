"""The keys page."""

from pathlib import Path

import msgspec
import pytest

from studio.domain.keys import KeyLimits, PromptEntry
from studio.ui.language import speak
from studio.ui.state import Action, Known, Link, Secret
from studio.ui.viewmodels.keys import keys_view, prompt_words, secret_view, state_text
from tests.ui.fake_service import BASE_URL, KEY

ASSETS = Path(__file__).resolve().parents[3] / "assets"
LIVE = Known(link=Link.LIVE, keys=(KEY,))


def test_usage_is_told_in_full() -> None:
    """Who pays for tokens counts them."""
    row = keys_view(LIVE, "").rows[0]

    assert row.prefix.text == "weir-3fQm…"
    assert row.requests.text == "1,284"
    assert row.requests.tooltip == "3 requests failed"
    assert row.tokens.text == "2,809,297"
    assert row.tokens.tooltip == "2,418,220 of prompts, 1,790,442 of them reused; 391,077 generated"


def test_revoked_keys_sink_to_the_end_and_cannot_be_revoked_again() -> None:
    """What works is on top."""
    gone = msgspec.structs.replace(
        KEY, id="k0", created_at="2020-01-01T00:00:00Z", revoked_at="2026-11-28T09:00:00Z"
    )
    known = msgspec.structs.replace(LIVE, keys=(gone, KEY))

    view = keys_view(known, "")

    assert [row.id for row in view.rows] == ["k1", "k0"]
    assert view.rows[1].revoke.text == "Revoked"
    assert not view.rows[1].revoke.enabled
    assert view.summary == "1 key works now"


def test_a_key_needs_a_name_and_a_service() -> None:
    """A list of nameless keys cannot be tidied."""
    busy = msgspec.structs.replace(LIVE, pending=frozenset({Action.CREATE_KEY}))

    assert not keys_view(LIVE, "   ").create.enabled
    assert keys_view(LIVE, "Zed").create.enabled
    assert not keys_view(busy, "Zed").create.enabled
    assert not keys_view(Known(), "Zed").create.enabled


def test_no_key_says_the_next_step() -> None:
    """And no answer yet says that."""
    none = msgspec.structs.replace(LIVE, keys=())

    assert keys_view(none, "").empty.startswith("There is no key yet.")
    assert keys_view(Known(), "").empty == "The keys appear when the service answers."


def test_the_secret_names_its_use() -> None:
    """Key and address are pasted together."""
    named = secret_view(Secret(key="weir-x", name="Zed"), BASE_URL)

    assert named.title == "Your new key “Zed”"
    assert (named.key, named.base_url) == ("weir-x", BASE_URL)
    assert secret_view(Secret(key="weir-x"), None).title == "Your new key"


@pytest.mark.parametrize(
    ("fields", "text", "tooltip"),
    [
        ({}, "works", "Every model"),
        ({"limits": KeyLimits(models=("chat",))}, "works, limited", "Models: chat"),
        ({"has_expired": True}, "expired", ""),
        ({"prompts_until": "2026-11-29T16:24:00"}, "prompts are kept", "Until 29 Nov 2026, 16:24"),
        ({"revoked_at": "2026-11-28T09:00:00"}, "revoked", "28 Nov 2026, 09:00"),
    ],
)
def test_the_state_of_a_key_is_a_word_and_its_reason(
    fields: dict[str, object], text: str, tooltip: str
) -> None:
    """Colour is never the only sign."""
    state = state_text(msgspec.structs.replace(KEY, **fields))

    assert state.text == text
    assert state.tooltip.startswith(tooltip)


def test_a_key_that_was_kept_says_that_it_can_be_shown_again() -> None:
    """Shown once is true of all others."""
    kept = secret_view(Secret(key="weir-x", name="Zed", is_new=False), BASE_URL)

    assert kept.title == "Key “Zed”"
    assert "again" in kept.hint


def test_what_is_cut_out_of_a_prompt_is_said_in_the_windows_language() -> None:
    """It is the Studio's own line between two pieces of a text that is somebody else's."""
    body = "the end is near\n[… 1,234 characters left out …]\nthe end"
    entry = PromptEntry(
        at="2026-11-29T12:00:00+00:00", request_id="r1", route="/v1", body_bytes=9, body=body
    )

    assert prompt_words((entry,)).endswith(body)
    speak("zh_CN", ASSETS)
    try:
        shown = prompt_words((entry,))
    finally:
        speak("en", ASSETS)

    assert shown.endswith("the end is near\n[… 省略了 1,234 个字符 …]\nthe end")


def test_no_key_is_said_to_work_while_the_service_is_away() -> None:
    """Nobody listens at the gateway; what was revoked stays revoked."""
    away = msgspec.structs.replace(LIVE, link=Link.LOST)

    view = keys_view(away, "")

    assert view.summary.endswith("when the service answers")
    assert view.rows[0].state.text == "–"
    assert view.rows[0].state.tooltip.startswith("The service does not answer.")
    gone = msgspec.structs.replace(KEY, revoked_at="2026-11-28T09:00:00Z")
    assert state_text(gone, live=False).text == "revoked"
