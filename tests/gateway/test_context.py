"""A key's context: the engine counts the prompt, the answer gets what is left."""

import json

import pytest

from studio.domain.keys import KeyLimits
from studio.host.http_server import Exchange
from tests.gateway.recordings import recorded
from tests.gateway.test_admission import ASKED, CHAT, code_of, limited

MESSAGES = "/v1/messages"
RESPONSES = "/v1/responses"
COMPLETIONS = "/v1/completions"
EMBEDDINGS = "/v1/embeddings"
COUNTING = ("/tokenize", "/v1/messages/count_tokens")


def counts(setup, tokens: int, status: int = 200) -> None:
    """Let the engine count every prompt as so many tokens."""

    async def act(exchange: Exchange) -> None:
        if exchange.path in COUNTING:
            answer = {"count": tokens, "input_tokens": tokens}
            exchange.respond(status, [], json.dumps(answer).encode())
        else:
            exchange.respond(200, recorded("chat").headers, recorded("chat").body)

    setup.engine.act = act


@pytest.mark.parametrize(
    ("path", "body", "changed"),
    [
        (CHAT, ASKED, {"max_completion_tokens": 70}),
        (CHAT, {**ASKED, "max_tokens": 500}, {"max_tokens": 70}),
        (CHAT, {**ASKED, "max_tokens": 50}, {"max_tokens": 50}),
        (CHAT, {**ASKED, "max_completion_tokens": 71}, {"max_completion_tokens": 70}),
        (COMPLETIONS, {"prompt": "a b c"}, {"max_tokens": 70}),
        (COMPLETIONS, {"prompt": list(range(40)), "max_tokens": 1000}, {"max_tokens": 60}),
        (RESPONSES, {"input": "hello"}, {"max_output_tokens": 70}),
        (MESSAGES, {**ASKED, "max_tokens": 100}, {"max_tokens": 70}),
    ],
)
async def test_the_answer_gets_what_the_prompt_leaves(setup, path, body, changed):
    """In the field that the dialect has for it; what is shorter stays."""
    counts(setup, 30)
    async with await limited(setup, max_context=100) as client:
        answer = await client.post(path, json=body)

    assert answer.status_code == 200
    sent = setup.engine.received[-1]
    assert sent.path == path
    assert {name: sent.json[name] for name in changed} == changed
    assert {name: sent.json[name] for name in body if name not in changed} == {
        name: value for name, value in body.items() if name not in changed
    }


@pytest.mark.parametrize("path", [CHAT, COMPLETIONS, RESPONSES, MESSAGES])
async def test_a_prompt_that_leaves_no_room_is_refused_with_both_numbers(setup, path):
    """Before it takes any of the pool."""
    counts(setup, 100)
    async with await limited(setup, max_context=100) as client:
        answer = await client.post(path, json={**ASKED, "prompt": "x", "input": "x"})

    assert (answer.status_code, code_of(answer)) == (400, "key-context")
    assert "100" in answer.text
    assert [one.path for one in setup.engine.received if one.path not in COUNTING] == []


async def test_embeddings_need_no_room_for_an_answer_and_the_longest_counts(setup):
    """Each text is a context of its own."""
    lengths = iter([10, 100, 20, 101])

    async def act(exchange: Exchange) -> None:
        if exchange.path in COUNTING:
            exchange.respond(200, [], json.dumps({"count": next(lengths)}).encode())
        else:
            exchange.respond(200, [], b"{}")

    setup.engine.act = act
    async with await limited(setup, max_context=100) as client:
        fits = await client.post(EMBEDDINGS, json={"input": ["a", "b", "c"]})
        too_long = await client.post(EMBEDDINGS, json={"input": "d"})
        too_many = await client.post(EMBEDDINGS, json={"input": ["e"] * 257})

    assert fits.status_code == 200
    assert (too_long.status_code, too_many.status_code) == (400, 400)
    assert code_of(too_long) == code_of(too_many) == "key-context"


async def test_tools_and_template_values_are_counted_too(setup):
    """They are part of the prompt."""
    counts(setup, 30)
    tools = [{"type": "function", "function": {"name": "f"}}]
    body = {**ASKED, "tools": tools, "chat_template_kwargs": {"enable_thinking": False}}
    async with await limited(setup, max_context=100) as client:
        await client.post(CHAT, json=body)

    counted = setup.engine.received[0]
    assert counted.path == "/tokenize"
    assert counted.json == body
    assert counted.headers["authorization"].startswith("Bearer ")


@pytest.mark.parametrize("body", [b"no json", b"[1]", b'{"messages": 3}'])
async def test_what_the_engine_cannot_read_it_refuses_itself(setup, body):
    """Its own words say best what is wrong."""
    counts(setup, 30, status=400)
    async with await limited(setup, max_context=100) as client:
        answer = await client.post(CHAT, content=body)

    assert answer.status_code == 200  # the stand-in takes everything
    assert setup.engine.received[-1].body.startswith(body[:-1])


async def test_an_engine_that_cannot_count_lets_nothing_past_the_limit(setup):
    """A limit that is sometimes none is none."""
    counts(setup, 30, status=404)
    async with await limited(setup, max_context=100) as client:
        answer = await client.post(CHAT, json=ASKED)

    assert (answer.status_code, code_of(answer)) == (502, "context-unknown")


async def test_keys_without_the_limit_pay_nothing(setup):
    """No second request to the engine."""
    counts(setup, 30)
    made = await setup.keys.create("free", KeyLimits(max_concurrent=3))
    async with setup.client(Authorization=f"Bearer {made.key}") as client:
        await client.post(CHAT, json=ASKED)

    assert [one.path for one in setup.engine.received] == [CHAT]
