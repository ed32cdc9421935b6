"""Messages of requests, rule by rule; whole requests are tested in test_adjust.py."""

import json

import msgspec

from studio.gateway import trap_messages
from studio.gateway.draft import Draft
from studio.gateway.traps import EmptyContent, Parts, Roles, Systems


def draft(*messages: object) -> Draft:
    """Return a chat under change."""
    raw = json.dumps({"messages": messages}).encode()
    return Draft(msgspec.json.decode(raw, type=dict[str, msgspec.Raw]), "/v1/chat/completions")


def messages(one: Draft) -> list[dict]:
    """Return its messages as they now are."""
    return json.loads(one.body())["messages"]


def test_system_messages_with_pictures_are_not_joined() -> None:
    """There is no text that could stand for them."""
    picture = {"role": "system", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}
    one = draft({"role": "system", "content": "A"}, picture, {"role": "user", "content": "Hi"})

    assert list(trap_messages.systems(one, Systems(merge=True))) == []
    assert not one.is_changed


def test_what_a_late_message_holds_stays_with_it() -> None:
    """Only its role is another."""
    late = {"role": "system", "name": "n", "content": [{"type": "text", "text": "B"}]}
    one = draft({"role": "user", "content": "Hi"}, late, {"role": "developer", "content": "C"})

    notes = list(trap_messages.systems(one, Systems(late="user")))

    assert notes == ["2 messages of role system in the middle → user"]
    assert messages(one)[1] == {**late, "role": "user"}
    assert messages(one)[2] == {"role": "user", "content": "C"}


def test_a_word_in_a_text_is_no_role() -> None:
    """People write about developers."""
    said = {"role": "user", "content": 'The "developer" said "system".'}
    one = draft(said)

    assert list(trap_messages.roles(one, Roles(values={"developer": "system"}))) == []
    assert messages(one) == [said]


def test_parts_are_counted_by_kind() -> None:
    """So that the log says what happened without what was said."""
    parts = [{"type": "input_text", "text": "a"}, {"type": "input_text", "text": "b"}, "c",
             {"type": "gone"}]  # fmt: skip
    one = draft({"role": "user", "content": parts})

    notes = list(trap_messages.parts(one, Parts(values={"input_text": "text"}, drop=("gone",))))

    assert notes == ["2 parts input_text → text", "1 part gone left out"]
    text = {"type": "text"}
    assert messages(one)[0]["content"] == [{**text, "text": "a"}, {**text, "text": "b"}, "c"]


def test_null_is_filled_only_for_the_roles_that_may_not_have_it() -> None:
    """An assistant that calls a tool says nothing, and the engine knows that."""
    one = draft({"role": "assistant", "content": None}, {"role": "tool", "content": None},
                {"role": "tool", "x": None})  # fmt: skip

    notes = list(trap_messages.empty_content(one, EmptyContent(roles=("tool",))))

    assert notes == ["content null → empty in 1 message"]
    assert messages(one) == [
        {"role": "assistant", "content": None}, {"role": "tool", "content": ""},
        {"role": "tool", "x": None},
    ]  # fmt: skip
