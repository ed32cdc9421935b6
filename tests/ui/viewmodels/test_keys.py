"""The keys page."""

import msgspec
import pytest

from studio.ui.state import Action, Known, Link, Secret
from studio.ui.viewmodels.keys import day_text, instant_text, keys_view, secret_view
from tests.ui.fake_service import BASE_URL, KEY

LIVE = Known(link=Link.LIVE, keys=(KEY,))


def test_usage_is_told_in_full() -> None:
    """Who pays for tokens counts them."""
    row = keys_view(LIVE, "").rows[0]

    assert row.prefix == "weir-3fQm…"
    assert row.requests.text == "1,284"
    assert row.requests.tooltip == "3 requests failed"
    assert row.tokens.text == "2,418,220 · 1,790,442 · 391,077"


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


@pytest.mark.parametrize("text", [None, "", "yesterday", "2026-13-45"])
def test_an_instant_that_is_none_is_a_dash(text: str | None) -> None:
    """Never used is not the same as used in 1970."""
    assert instant_text(text) == "–"
    assert day_text(text) == "–"


def test_instants_are_local_and_have_a_year() -> None:
    """Without a zone the text is taken as it stands."""
    assert instant_text("2026-11-09T05:07:00") == "9 Nov 2026, 05:07"
    assert day_text("2026-01-31T05:07:00") == "31 Jan 2026"


def test_the_secret_names_its_use() -> None:
    """Key and address are pasted together."""
    named = secret_view(Secret(key="weir-x", name="Zed"), BASE_URL)

    assert named.title == "Your new key “Zed”"
    assert (named.key, named.base_url) == ("weir-x", BASE_URL)
    assert secret_view(Secret(key="weir-x"), None).title == "Your new key"
