"""Shapes of prompts: the same for the same prompt however it is written, and without its text."""

import json
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.gateway import prompt_shape
from studio.gateway.prompt_shape import (
    DIGEST_BYTES,
    PIECE_CHARS,
    Hasher,
    Spot,
    build,
    common,
    piece_at,
    pieces,
)
from tests.gateway.prompt_support import HASHER, SYSTEM, body, built, talk


@given(st.text(max_size=2_000))
def test_pieces_are_the_text_and_never_wide(text: str) -> None:
    """A place is named by its piece, so that none may be lost or overlap."""
    found = list(pieces(text))

    assert "".join(found) == text
    assert all(0 < len(one) <= PIECE_CHARS for one in found)
    for number, piece in enumerate(found):
        assert piece_at(text, number)[0] == piece
        assert piece_at(text, number)[1] == sum(map(len, found[:number]))


@given(st.lists(st.binary(min_size=8, max_size=8)), st.lists(st.binary(min_size=8, max_size=8)))
def test_what_two_have_in_common_is_counted_whole(first: list[bytes], second: list[bytes]) -> None:
    """The binary search has to agree with going through one by one."""
    expected = 0
    while first[expected : expected + 1] == second[expected : expected + 1] != []:
        expected += 1

    assert common(b"".join(first), b"".join(second)) == expected


def test_a_shape_holds_no_text() -> None:
    """What is remembered for two hours must tell nobody what was asked."""
    shape = built(body(talk(3)), spot=Spot(None, 0)).shape

    kept = pickle.dumps(shape)

    for word in (b"Rule", b"brief", b"Question", b"what is", b"know"):
        assert word not in kept


def test_another_secret_gives_another_shape() -> None:
    """Without the secret nobody can try out which text a hash stands for."""
    first, second = Hasher(b"one").of(b"text"), Hasher(b"two").of(b"text")

    assert first != second
    assert len(first) == DIGEST_BYTES


def test_what_does_not_reach_the_prompt_is_no_difference() -> None:
    """Agents move the marker of the cache from message to message and turn texts into lists."""
    plain = talk(2)
    marked = [
        {**one, "content": [{"type": "text", "text": one["content"], "cache_control": {"t": 1}}]}
        for one in plain
    ]
    tool = {"name": "f", "input_schema": {"type": "object"}}

    first = built(body(plain, tools=[tool, tool])).shape
    second = built(
        body(marked, system=[{"type": "text", "text": SYSTEM, "cache_control": {}}],
             tools=[tool, {**tool, "cache_control": {"type": "ephemeral"}}])
    ).shape  # fmt: skip

    assert first.tools == second.tools
    assert first.system == second.system
    assert [one.digest for one in first.messages] == [one.digest for one in second.messages]


def test_all_dialects_have_the_same_head_and_messages() -> None:
    """A client is told the same whatever it speaks."""
    messages = talk(1)
    chat = json.dumps({"messages": [{"role": "system", "content": SYSTEM}, *messages]}).encode()
    responses = json.dumps({"instructions": SYSTEM, "input": messages}).encode()

    shapes = [
        built(body(messages)).shape,
        built(chat, "/v1/chat/completions").shape,
        built(responses, "/v1/responses").shape,
    ]

    assert len({one.system for one in shapes}) == 1
    assert len({tuple(m.digest for m in one.messages) for one in shapes}) == 1


def test_a_picture_counts_little_and_tells_apart() -> None:
    """A megabyte of base64 is a few hundred tokens, and another picture is another message."""

    def with_picture(data: str) -> prompt_shape.Shape:
        source = {"type": "base64", "media_type": "image/png", "data": data}
        picture = {"type": "image", "source": source}
        content = [picture, {"type": "text", "text": "What is this?"}]
        return built(body([{"role": "user", "content": content}])).shape

    first, second = with_picture("A" * 400_000), with_picture("B" * 400_000)

    assert first.messages[0].size < 10_000
    assert first.messages[0].digest != second.messages[0].digest


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"[]",
        b"nonsense",
        b'{"messages": 1}',
        b'{"messages": [1, null, "x"]}',
        b'{"messages": [{"role": 7}]}',
        b'{"messages": [{"role": "user", "content": [[[]]]}]}',
        b'{"messages": ' + b"[" * 5_000 + b"]" * 5_000 + b"}",
        b'{"messages": [' + b"{}," * 70_000 + b"{}]}",
        b'{"system": "\\ud800", "messages": []}',
        b'{"messages": [{"role": "user", "content": "\xff\xfe"}]}',
    ],
)
def test_hostile_bodies_have_a_shape_or_none_and_raise_nothing(raw: bytes) -> None:
    """The doctor looks at whatever strangers with a key send."""
    for _ in build(raw, "/v1/messages", HASHER):
        pass


def test_pieces_and_memory_are_bounded() -> None:
    """A prompt of a million lines is remembered in some tens of kilobytes."""
    shape = built(
        body([{"role": "user", "content": "x\n" * 400_000}], system="y\n" * 400_000)
    ).shape

    kept = len(shape.system) + sum(len(one.pieces or b"") for one in shape.messages)
    assert kept <= 40_000
    assert len(shape.sample) <= 4_000
