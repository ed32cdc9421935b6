"""Bad input of clients and of engines at the gateway: each is answered in words, none is a fault.

What is no HTTP is in tests/host (tests/data/http/refused.toml); thousands more are in test_fuzz.
"""

import json
from collections.abc import Iterator

import pytest

from studio.gateway.engine import EngineTarget
from studio.host.http_client import Upstream
from studio.host.http_server import Exchange
from tests.fakes.running import Running, fake
from tests.gateway.recordings import recorded
from tests.host.http_support import client as raw_client

CHAT = "/v1/chat/completions"
EVENTS = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


@pytest.fixture(scope="module")
def engine() -> Iterator[Running]:
    """Return a fake vLLM in a process of its own, which answers as the real one was seen to."""
    with fake(served_name="smollm2") as made:
        yield made


@pytest.fixture
def real(setup, engine):
    """Return the gateway before that engine."""
    place = engine.engine
    target = EngineTarget(
        upstream=Upstream(socket_path=place.path), key=place.key, served_name="smollm2"
    )
    setup.target = target
    yield setup
    target.upstream.close()


@pytest.mark.parametrize("path", [CHAT, "/v1/completions", "/v1/messages", "/v1/responses"])
@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b'{"messages":[', "application/json", 400),
        (b'{"messages":[]}}', "application/json", 400),
        (b"[]", "application/json", 400),
        (b"null", "application/json", 400),
        (b"", "application/json", 400),
        (b'{"messages":"\xff\xfe"}', "application/json", 400),
        (b"[" * 100_000, "application/json", 400),
        (b'{"messages":[],"prompt":"x"}', "text/plain", 400),
        (b'{"messages":[],"prompt":"x"}', "", 400),
        (b"messages=x", "application/x-www-form-urlencoded", 400),
        (b'{"model":"gpt-9","messages":[],"prompt":"x","input":"x","max_tokens":1}',
         "application/json", 404),
    ],
)  # fmt: skip
async def test_a_body_that_cannot_be_read_gets_the_engines_own_words(
    real, path, body, kind, status
):
    """Malformed JSON, invalid UTF-8, wrong content types, unknown models: it says what is wrong."""
    async with real.client() as client:
        answer = await client.post(path, content=body, headers={"Content-Type": kind})

    if body.startswith(b"[["):
        assert answer.status_code in {400, 502}, "a parser that gives up, here or there"
        return
    assert answer.status_code == status
    assert "x-weir-error" not in answer.headers
    assert answer.json()["error"]["message"]


@pytest.mark.parametrize(
    "headers",
    [
        {"Cookie": "KEY"},
        {"Proxy-Authorization": "Bearer KEY"},
        {"X-Auth-Token": "KEY"},
        {"Api-Key": "KEY"},
        {"Authorization": "KEY"},
        {"Authorization": "Basic KEY"},
        {"Authorization": "Token KEY"},
    ],
)
@pytest.mark.parametrize("query", ["", "?key=KEY", "?api_key=KEY"])
async def test_a_key_in_another_place_is_no_key(setup, headers, query):
    """Addresses end up in logs, cookies are sent by browsers without being asked."""
    sent = {name: value.replace("KEY", setup.key) for name, value in headers.items()}
    async with setup.client(**sent) as client:
        answer = await client.post(CHAT + query.replace("KEY", setup.key), json={"messages": []})

    assert (answer.status_code, answer.headers["x-weir-error"]) == (401, "key-missing")
    assert setup.engine.received == []


async def test_http_1_0_is_answered_and_its_stream_ends_with_the_connection(setup):
    """Old proxies and scripts; no chunks, which they do not know."""
    head = f"POST {CHAT} HTTP/1.0\r\nHost: localhost\r\nx-api-key: {setup.key}\r\n"
    body = b'{"stream":true,"stream_options":{"include_usage":true}}'
    async with raw_client(setup.port) as raw:
        await raw.send(head.encode() + b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        status, headers = await raw.head()
        rest = await raw.rest()

    assert (status, headers["connection"]) == (200, "close")
    assert "transfer-encoding" not in headers
    assert rest == recorded("chat-stream").body


async def test_pipelined_requests_are_answered_in_their_order(setup):
    """A stream, a refusal and a whole answer, sent in one go."""
    key = f"Host: localhost\r\nx-api-key: {setup.key}\r\n"
    stream = b'{"stream":true,"stream_options":{"include_usage":true}}'
    data = f"POST {CHAT} HTTP/1.1\r\n{key}Content-Length: {len(stream)}\r\n\r\n".encode() + stream
    data += b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n"
    data += f"POST /v1/messages HTTP/1.1\r\n{key}Content-Length: 2\r\n\r\n{{}}".encode()
    async with raw_client(setup.port) as raw:
        await raw.send(data)
        seen = [await raw.answer() for _ in range(3)]

    assert [one.status for one in seen] == [200, 401, 200]
    assert seen[0].body == recorded("chat-stream").body
    assert seen[2].body == recorded("messages").body


NONSENSE = [
    b"SPAM\r\n\r\n",
    b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nabcdef",
    b"HTTP/1.1 200 OK\r\ncontent-length: -5\r\n\r\n",
    b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nxyz\r\n",
    b"HTTP/1.1 99999 OK\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nbad header\r\n\r\n",
    b"\x16\x03\x01\x02\x00",
]


@pytest.mark.parametrize("said", NONSENSE)
@pytest.mark.parametrize("path", [CHAT, "/v1/messages"])
async def test_an_engine_that_speaks_no_http_gives_502(setup, said, path):
    """Something else listens there, or its memory is damaged."""

    async def nonsense(exchange: Exchange) -> None:
        exchange._wire.send(said)
        exchange.abort()

    setup.engine.act = nonsense
    answer = await setup.post(path, {"messages": []})

    assert answer.status_code == 502
    assert answer.headers["x-weir-error"] in {"engine-nonsense", "engine-cut-off"}
    assert answer.json()["error"]["message"]


@pytest.mark.parametrize("said", [b"zz\r\nnonsense", b"5\r\ndata:\r\nffffffffffffffffff\r\n"])
@pytest.mark.parametrize("path", [CHAT, "/v1/messages", "/v1/responses"])
async def test_nonsense_in_a_stream_ends_it_with_an_error_event(setup, said, path):
    """Never a silent cut."""

    async def broken(exchange: Exchange) -> None:
        exchange._wire.send(EVENTS + b"8\r\ndata: {}\r\n2\r\n\n\n\r\n" + said)
        await exchange.gone()

    setup.engine.act = broken
    answer = await setup.post(path, {"stream": True, "messages": []})

    assert answer.status_code == 200
    last = [line for line in answer.text.splitlines() if '"error"' in line][-1]
    assert json.loads(last.removeprefix("data: "))["error"]["message"]
    assert setup.records[0].code == "engine-nonsense"


async def test_answers_of_no_known_kind_pass_as_they_are(setup):
    """No JSON, no type, an empty body, another charset: the engine's affair."""
    for headers, body in (
        ([], b""),
        ([(b"content-type", b"text/html")], b"<html>"),
        ([(b"content-type", b"application/json; charset=utf-16")], "{}".encode("utf-16")),
        ([(b"content-type", b"application/json")], b'{"usage":{"prompt_tokens":"many"}}'),
    ):

        async def act(exchange: Exchange, headers=headers, body=body) -> None:
            exchange.respond(200, headers, body)

        setup.engine.act = act
        answer = await setup.post(CHAT, {"messages": []})
        assert (answer.status_code, answer.content) == (200, body)
