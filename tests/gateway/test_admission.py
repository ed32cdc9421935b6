"""What a key may do, asked of a gateway with an engine behind it."""

import asyncio
import time

import pytest

from studio.domain.keys import KeyLimits, UsageBy
from studio.gateway.usage import StreamTap
from studio.host.http_server import Exchange
from tests.gateway.recordings import recorded

CHAT = "/v1/chat/completions"
MESSAGES = "/v1/messages"
ASKED = {"model": "smollm2", "messages": [{"role": "user", "content": "hello"}]}


def code_of(answer) -> str:
    """Return the gateway's code of a refusal."""
    return answer.headers.get("x-weir-error", "")


async def limited(setup, **limits):
    """Return a client whose key has these limits."""
    made = await setup.keys.create("limited", KeyLimits(**limits))
    return setup.client(Authorization=f"Bearer {made.key}")


@pytest.mark.parametrize(
    ("limits", "path", "body", "status", "code"),
    [
        ({"routes": ("anthropic",)}, CHAT, ASKED, 403, "key-route"),
        ({"routes": ("anthropic",)}, MESSAGES, ASKED, 200, ""),
        ({"addresses": ("10.0.0.0/8",)}, CHAT, ASKED, 403, "key-address"),
        ({"addresses": ("127.0.0.0/8",)}, CHAT, ASKED, 200, ""),
        ({"models": ("other",)}, CHAT, ASKED, 403, "key-model"),
        ({"models": ("other",)}, CHAT, {"messages": []}, 403, "key-model"),
        ({"models": ("smollm2",)}, CHAT, {"messages": []}, 200, ""),
        ({"models": ("smollm2",)}, CHAT, ASKED, 200, ""),
    ],
)
async def test_a_key_does_what_it_may_and_nothing_else(setup, limits, path, body, status, code):
    """A model that is not named is the one that is served."""
    client = await limited(setup, **limits)
    async with client:
        answer = await client.post(path, json=body)

    assert (answer.status_code, code_of(answer)) == (status, code)
    assert (len(setup.engine.received) == 1) == (status == 200)


async def test_the_list_of_models_shows_those_of_the_key(setup):
    """A client's menu holds what the client may choose."""
    async with await limited(setup, models=("other",)) as client:
        listed = await client.get("/v1/models")
        shown = await client.get("/v1/models/smollm2")

    assert listed.json()["data"] == []
    assert shown.status_code == 404


async def test_a_key_that_ended_is_refused_with_the_day(setup, monkeypatch):
    """Nobody has to remember to revoke it."""
    client = await limited(setup, expires_at="1h")
    async with client:
        assert (await client.post(CHAT, json=ASKED)).status_code == 200
        later_s = time.time() + 3601
        monkeypatch.setattr("studio.gateway.admission.time.time", lambda: later_s)
        answer = await client.post(CHAT, json=ASKED)

    assert (answer.status_code, code_of(answer)) == (401, "key-expired")


async def test_requests_a_minute_are_those_of_any_60_seconds(setup, monkeypatch):
    """Not of a minute on the clock, at whose turn twice as many would pass."""
    now_s = 1000.0
    monkeypatch.setattr("studio.gateway.admission.time.monotonic", lambda: now_s)
    async with await limited(setup, requests_per_minute=2) as client:
        assert (await client.post(CHAT, json=ASKED)).status_code == 200
        now_s = 1030.0
        assert (await client.post(CHAT, json=ASKED)).status_code == 200
        now_s = 1059.5
        refused = await client.post(CHAT, json=ASKED)
        now_s = 1060.0
        again = await client.post(CHAT, json=ASKED)

    assert (refused.status_code, code_of(refused)) == (429, "key-rate")
    assert refused.headers["retry-after"] == "1"
    assert again.status_code == 200


async def test_tokens_of_a_day_warn_first_and_end_then(setup):
    """An agent that runs all night costs at most so much."""
    async with await limited(setup, tokens_per_day=100, warn_tokens_per_day=30) as client:
        first = await client.post(CHAT, json=ASKED)
        second = await client.post(CHAT, json=ASKED)
        third = await client.post(CHAT, json=ASKED)
        last = await client.post(CHAT, json=ASKED)

    spent = first.json()["usage"]["total_tokens"]
    assert 30 <= spent < 50 <= 2 * spent < 100 <= 3 * spent
    assert "x-weir-warning" not in first.headers
    assert second.headers["x-weir-warning"] == f"{spent} tokens used today, warned from 30"
    assert third.status_code == 200
    assert (last.status_code, code_of(last)) == (429, "key-spent")
    assert 0 < int(last.headers["retry-after"]) <= 25 * 3600


async def test_revoking_at_once_ends_answers_that_run(setup):
    """A leaked key must stop spending now, with an error that the client understands."""
    started, left = asyncio.Event(), asyncio.Event()

    async def endless(exchange: Exchange) -> None:
        answer = recorded("chat-stream")
        exchange.on_gone(left.set)
        exchange.start(200, answer.headers)
        for event in answer.events[:3]:
            exchange.write(event)
        started.set()
        await left.wait()

    setup.engine.act = endless
    made = await setup.keys.create("leaked")
    async with (
        setup.client(Authorization=f"Bearer {made.key}") as client,
        client.stream("POST", CHAT, json={**ASKED, "stream": True}) as answer,
    ):
        await started.wait()
        await setup.keys.revoke("leaked")
        assert setup.keys.cut(made.info.id) == 1
        text = (await answer.aread()).decode()
        async with asyncio.timeout(30):
            await left.wait()

    assert '"code":"key-revoked"' in text
    assert text.endswith("data: [DONE]\n\n")
    (entry,) = await setup.keys.requests(key_id=made.info.id, count=5, errors_only=True)
    assert (entry.code, entry.is_estimated) == ("key-revoked", True)
    assert entry.generated_tokens == 2
    assert setup.keys.cut(made.info.id) == 0


async def test_an_answer_that_nobody_waited_for_is_counted_as_an_estimate(setup):
    """Its tokens were spent all the same."""
    await setup.post(CHAT, ASKED)  # teaches how many bytes a token has here
    left = asyncio.Event()

    async def endless(exchange: Exchange) -> None:
        exchange.on_gone(left.set)
        await left.wait()

    setup.engine.act = endless
    async with setup.client() as client:
        asking = asyncio.ensure_future(client.post(CHAT, json=ASKED))
        while len(setup.engine.received) < 2:
            await asyncio.sleep(0)
        asking.cancel()
        await asyncio.wait([asking])
    async with asyncio.timeout(30):
        await left.wait()
        while len(setup.records) < 2:
            await asyncio.sleep(0)

    whole, cut = setup.records
    assert (whole.is_estimated, cut.is_estimated) == (False, True)
    assert cut.tokens.prompt == whole.tokens.prompt
    assert cut.tokens.generated == 0
    (row,) = await setup.keys.used(key_id=None, since_s=0, until_s=2e9, by=UsageBy.KEY)
    assert (row.requests, row.estimated) == (2, 1)


async def test_a_client_that_leaves_after_the_last_event_is_counted_to_the_token(setup):
    """The official clients close at `[DONE]`, before the engine has ended its side."""
    left = asyncio.Event()

    async def lingering(exchange: Exchange) -> None:
        answer = recorded("chat-stream")
        exchange.on_gone(left.set)
        exchange.start(200, answer.headers)
        for event in answer.events:
            exchange.write(event)
        await left.wait()

    setup.engine.act = lingering
    body = {**ASKED, "stream": True, "stream_options": {"include_usage": True}}
    async with setup.client() as client, client.stream("POST", CHAT, json=body) as answer:
        async for line in answer.aiter_lines():
            if line == "data: [DONE]":
                break
    async with asyncio.timeout(30):
        await left.wait()
        while not setup.records:
            await asyncio.sleep(0)

    (record,) = setup.records
    assert (record.is_estimated, record.code) == (False, None)
    whole = (await setup.keys.used(key_id=None, since_s=0, until_s=2e9, by=UsageBy.KEY))[0]
    assert whole.estimated == 0
    assert record.tokens.generated is not None


def test_text_cannot_pass_for_the_end_of_a_stream():
    """A model that writes about streams must not end one."""
    tap = StreamTap(hides_usage=False)
    tap.feed(
        b'data: {"choices":[{"delta":{"content":"data: [DONE]\\n\\nevent: message_stop"}}]}\n\n'
    )
    assert not tap.is_whole
    tap.feed(b"event: message_st")
    assert not tap.is_whole
    tap.feed(b"op\ndata: {}\n\n")
    assert tap.is_whole
