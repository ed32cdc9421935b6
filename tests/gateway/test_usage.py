"""Tokens come from what the engine says, and a stream passes unchanged while it is watched."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.gateway.usage import StreamTap, Tokens, answer_tokens, engine_reason, tail_tokens
from tests.gateway.recordings import recorded

STREAMS = {
    "chat-stream": Tokens(prompt=37, cached=0, generated=8),
    "chat-stream-length": Tokens(prompt=38, cached=0, generated=12),
    "chat-stream-continuous-usage": Tokens(prompt=33, cached=0, generated=12),
    "completions-stream": Tokens(prompt=5, cached=0, generated=8),
    "messages-stream": Tokens(prompt=37, cached=0, generated=8),
    "responses-stream": Tokens(prompt=37, cached=0, generated=8),
}
WHOLE = {
    "chat": Tokens(prompt=37, cached=0, generated=8),
    "completions": Tokens(prompt=5, cached=0, generated=8),
    "messages": Tokens(prompt=37, cached=0, generated=8),
    "responses": Tokens(prompt=37, cached=0, generated=8),
    "messages-count-tokens": Tokens(),
    "models": Tokens(),
    "err-400-too-long": Tokens(),
}


def cut(data: bytes, seed: int) -> list[bytes]:
    """Return `data` in random pieces."""
    source = random.Random(seed)
    pieces = []
    while data:
        size = source.choice((1, 2, 3, 10, 100, 1000))
        pieces.append(data[:size])
        data = data[size:]
    return pieces


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize("seed", range(8))
def test_a_stream_passes_byte_for_byte_however_it_is_cut(name, seed):
    """A client that asked for usage itself gets exactly what the engine said."""
    body = recorded(name).body
    tap = StreamTap(hides_usage=False)

    for piece in cut(body, seed):
        assert tap.feed(piece) == piece
    assert tap.finish() == b""

    assert tap.tokens == STREAMS[name]
    assert not tap.has_error


@pytest.mark.parametrize("name", ["chat-stream", "chat-stream-length", "completions-stream"])
@pytest.mark.parametrize("seed", range(8))
def test_only_the_usage_event_is_dropped_when_the_client_did_not_ask(name, seed):
    """The gateway's own question must not be seen in the answer."""
    events = recorded(name).events
    expected = b"".join(event for event in events if b'"usage"' not in event)
    assert len(expected) < len(b"".join(events))
    tap = StreamTap(hides_usage=True)

    passed = b"".join(tap.feed(piece) for piece in cut(b"".join(events), seed)) + tap.finish()

    assert passed == expected
    assert passed.endswith(b"data: [DONE]\n\n")
    assert tap.tokens == STREAMS[name]


def test_whole_events_are_never_held_back():
    """Hiding must not cost a single token a moment."""
    tap = StreamTap(hides_usage=True)
    for event in recorded("chat-stream").events:
        passed = tap.feed(event)
        assert passed == (b"" if b'"usage"' in event else event)


def test_words_that_look_like_usage_are_content():
    """A model that writes about APIs must not have its words counted or dropped."""
    event = (
        rb'data: {"choices":[{"delta":{"content":"{\"choices\":[],\"usage\":'
        rb'{\"prompt_tokens\":9}}"}}]}' + b"\n\n"
    )
    tap = StreamTap(hides_usage=True)

    assert tap.feed(event) == event
    assert tap.tokens == Tokens()


@pytest.mark.parametrize("ending", [b"\r\n\r\n", b"\n\n"])
def test_other_line_ends_of_the_event_format_are_understood(ending):
    """The format allows both; another engine may use the other."""
    usage = b'data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}' + ending
    word = b'data: {"choices":[{"delta":{"content":"a"}}]}' + ending
    tap = StreamTap(hides_usage=True)

    assert tap.feed(word) + tap.feed(usage) + tap.feed(word) + tap.finish() == word + word
    assert tap.tokens == Tokens(prompt=1, generated=2)


def test_an_error_event_of_the_engine_is_seen():
    """The status was 200 long ago; the request failed all the same."""
    event = b'data: {"error": {"message": "EngineCore encountered an issue.", "code": 500}}\n\n'
    tap = StreamTap(hides_usage=False)

    assert tap.feed(event) == event
    assert tap.has_error
    assert tap.is_of_dead_engine


@pytest.mark.parametrize("size", [1, 40, 10_000])
def test_an_error_and_what_follows_it_are_no_tokens(size):
    """The estimate of a broken answer counts the events before the error."""
    word = b'data: {"choices":[{"delta":{"content":"a"}}]}\n\n'
    error = b'data: {"error": {"message": "The wheel came off.", "code": 500}}\n\n'
    stream = word * 3 + error + b"data: [DONE]\n\n"
    tap = StreamTap(hides_usage=True)

    for start in range(0, len(stream), size):
        tap.feed(stream[start : start + size])

    assert tap.events == 3
    assert tap.has_error
    assert not tap.is_of_dead_engine


def test_an_event_that_is_larger_than_memory_allows_passes_unread():
    """Figures are worth less than the service."""
    tap = StreamTap(hides_usage=True)
    piece = b"x" * (1 << 20)

    passed = sum(len(tap.feed(piece)) for _ in range(20)) + len(tap.finish())

    assert passed == 20 * len(piece)


@pytest.mark.parametrize("name", WHOLE)
def test_whole_answers_are_counted(name):
    """Not streamed, the same figures."""
    assert answer_tokens(recorded(name).body) == WHOLE[name]


def test_cached_tokens_are_part_of_the_prompt_in_both_dialects():
    """Anthropic's input_tokens leaves cached ones out, OpenAI's prompt_tokens has them in."""
    openai = (
        b'{"usage":{"prompt_tokens":100,"completion_tokens":5,'
        b'"prompt_tokens_details":{"cached_tokens":64}}}'
    )
    anthropic = (
        b'{"usage":{"input_tokens":36,"output_tokens":5,'
        b'"cache_read_input_tokens":64,"cache_creation_input_tokens":0}}'
    )
    responses = (
        b'{"usage":{"input_tokens":100,"output_tokens":5,'
        b'"input_tokens_details":{"cached_tokens":64}}}'
    )
    expected = Tokens(prompt=100, cached=64, generated=5)

    assert [answer_tokens(body) for body in (openai, anthropic, responses)] == [expected] * 3


def test_the_end_of_a_large_answer_is_enough():
    """Embeddings of a whole book are larger than what is kept of an answer."""
    tail = (
        b'0.25,0.5]}],"usage":{"prompt_tokens":7,"total_tokens":7,"completion_tokens":0,'
        b'"prompt_tokens_details":{"cached_tokens":1}}}'
    )

    assert tail_tokens(tail) == Tokens(prompt=7, cached=1, generated=0)
    assert tail_tokens(b"no figures here }}}") == Tokens()
    assert tail_tokens(b"") == Tokens()


@given(
    st.lists(
        st.binary(max_size=60)
        | st.sampled_from(
            [
                b'"usage"',
                b'"error"',
                b"data: {",
                b"\n\n",
                b"\r\n\r\n",
                b"[[[[",
                b'"choices":[]',
                b"}}",
            ]
        )
    ),
    st.booleans(),
)
def test_nonsense_is_never_lost_and_never_raises(pieces, hides):
    """Whatever an engine says, a client gets it."""
    tap = StreamTap(hides_usage=hides)

    passed = b"".join(tap.feed(piece) for piece in pieces) + tap.finish()

    if tap.tokens == Tokens():
        assert passed == b"".join(pieces)
    assert answer_tokens(b"".join(pieces)) is not None
    assert tail_tokens(b"".join(pieces)) is not None


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (b'{"error": {"message": "n must be at least 1, got 0."}}', "n must be at least 1, got 0."),
        (b'{"detail": "Not\\n  Found"}', "Not Found"),
        (b'{"object": "error", "message": "Too long."}', "Too long."),
        (
            (
                b"{\"error\": {\"message\": \"1 validation error: {'type': 'missing', 'loc': "
                b"'body.tools.0.function', 'msg': 'Field required', 'input': 'words'}\"}}"
            ),
            (
                "1 validation error: {'type': 'missing', 'loc': 'body.tools.0.function', 'msg': "
                "'Field required"
            ),
        ),
        (
            (
                b'{"error": {"message": "1 validation error for ValidatorIterator 0 Input should be'
                b" a valid dictionary [type=dict_type, input_value='words', input_type=str]\"}}"
            ),
            (
                "1 validation error for ValidatorIterator 0 Input should be a valid dictionary "
                "[type=dict_type"
            ),
        ),
        (b'{"error": {"message": 5}}', None),
        (b'{"error": {"message": ""}}', None),
        (b"<html>", None),
        (b"[]", None),
        (b"", None),
    ],
)
def test_an_engines_reason_is_kept_without_what_people_wrote(answer, reason):
    """The list of requests says why, and holds no prompt."""
    assert engine_reason(answer) == reason


def test_a_reason_is_short_and_holds_no_key():
    """It stands in a table."""
    long = engine_reason(b'{"error": {"message": "%s sk-weir-0123456789abcdef"}}' % (b"x" * 150))

    assert len(long) <= 200
    assert "0123456789" not in long


def test_a_stream_that_ends_with_an_error_says_why():
    """As an answer does that is not streamed."""
    tap = StreamTap(hides_usage=False)
    tap.feed(b'data: {"choices": []}\n\n')
    tap.feed(b'data: {"error": {"message": "Out of memory."}}\n\n')

    assert tap.reason == "Out of memory."
