"""Requests on their way to the engine and answers on their way back."""

import asyncio
import json

import anthropic
import openai
import pytest

from studio.gateway.proxy import KEPT_BYTES, engine_headers
from studio.host.http_server import Exchange
from tests.fakes.waiting import BUSY_TRIES
from tests.gateway.recordings import recorded
from tests.host.http_support import client as raw_client

CHAT = "/v1/chat/completions"
EVENTS = [(b"content-type", b"text/event-stream; charset=utf-8")]
JSON = [(b"content-type", b"application/json")]
STREAMED = [
    (CHAT, "chat-stream"),
    ("/v1/completions", "completions-stream"),
    ("/v1/responses", "responses-stream"),
    ("/v1/messages", "messages-stream"),
]


def openai_client(setup) -> openai.AsyncOpenAI:
    """Return the official client, told to try once only."""
    base_url = f"http://127.0.0.1:{setup.port}/v1"
    return openai.AsyncOpenAI(base_url=base_url, api_key=setup.key, max_retries=0)


def request(setup, path: str = CHAT, body: bytes = b'{"stream":true}') -> bytes:
    """Return a request for a raw connection."""
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {setup.key}\r\n"
    return head.encode() + b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


@pytest.mark.parametrize(("path", "name"), STREAMED)
async def test_a_stream_is_the_engines_byte_for_byte(setup, path, name):
    """No re-serialisation: what the engine can say, clients can hear."""
    setup.engine.name = name
    body = {"stream": True, "stream_options": {"include_usage": True}, "model": "smollm2"}
    answer = await setup.post(path, body)

    assert answer.content == recorded(name).body
    assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert "server" not in answer.headers


@pytest.mark.parametrize(("path", "name"), STREAMED[:2])
async def test_usage_is_asked_for_and_hidden_when_the_client_did_not(setup, path, name):
    """Counted to the token, and nobody sees that it was."""
    answer = await setup.post(path, {"stream": True})

    engine = setup.engine.received[0].json
    assert engine["stream_options"] == {"include_usage": True}
    expected = b"".join(event for event in recorded(name).events if b'"usage"' not in event)
    assert answer.content == expected
    assert setup.keys.list()[0].generated_tokens == 8


@pytest.mark.parametrize(
    ("path", "name"),
    [
        (CHAT, "chat"),
        (CHAT, "err-400-too-long"),
        (CHAT, "err-404-model"),
        (CHAT, "err-400-bad-json"),
        ("/v1/messages", "messages"),
        ("/v1/messages", "messages-err-404"),
        ("/v1/messages/count_tokens", "messages-count-tokens"),
        ("/v1/responses", "responses"),
    ],
)
async def test_whole_answers_and_the_engines_own_errors_pass_unchanged(setup, path, name):
    """The engine's sentence about a too long prompt is the best there is."""
    setup.engine.name = name
    answer = await setup.post(path, {"model": "x"})

    assert answer.content == recorded(name).body
    assert answer.status_code == recorded(name).status
    assert "x-weir-error" not in answer.headers


@pytest.mark.parametrize(
    ("name", "path", "status", "code"),
    [
        ("err-401-chat", CHAT, 502, "engine-refused-key"),
        ("err-401-chat", "/v1/messages", 502, "engine-refused-key"),
        ("not-found", "/v1/embeddings", 404, "route-not-served"),
        ("err-405", "/v1/responses", 404, "route-not-served"),
    ],
)
async def test_errors_that_no_client_understands_are_said_anew(setup, name, path, status, code):
    """A 401 of the engine would tell a client that its own key is wrong."""
    setup.engine.name = name
    answer = await setup.post(path, {"model": "x"})

    assert (answer.status_code, answer.headers["x-weir-error"]) == (status, code)
    assert answer.json()["error"]["message"]
    assert setup.keys.list()[0].errors == 1


@pytest.mark.parametrize("path", [path for path, _ in STREAMED])
async def test_an_engine_that_dies_in_a_stream_ends_it_with_an_error_event(setup, path):
    """A silent cut looks like a short answer, and agents act on it."""
    first = recorded(dict(STREAMED)[path]).events[0]

    async def die(exchange: Exchange) -> None:
        exchange.start(200, EVENTS)
        exchange.write(first)
        exchange.abort()

    setup.engine.act = die
    async with raw_client(setup.port) as raw:
        await raw.send(request(setup, path, b'{"stream":true,"model":"x"}'))
        answer = await raw.answer()  # the framing is whole: no error of transport

    assert answer.status == 200
    assert answer.body.startswith(first)
    last = answer.body.removeprefix(first).split(b"\n\n")[0]
    error = json.loads(last.partition(b"data: ")[2])["error"]
    assert "closed the connection" in error["message"]
    assert setup.keys.list()[0].errors == 1
    assert setup.records[0].code == "engine-cut-off"


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("EngineCore encountered an issue. See stack trace (above).", "engine-cut-off"),
        ("The wheel came off.", "engine-error"),
    ],
)
async def test_an_error_that_the_engine_puts_into_a_stream_is_no_success(setup, message, code):
    """Status 200 went out long ago; what was made is charged, and the list shows the failure."""
    word = b'data: {"choices":[{"delta":{"content":"a"}}]}\n\n'
    error = json.dumps({"error": {"message": message, "code": 500}}).encode()
    ending = b"data: " + error + b"\n\ndata: [DONE]\n\n"

    async def die(exchange: Exchange) -> None:
        exchange.start(200, EVENTS)
        for piece in (word, word, word, ending):
            exchange.write(piece)
        exchange.end()

    setup.engine.act = die
    body = {"stream": True, "messages": [{"role": "user", "content": "x" * 400}]}
    answer = await setup.post(CHAT, body)

    assert answer.content == word * 3 + ending
    (shown,) = await setup.keys.requests(key_id=None, count=10, errors_only=True)
    assert (shown.status, shown.code, shown.is_estimated) == (200, code, True)
    assert shown.generated_tokens == 2
    assert shown.prompt_tokens is not None
    key = setup.keys.list()[0]
    assert key.errors == 1
    spent = setup.keys.usage.spent_today(key.id, setup.records[0].at)
    assert spent == shown.prompt_tokens + 2


async def test_an_engine_that_dies_within_an_event_does_not_spoil_the_error(setup):
    """The error must be an event of its own, not the end of half a one."""

    async def die(exchange: Exchange) -> None:
        exchange.start(200, EVENTS)
        exchange.write(b'data: {"choices":[{"delta":{"content":"ha')
        exchange.abort()

    setup.engine.act = die
    for options in ('{"include_usage":true}', "null"):
        body = f'{{"stream":true,"stream_options":{options}}}'.encode()
        async with raw_client(setup.port) as raw:
            await raw.send(request(setup, CHAT, body))
            events = (await raw.answer()).body.split(b"\n\n")
        assert events[-3].startswith(b'data: {"error"')
        assert events[-2] == b"data: [DONE]"


@pytest.mark.parametrize("path", [CHAT, "/v1/messages"])
@pytest.mark.parametrize("has_begun", [True, False])
async def test_an_engine_that_dies_before_a_whole_answer_gives_502(setup, path, has_begun):
    """Half a JSON document is no answer."""

    async def die(exchange: Exchange) -> None:
        if has_begun:
            exchange.start(200, [*JSON, (b"content-length", b"100")])
            exchange.write(b'{"id":')
        exchange.abort()

    setup.engine.act = die
    answer = await setup.post(path)

    assert (answer.status_code, answer.headers["x-weir-error"]) == (502, "engine-cut-off")
    assert answer.json()["error"]["message"]


async def test_an_engine_that_is_gone_gives_503(setup):
    """Between a crash and the supervisor's notice there is a moment."""
    await setup.engine.close()
    answer = await setup.post(CHAT)
    await setup.engine.open()

    assert (answer.status_code, answer.headers["x-weir-error"]) == (503, "engine-unreachable")
    assert (await setup.post(CHAT)).status_code == 200


@pytest.mark.parametrize("is_stream", [True, False])
async def test_the_engine_hears_within_50_ms_that_a_client_left(setup, is_stream):
    """Tokens for nobody cost everybody else."""
    began, ended = asyncio.Event(), asyncio.Event()
    now_s = asyncio.get_running_loop().time
    heard_s: list[float] = []

    async def slow(exchange: Exchange) -> None:
        if is_stream:
            exchange.start(200, EVENTS)
            exchange.write(b"data: {}\n\n")
        began.set()
        await exchange.gone()
        heard_s.append(now_s())
        ended.set()

    setup.engine.act = slow
    after_s: list[float] = []
    while not after_s or (min(after_s) >= 0.05 and len(after_s) < BUSY_TRIES):
        began.clear()
        ended.clear()
        async with raw_client(setup.port) as raw:
            await raw.send(request(setup))
            await began.wait()
            left_s = now_s()
            raw.writer.transport.abort()
            async with asyncio.timeout(30):
                await ended.wait()
                await setup.gateway.wait_idle()
        after_s.append(heard_s[-1] - left_s)

    assert min(after_s) < 0.05
    record = setup.records[0]
    assert record.has_client_left
    assert setup.keys.list()[0].errors == 0


async def test_pieces_pass_one_by_one_and_not_later(setup):
    """The first token is on the client's screen while the second is still being made."""
    more = asyncio.Event()

    async def two(exchange: Exchange) -> None:
        exchange.start(200, EVENTS)
        exchange.write(b"data: one\n\n")
        await more.wait()
        exchange.write(b"data: two\n\n")
        exchange.end()

    setup.engine.act = two
    async with raw_client(setup.port) as raw:
        await raw.send(request(setup))
        await raw.head()
        assert await raw.reader.readexactly(16) == b"b\r\ndata: one\n\n\r\n"
        more.set()
        assert await raw.reader.readexactly(16) == b"b\r\ndata: two\n\n\r\n"


async def test_a_slow_client_slows_the_engine_and_fills_no_memory(setup):
    """Forty slow readers must not cost the Studio its memory."""
    stopped = asyncio.Event()
    piece = b"data: " + b"x" * 65_000 + b"\n\n"

    async def flood(exchange: Exchange) -> None:
        exchange.start(200, EVENTS)
        for _ in range(320):
            exchange.write(piece)
            if exchange.is_paused:
                stopped.set()
            await exchange.drain()
        exchange.end()

    setup.engine.act = flood
    async with raw_client(setup.port) as raw:
        raw.writer.transport.pause_reading()
        await raw.send(request(setup))
        async with asyncio.timeout(30):
            await stopped.wait()
        raw.writer.transport.resume_reading()

        assert (await raw.answer()).body == piece * 320


async def test_a_large_answer_passes_without_being_kept(setup):
    """Embeddings of a book; counted all the same."""
    usage = b'],"usage":{"prompt_tokens":9,"total_tokens":9,"completion_tokens":0}}'
    body = b'{"data":[' + b"0," * (KEPT_BYTES // 2) + b"0" + usage

    async def large(exchange: Exchange) -> None:
        exchange.respond(200, JSON, body)

    async def chunked(exchange: Exchange) -> None:
        exchange.start(200, JSON)
        for start in range(0, len(body), 1 << 16):
            exchange.write(body[start : start + (1 << 16)])
            await exchange.drain()
        exchange.end()

    for act in (large, chunked):
        setup.engine.act = act
        assert (await setup.post("/v1/embeddings", {"input": "x"})).content == body
    assert setup.keys.list()[0].prompt_tokens == 18


async def test_a_large_answer_that_breaks_off_is_cut_not_ended(setup):
    """Its end was promised by Content-Length, so a client can tell."""

    async def die(exchange: Exchange) -> None:
        exchange.start(200, [*JSON, (b"content-length", b"%d" % (2 * KEPT_BYTES))])
        exchange.write(b"x" * 1000)
        exchange.abort()

    setup.engine.act = die
    async with raw_client(setup.port) as raw:
        await raw.send(request(setup, "/v1/embeddings", b"{}"))
        status, headers = await raw.head()
        assert (status, headers["content-length"]) == (200, str(2 * KEPT_BYTES))
        assert len(await raw.rest()) < 2 * KEPT_BYTES


async def test_queries_and_the_dialects_headers_reach_the_engine(setup):
    """Coding agents send `?beta=true` and beta headers, and resume responses by query."""
    headers = {"anthropic-version": "2023-06-01", "anthropic-beta": "tools", "Accept": "x"}
    await setup.post("/v1/messages?beta=true", {"messages": []}, **headers)
    async with setup.client() as client:
        await client.get("/v1/responses/resp_1?stream=true&starting_after=3")

    first, second = setup.engine.received
    assert (first.path, first.query) == ("/v1/messages", "beta=true")
    assert first.json["model"] == "smollm2"
    assert headers.items() >= {("anthropic-beta", first.headers["anthropic-beta"])}
    assert (second.method, second.path) == ("GET", "/v1/responses/resp_1")
    assert second.query == "stream=true&starting_after=3"


def test_headers_for_one_hop_or_for_us_stay_here():
    """`Connection: x-secret` names more of them, as HTTP says."""
    given = [
        (b"host", b"localhost"),
        (b"connection", b"keep-alive, X-Hop"),
        (b"x-hop", b"1"),
        (b"accept-encoding", b"gzip"),
        (b"cookie", b"a=b"),
        (b"authorization", b"Bearer client"),
        (b"content-length", b"5"),
        (b"content-type", b"application/json"),
        (b"anthropic-version", b"2023-06-01"),
    ]

    assert engine_headers(given, key="boot", request_id="r1") == [
        (b"content-type", b"application/json"),
        (b"anthropic-version", b"2023-06-01"),
        (b"authorization", b"Bearer boot"),
        (b"x-request-id", b"r1"),
    ]


async def test_the_official_clients_read_answers_streams_and_errors(setup):
    """What they raise on and what they show is what users see."""
    base = f"http://127.0.0.1:{setup.port}"
    ask = [{"role": "user", "content": "What is the capital of France?"}]
    async with openai.AsyncOpenAI(
        base_url=f"{base}/v1", api_key=setup.key, max_retries=0
    ) as client:
        whole = await client.chat.completions.create(model="smollm2", messages=ask)
        stream = await client.chat.completions.create(model="smollm2", messages=ask, stream=True)
        words = [chunk.choices[0].delta.content or "" async for chunk in stream]
        assert whole.choices[0].message.content == "The capital of France is Paris."
        assert "".join(words) == "The capital of France is Paris."
        with pytest.raises(openai.AuthenticationError):
            await client.with_options(api_key="wrong").models.list()
    async with anthropic.AsyncAnthropic(base_url=base, api_key=setup.key, max_retries=0) as client:
        async with client.messages.stream(model="smollm2", max_tokens=9, messages=ask) as told:
            assert await told.get_final_text() == "The capital of France is Paris."
        with pytest.raises(anthropic.AuthenticationError):
            await client.with_options(api_key="wrong").messages.create(
                model="smollm2", max_tokens=9, messages=ask
            )


async def test_the_official_clients_raise_when_the_engine_dies_in_a_stream(setup):
    """A broken answer must not be taken for a finished one."""
    base = f"http://127.0.0.1:{setup.port}"
    ask = [{"role": "user", "content": "x"}]
    events = {path: recorded(name).events[:3] for path, name in STREAMED}

    async def die(exchange: Exchange) -> None:
        exchange.start(200, EVENTS)
        exchange.write(b"".join(events[exchange.path]))
        exchange.abort()

    setup.engine.act = die
    async with openai.AsyncOpenAI(
        base_url=f"{base}/v1", api_key=setup.key, max_retries=0
    ) as client:
        stream = await client.chat.completions.create(model="x", messages=ask, stream=True)
        with pytest.raises(openai.APIError):
            _ = [chunk async for chunk in stream]
        responses = await client.responses.create(model="x", input="x", stream=True)
        with pytest.raises(openai.APIError):
            _ = [event async for event in responses]
    async with anthropic.AsyncAnthropic(base_url=base, api_key=setup.key, max_retries=0) as client:
        with pytest.raises(anthropic.APIError):
            async with client.messages.stream(model="x", max_tokens=9, messages=ask) as told:
                await told.get_final_text()
