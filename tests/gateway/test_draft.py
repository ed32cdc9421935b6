"""Bodies under change: what is not changed stays byte for byte, and what counts is the same."""

import json

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from studio.gateway.draft import MISSING, Draft

CHAT = "/v1/chat/completions"
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=10,
)


def draft(raw: bytes, route: str = CHAT) -> Draft:
    """Return a body under change."""
    return Draft(msgspec.json.decode(raw, type=dict[str, msgspec.Raw]), route)


@given(st.dictionaries(st.text(max_size=8), VALUES, max_size=6), VALUES)
def test_setting_one_field_leaves_all_others(document: dict, value: object) -> None:
    """Whatever a client sends: the rest has to arrive as it was."""
    one = draft(json.dumps(document).encode())

    one.set("added", value)

    assert json.loads(one.body()) == {**document, "added": value}


def test_the_bytes_of_what_stays_are_the_clients_own() -> None:
    """Numbers, escapes and spaces are not written anew: a hash or a cache may hang on them."""
    raw = (
        b'{"a": 1.00, "messages": [{"role":"user", "content":"\\u00e9\\/"},{"role":"x"}], "b":1e2}'
    )
    one = draft(raw)

    one.put_item(1, {"role": "y"})

    body = one.body()
    assert b'{"role":"user", "content":"\\u00e9\\/"}' in body
    assert b'"a":1.00' in body
    assert b'"b":1e2' in body
    assert json.loads(body)["messages"][1] == {"role": "y"}


def test_paths_reach_inside_and_say_what_is_missing() -> None:
    """Null is something; nothing is nothing."""
    one = draft(b'{"a": {"b": null, "c": {"d": 5}}, "x": 1}')

    assert one.get("a.c.d") == 5
    assert one.get("a.b") is None
    assert one.get("a.b.c") is one.get("q") is one.get("x.y") is MISSING
    one.drop("a.c.d")
    one.set("a.b", "c")
    assert json.loads(one.body()) == {"a": {"b": "c", "c": {}}, "x": 1}


def test_nothing_is_changed_by_looking() -> None:
    """A body that fits passes as it came."""
    one = draft(b'{"messages": [{"role": "user"}], "tools": []}')

    assert one.get("tools") == []
    assert list(one.items()) == [(0, {"role": "user"})]
    assert one.roles() == ["user"]
    assert one.count == 1
    assert not one.is_changed


def test_messages_are_read_only_where_a_word_stands() -> None:
    """A conversation of a thousand messages is not decoded for one of them."""
    one = draft(b'{"messages": [{"role": "user"}, {"role": "developer"}]}')

    assert [number for number, _ in one.items(b'"developer"')] == [1]
    one.drop_item(0)
    assert json.loads(one.body()) == {"messages": [{"role": "developer"}]}


def test_of_two_fields_of_one_name_the_last_counts() -> None:
    """As it does for the engine."""
    one = draft(b'{"stream": true, "stream": false}')

    assert one.get("stream") is False
    one.set("n", 1)
    assert one.body() == b'{"stream":false,"n":1}'


def test_responses_keep_their_messages_elsewhere() -> None:
    """Their name is `input`, and it may be a text."""
    assert draft(b'{"input": [{"role": "user"}]}', "/v1/responses").roles() == ["user"]
    assert draft(b'{"input": "Hi"}', "/v1/responses").count == 0
