"""A request's body is changed by appending only, and means the same to the engine."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.gateway.adjust import Adjusted
from studio.gateway.bodies import prepare, read


def prepared(body: bytes, *, takes: bool = True):
    """Return the body prepared for a chat."""
    return prepare(read(body), served_name="smollm2", takes_stream_options=takes)


def test_a_body_that_is_complete_passes_untouched():
    """The usual case costs nothing and changes nothing."""
    body = b'{ "model": "x",\n "stream": true, "stream_options": {"include_usage": true} }  '

    assert prepared(body).body is body
    assert prepared(body).is_stream
    assert not prepared(body).hides_usage


@pytest.mark.parametrize(
    "body",
    [
        b"{}",
        b" { } \n",
        b'{"messages": []}',
        b'{"model": null, "messages": []}',
        b'{"model":"x","model":null}',
        '{"messages": "Größe 模型"}'.encode(),
    ],
)
def test_a_missing_model_is_named_and_the_rest_kept(body):
    """A script that names no model talks to whatever runs."""
    changed = prepared(body).body

    assert json.loads(changed) == json.loads(body) | {"model": "smollm2"}
    assert changed.startswith(body.rstrip()[:-1])


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (None, {"include_usage": True}),
        ("null", {"include_usage": True}),
        ("{}", {"include_usage": True}),
        ('{"include_usage":false}', {"include_usage": True}),
        (
            '{"continuous_usage_stats":true,"other":1}',
            {"continuous_usage_stats": False, "other": 1, "include_usage": True},
        ),
    ],
)
def test_usage_of_a_stream_is_asked_for_when_the_client_did_not(options, expected):
    """Every stream is counted, whoever asks."""
    given_options = f',"stream_options":{options}' if options else ""
    body = f'{{"model":"x","stream":true{given_options}}}'.encode()

    result = prepared(body)

    assert result.hides_usage
    assert json.loads(result.body)["stream_options"] == expected


@pytest.mark.parametrize(
    "body",
    [
        b'{"model":"x"}',
        b'{"model":"x","stream":false}',
        b'{"model":"x","stream":true,"stream_options":{"include_usage":true}}',
        b'{"model":"x","stream":true,"stream_options":7}',
        b"[1]",
        b'"text"',
        b'{"model": ',
        b'{"model":"\xff"}',
        b"",
        b"[" * 200_000,
        b'{"a":' * 200_000,
    ],
)
def test_a_body_that_needs_nothing_or_is_nonsense_passes_unchanged(body):
    """What is wrong with it is for the engine to say."""
    result = prepared(body)

    assert result.body == body
    assert not result.hides_usage


def test_routes_without_stream_options_get_none():
    """The responses and messages routes refuse the field."""
    result = prepared(b'{"model":"x","stream":true}', takes=False)

    assert result.is_stream
    assert b"stream_options" not in result.body


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(st.sampled_from(["model", "stream", "a", "b", "}"]), json_values))
def test_every_other_field_means_the_same_afterwards(document):
    """Whatever a client sends, appended fields change only themselves."""
    body = json.dumps(document).encode()

    changed = json.loads(prepared(body).body)

    ours = {"model", "stream_options"}
    assert {k: v for k, v in changed.items() if k not in ours} == {
        k: v for k, v in document.items() if k not in ours
    }
    if document.get("model") is not None:
        assert changed["model"] == document["model"]
    else:
        assert changed["model"] == "smollm2"


def test_no_alias_hides_the_name_that_is_served():
    """An alias from before a switch would send every request into a 404."""
    body = b'{"model":"smollm2"}'

    found = prepare(
        read(body),
        served_name="smollm2",
        takes_stream_options=True,
        aliases={"smollm2": "nobody"},
    )

    assert found.body == body
    assert found.meant == "smollm2"


def test_an_alias_is_sent_as_the_model_that_is_meant():
    """Clients that insist on a name of their own."""
    aliases = {"gpt-4o": "", "mini": "other"}

    def asked(name: str):
        body = json.dumps({"model": name, "messages": []}).encode()
        return prepare(
            read(body), served_name="smollm2", takes_stream_options=True, aliases=aliases
        )

    for name, meant in (("gpt-4o", "smollm2"), ("mini", "other")):
        made = asked(name)
        assert (made.model, made.meant) == (name, meant)
        assert json.loads(made.body)["model"] == meant
    assert json.loads(asked("smollm2").body)["model"] == "smollm2"
    assert asked("nobody").meant == "nobody"


def test_what_is_changed_for_the_engine_is_said_and_goes_first():
    """Usage and model are then asked of the body that is sent."""
    seen = []

    def adjust(body, fields):
        seen.append(sorted(fields))
        new = b'{"stream": true, "n": 1}'
        return Adjusted(
            body=new,
            fields=msgspec.json.decode(new, type=dict[str, msgspec.Raw]),
            notes=("rule: done",),
        )

    made = prepare(read(b'{"a": 1}'), served_name="m", takes_stream_options=True, adjust=adjust)

    assert seen == [["a"]]
    assert made.notes == ("rule: done",)
    assert made.is_stream
    assert json.loads(made.body)["stream_options"] == {"include_usage": True}
    broken = prepare(read(b"no json"), served_name="m", takes_stream_options=True, adjust=adjust)
    assert (broken.body, broken.notes, len(seen)) == (b"no json", (), 1)


def test_what_was_changed_is_not_copied_again_when_it_is_large():
    """The end of a changed body is written beside it, too."""
    changed = b'{"messages":["' + b"A" * (2 << 20) + b'"]}'

    def adjust(_body, fields):
        return Adjusted(body=changed, fields=fields, notes=("rule: done",))

    asked = read(bytearray(b'{"messages":[]}'))
    made = prepare(asked, served_name="m", takes_stream_options=True, adjust=adjust)

    first = made.pieces[0]
    assert isinstance(first, memoryview)
    assert first.obj is changed
    assert json.loads(made.body)["model"] == "m"


@pytest.mark.parametrize("blanks", [b"", b" ", b"\n" * 5_000])
@pytest.mark.parametrize("size", [10, 2 << 20])
def test_an_end_is_changed_without_a_copy_of_what_is_large(size, blanks):
    """Pictures come as text inside the body: ten at once must not be held twice."""
    picture = b"A" * size
    for start in (b'{"messages":["' + picture + b'"]', b" " * size + b"{"):
        body = start + blanks + b"}" + blanks

        made = prepared(body)

        document = json.loads(b"".join(made.pieces))
        assert document["model"] == "smollm2"
        assert document.get("messages", [picture.decode()]) == [picture.decode()]
        first = made.pieces[0]
        is_shared = isinstance(first, memoryview) and first.obj is body
        assert is_shared == (size > 1 << 20)
        assert made.body == b"".join(made.pieces)
