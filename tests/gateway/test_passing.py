"""What passes the gateway unchanged, how soon a leaving reaches the engine, how much is held.

The requests are those that clients make; what the real engine says to them is in tests/e2e.
"""

import asyncio
import base64
import gc
import json
import time
import tracemalloc

import pytest

from studio.host.http_server import Exchange
from tests.fakes.waiting import BUSY_TRIES, until_async
from tests.gateway.recordings import recorded
from tests.host.http_support import client as raw_client

CHAT = "/v1/chat/completions"
EVENTS = [(b"content-type", b"text/event-stream")]
SAID = [{"role": "user", "content": "What is this?"}]
PICTURE = {
    "type": "image_url",
    "image_url": {"url": "data:image/png;base64," + base64.b64encode(bytes(range(256))).decode()},
}
SOUND = {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}}
TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
SCHEMA = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object"}}}
PROGRESS = b'data: {"choices":[],"prompt_progress":{"total":900,"cache":0,"processed":%d}}\n\n'
TOKEN = b'data: {"choices":[{"index":0,"delta":{"content":"word"}}]}\n\n'
LEFT_WITHIN_S = 0.05


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("path", "asked"),
    [
        (CHAT, {"n": 3, "temperature": 1.5, "seed": 7}),
        (CHAT, {"logprobs": True, "top_logprobs": 5, "prompt_logprobs": 1}),
        (CHAT, {"tools": [TOOL], "tool_choice": "auto", "parallel_tool_calls": False}),
        (CHAT, {"response_format": SCHEMA, "structured_outputs": {"regex": "a+"}}),
        (CHAT, {"messages": [{"role": "user", "content": [PICTURE, SOUND]}]}),
        (CHAT, {"return_progress": True, "chat_template_kwargs": {"enable_thinking": False}}),
        (CHAT, {"messages": [{"role": "user", "content": "\u0000\u2028\U0001f680 \\u00e9"}]}),
        ("/v1/completions", {"prompt": ["a", "b"], "n": 2, "echo": True, "logprobs": 1}),
        ("/v1/completions", {"prompt": [1, 2, 3], "max_tokens": 1}),
        ("/v1/messages", {"tools": [{"name": "f", "input_schema": {}}], "thinking": {}}),
        ("/v1/responses", {"input": [{"role": "user", "content": "x"}], "store": False}),
    ],
)  # fmt: skip
async def test_what_a_client_asks_is_what_the_engine_hears(setup, path, asked, stream):
    """Choices, probabilities, tools, schemas, pictures, sounds, extensions: none is known here."""
    body = {"model": "smollm2", "messages": SAID, "max_tokens": 9, "stream": stream, **asked}

    answer = await setup.post(path, body)

    assert answer.status_code == 200
    heard = setup.engine.received[0].json
    assert {name: heard[name] for name in body} == body
    assert heard.keys() - body.keys() <= {"stream_options"}


@pytest.mark.parametrize(
    ("options", "is_wanted", "heard"),
    [
        ("absent", False, {"include_usage": True}),
        (None, False, {"include_usage": True}),
        ({}, False, {"include_usage": True}),
        ({"include_usage": False}, False, {"include_usage": True}),
        ({"include_usage": None}, False, {"include_usage": True}),
        ({"include_usage": True}, True, {"include_usage": True}),
        (
            {"include_usage": True, "continuous_usage_stats": True},
            True,
            {"include_usage": True, "continuous_usage_stats": True},
        ),
        (
            {"continuous_usage_stats": True},
            False,
            {"include_usage": True, "continuous_usage_stats": False},
        ),
        ({"include_obfuscation": False}, False,
         {"include_obfuscation": False, "include_usage": True}),
        ("nonsense", True, "nonsense"),
        ([1], True, [1]),
    ],
)  # fmt: skip
async def test_a_stream_shows_the_usage_that_was_asked_for_and_no_other(
    setup, options, is_wanted, heard
):
    """Every way to write it; the figures are counted each time."""
    body = {"model": "smollm2", "messages": SAID, "stream": True}
    if options != "absent":
        body["stream_options"] = options

    answer = await setup.post(CHAT, body)

    whole = recorded("chat-stream").body
    usage = next(event for event in recorded("chat-stream").events if b'"choices":[]' in event)
    is_asked = isinstance(heard, dict)
    expected = whole if is_asked and is_wanted else whole.replace(usage, b"")
    assert answer.content == expected
    assert setup.engine.received[0].json["stream_options"] == heard
    if is_asked:
        assert setup.keys.list()[0].generated_tokens == 8


async def test_how_far_the_prompt_is_passes_and_is_no_token(setup):
    """The time to the first token is to the first token, not to the first sign of life."""
    go_on = asyncio.Event()

    async def slowly(exchange: Exchange) -> None:
        exchange.start(200, EVENTS)
        exchange.write(PROGRESS % 300)
        exchange.write(PROGRESS % 600)
        await go_on.wait()
        exchange.write(TOKEN)
        exchange.write(TOKEN)
        await exchange.gone()

    setup.engine.act = slowly
    body = b'{"stream":true,"return_progress":true}'
    async with raw_client(setup.port) as raw:
        await raw.send(request(setup, body=body))
        await raw.head()
        seen = await raw.reader.readuntil(b'"processed":600}}\n\n')
        asked_at = time.perf_counter()
        await until_async(lambda: time.perf_counter() - asked_at > 0.05, "a while")
        go_on.set()
        seen += await raw.reader.readuntil(b"word")
        await raw.reader.readuntil(b"word")
        raw.writer.transport.abort()
        await setup.gateway.wait_idle()

    assert seen.count(b"prompt_progress") == 2
    record = setup.records[0]
    assert record.ttft_s is not None
    assert record.ttft_s > 0.05
    assert record.is_estimated
    assert record.tokens.generated <= 2, "two words came; progress is none"


async def test_timings_beside_the_usage_are_not_taken_away_with_it(setup):
    """An engine with per-request metrics puts them into the event that would be dropped."""
    usage = (
        b'data: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":1},'
        b'"metrics":{"time_to_first_token_ms":12.5}}\n\n'
    )

    async def timed(exchange: Exchange) -> None:
        exchange.start(200, EVENTS)
        for event in (TOKEN, usage, b"data: [DONE]\n\n"):
            exchange.write(event)
        exchange.end()

    setup.engine.act = timed
    answer = await setup.post(CHAT, {"stream": True})

    assert answer.content == TOKEN + usage + b"data: [DONE]\n\n"
    assert setup.keys.list()[0].prompt_tokens == 5


async def test_a_recording_of_50_megabytes_passes_whole(setup):
    """Audio comes as a form, which is not looked into."""
    setup.gateway._body_limit_bytes = 100 << 20
    sound = bytes(range(256)) * (200 << 10)
    async with setup.client() as client:
        answer = await client.post(
            "/v1/audio/transcriptions",
            files={"file": ("größe.wav", sound, "audio/wav")},
            data={"model": "whisper"},
        )

    (received,) = setup.engine.received
    assert answer.status_code == 404, "as the recorded engine, which does not hear, says"
    assert sound in received.body
    assert received.headers["content-type"].startswith("multipart/form-data")


def request(setup, path: str = CHAT, body: bytes = b'{"stream":true}') -> bytes:
    """Return a request for a raw connection."""
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {setup.key}\r\n"
    return head.encode() + b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


@pytest.mark.parametrize("is_second", [False, True])
@pytest.mark.parametrize("way", ["closes", "resets", "closes half"])
@pytest.mark.parametrize("phase", ["prefill", "stream", "whole"])
async def test_the_engine_is_told_within_50_ms(setup, phase, way, is_second):
    """However and whenever a client leaves, also on a connection that it has used before."""
    began, gone = asyncio.Event(), asyncio.Event()
    told_s: list[float] = []

    async def slow(exchange: Exchange) -> None:
        exchange.on_gone(lambda: told_s.append(time.perf_counter()))
        if phase == "stream":
            exchange.start(200, EVENTS)
            exchange.write(TOKEN)
        elif phase == "whole":
            exchange.start(200, [(b"content-type", b"application/json")])
            exchange.write(b'{"choices":[')
        began.set()
        await exchange.gone()
        gone.set()

    answered = setup.engine.act

    async def leave() -> float:
        began.clear()
        gone.clear()
        async with raw_client(setup.port) as raw:
            if is_second:
                setup.engine.act = answered
                await raw.send(request(setup, body=b"{}"))
                await raw.answer()
            setup.engine.act = slow
            await raw.send(request(setup))
            if phase == "stream":
                await raw.reader.readuntil(TOKEN)
            await began.wait()
            left_s = time.perf_counter()
            if way == "resets":
                raw.writer.transport.abort()
            elif way == "closes":
                raw.writer.close()
            else:
                raw.writer.write_eof()
            async with asyncio.timeout(30):
                await gone.wait()
                await setup.gateway.wait_idle()
        return told_s[-1] - left_s

    after_s = [await leave()]
    while min(after_s) >= LEFT_WITHIN_S and len(after_s) < BUSY_TRIES:
        after_s.append(await leave())

    assert min(after_s) < LEFT_WITHIN_S
    assert setup.records[-1].has_client_left


async def test_readers_that_stop_reading_hold_64_kb_each_and_one_read_more(setup):
    """Forty laptops whose lids were closed in the middle of an answer."""
    piece = b"data: " + b"x" * 65_000 + b"\n\n"
    stopped: set[int] = set()

    async def flood(exchange: Exchange) -> None:
        exchange.start(200, EVENTS)
        while not exchange.is_gone:
            exchange.write(piece)
            if exchange.is_paused:
                stopped.add(id(exchange))
            await exchange.drain()
            await asyncio.sleep(0)

    setup.engine.act = flood
    async with asyncio.TaskGroup() as tasks:
        done = asyncio.Event()

        async def reader() -> None:
            async with raw_client(setup.port) as raw:
                raw.writer.transport.pause_reading()
                await raw.send(request(setup))
                await done.wait()

        for _ in range(40):
            tasks.create_task(reader())
        await until_async(lambda: len(stopped) == 40, "every engine to be held back")
        connections = setup.gateway._server._connections
        held = [one._transport.get_write_buffer_size() for one in connections]
        done.set()
    async with asyncio.timeout(30):
        await setup.gateway.wait_idle()

    assert len(held) == 40
    assert max(held) <= (64 << 10) + (256 << 10)


async def test_a_large_body_is_gone_with_its_request(setup):
    """Exchange, call and relay know one another; ten pictures must not wait for a collection."""
    setup.gateway._body_limit_bytes = 100 << 20

    async def swallow(exchange: Exchange) -> None:
        setup.engine.received.clear()
        exchange.respond(200, [(b"content-type", b"application/json")], b"{}")

    setup.engine.act = swallow
    body = json.dumps({"messages": [{"role": "user", "content": "x" * (4 << 20)}]}).encode()
    gc.disable()
    tracemalloc.start()
    try:
        async with raw_client(setup.port) as raw:
            for _ in range(10):
                await raw.send(request(setup, body=body))
                assert (await raw.answer()).status == 200
            await setup.gateway.wait_idle()
            held = [one.size for one in tracemalloc.take_snapshot().traces if one.size > 1 << 20]
    finally:
        tracemalloc.stop()
        gc.enable()

    assert sum(held) < 3 * len(body), "the client's, and at most the last one's"
