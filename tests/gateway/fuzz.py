"""Requests that no client should send, and an engine that answers as no engine should.

Hypothesis draws them, so that a failure shrinks to its least form.
"""

import asyncio
import contextlib
import dataclasses
import enum
import itertools
import json
import re

from hypothesis import strategies as st

from studio.gateway.routes import passing
from studio.host.http_server import Exchange
from tests.gateway.engine_support import Engine

KEY = b"KEY-OF-THE-TEST"
"""Stands for the key, which is not known when requests are drawn."""
ANSWER_S = 10.0
_FIRST_S, _MORE_S = 0.2, 0.01
_ANSWER = re.compile(rb"HTTP/1\.1 (\d{3}) [^\r\n]*\r\n((?:[^\r\n]+\r\n)*)\r\n")


class End(enum.StrEnum):
    """What the client does after it has sent what it sends."""

    WAIT = "wait"
    LEAVE = "leave"
    RESET = "reset"


class Mood(enum.StrEnum):
    """How the engine behaves."""

    WELL = "well"
    DEAD = "dead"
    CUT = "cut"
    NONSENSE = "nonsense"


@dataclasses.dataclass(frozen=True)
class Attack:
    """What is sent on one connection, piece by piece."""

    pieces: tuple[bytes, ...]
    end: End
    mood: Mood


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=12,
)
_FIELDS = st.sampled_from(
    [
        "model", "messages", "prompt", "input", "stream", "stream_options", "max_tokens", "n",
        "tools", "response_format", "temperature", "include_usage", "", "\u0000", "}",
    ]
)  # fmt: skip
_KNOWN = st.sampled_from(
    [
        {"model": "smollm2", "messages": [{"role": "user", "content": "x"}]},
        {"messages": [], "stream": True},
        {"model": "gpt-9", "stream": True, "stream_options": {"include_usage": True}},
        {"prompt": "x", "stream": "true"},
        {"input": "x", "stream": 1},
    ]
)
_READ_HERE = st.fixed_dictionaries(
    {"messages": st.just([])},
    optional={
        "model": st.sampled_from(["smollm2", "gpt-4o", "", None]) | _JSON,
        "stream": st.sampled_from([True, "true", 1, "True", False]) | _JSON,
        "stream_options": st.dictionaries(_FIELDS, _JSON, max_size=2) | _JSON,
        "max_tokens": _JSON,
    },
)
"""What the gateway itself looks at."""
_WRITTEN = _READ_HERE.map(lambda value: json.dumps(value).encode("utf-8", "surrogatepass"))
_BODIES = st.one_of(
    _WRITTEN,
    _WRITTEN,
    _WRITTEN,
    st.tuples(_KNOWN, st.dictionaries(_FIELDS, _JSON, max_size=3)).map(
        lambda two: json.dumps(two[0] | two[1]).encode("utf-8", "surrogatepass")
    ),
    _JSON.map(lambda value: json.dumps(value).encode("utf-8", "surrogatepass")),
    st.binary(max_size=200),
    st.sampled_from(
        [
            b"", b"{", b"{}}", b'{"model":"a","model":"b"}', b"[" * 20_000, b'{"a":' * 5_000,
            b'{"stream":true,"x":"' + b"y" * 300_000 + b'"}', b"\xff\xfe{\x00}\x00", b'"\xed\xa0"',
            b'{"max_tokens":1e999,"n":' + b"9" * 5_000 + b"}", b"\xef\xbb\xbf{}", b"NaN", b"  ",
        ]
    ),
)  # fmt: skip
_PATHS = st.one_of(
    st.sampled_from([route.name for route in passing()] + ["/", "/v1/models", "/v1/models/x"]),
    st.sampled_from(
        [
            "*", "//v1/models", "/v1/../metrics", "/metrics", "/v1/chat/completions/", "/%2e%2e",
            "http://evil.example/v1/models", "/v1/chat/completions?" + "q=1&" * 200,
            "/v1/responses/" + "a" * 129, "/v1/models/%00", "/v1/models/%ff%fe", "", "?", "/#",
        ]
    ),
    st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=30).map("/".__add__),
)  # fmt: skip
_HEADERS = st.sampled_from(
    [
        b"Host: 127.0.0.1", b"Host: localhost:1", b"Host: evil.example", b"Host:", b"host: [::1]",
        b"Authorization: Bearer " + KEY, b"authorization: bearer  " + KEY, b"x-api-key: " + KEY,
        b"Authorization: Basic " + KEY, b"Authorization: Bearer sk-weir-wrong", b"Cookie: " + KEY,
        b"Content-Type: application/json", b"Content-Type: text/plain", b"Content-Type: \xff",
        b"Expect: 100-continue", b"Expect: nonsense", b"Connection: close", b"Connection: upgrade",
        b"Upgrade: websocket", b"Upgrade: h2c", b"Origin: http://evil.example", b"Origin: null",
        b"X-Request-Id: " + b"a" * 500, b"X-A: " + b"b" * 40_000, b"X-A:b", b"X-A : b", b" folded",
        b"X-A: \x00", b"X-A: \r", b"TE: trailers", b"Trailer: host", b"Content-Encoding: gzip",
        b"anthropic-version: 2023-06-01", b"Accept-Encoding: gzip", b"Content-Length: 5", b": x",
        b"Transfer-Encoding: gzip, chunked", b"Transfer-Encoding: chunked, chunked", b"\xc3\xa9: x",
    ]
)  # fmt: skip
_METHODS = st.sampled_from(
    [b"POST"] * 6 + [b"GET"] * 3 + [b"HEAD", b"OPTIONS", b"PUT", b"DELETE", b"PRI", b"get", b"\xff"]
)
_VERSIONS = st.sampled_from(
    [b"HTTP/1.1"] * 8 + [b"HTTP/1.0", b"HTTP/0.9", b"HTTP/2.0", b"HTTP/9", b"ICY", b""]
)


class Level(enum.IntEnum):
    """How far a client goes: what one level refuses, the next never sees."""

    CONTENT = 0
    """Plain HTTP, to a route that there is, with a key: only the body is odd."""
    HEADERS = 1
    WIRE = 2


_LEVELS = st.sampled_from([Level.CONTENT] * 6 + [Level.HEADERS] * 2 + [Level.WIRE] * 3)


@st.composite
def _framed(draw: st.DrawFn, level: Level) -> tuple[list[bytes], bytes]:
    """Return headers and body, of which the former may lie about the latter."""
    body = draw(_BODIES)
    kinds = ["length", "length", "chunks"]
    kind = draw(st.sampled_from([*kinds, "lie", "bad chunks", "none"] if level else kinds))
    match kind:
        case "length":
            return [b"Content-Length: %d" % len(body)], body
        case "lie":
            told = draw(st.sampled_from([0, 1, len(body) + 1, 200 << 20, 2**63, -1]))
            return [b"Content-Length: %d" % told], body
        case "none":
            return [], body
    size = draw(st.sampled_from([1, 7, 4096, 1 << 20]))
    size = max(size, len(body) // 500 + 1)
    chunks = [body[start : start + size] for start in range(0, len(body), size)]
    framed = b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"
    if kind == "bad chunks":
        lies = [b"f" * 18 + b"\r\n", b"-1\r\n", b"5;x\r\nab", b"\r\n", b"0x5\r\n"]
        framed = draw(st.sampled_from(lies)) + framed
    return [b"Transfer-Encoding: chunked"], framed


@st.composite
def _request(draw: st.DrawFn, level: Level) -> bytes:
    framing, body = draw(_framed(level))
    headers = [b"Host: 127.0.0.1", b"Authorization: Bearer " + KEY]
    headers += [b"Content-Type: application/json", *framing]
    if level is Level.CONTENT:
        routes = [one.name for one in passing() if one.method == "POST"]
        target = draw(st.sampled_from([*routes, *(["/v1/chat/completions"] * len(routes))]))
        target = target.replace("{id}", "resp_1")
        line = b"POST %b HTTP/1.1" % target.encode()
    else:
        headers += draw(st.lists(_HEADERS, max_size=3))
        if draw(st.booleans()):
            headers = [one for one in headers if not one.startswith(b"Host: 127")]
            headers.append(draw(_HEADERS))
        version = draw(_VERSIONS) if level is Level.WIRE else b"HTTP/1.1"
        method = draw(_METHODS) if level is Level.WIRE else draw(st.sampled_from([b"POST", b"GET"]))
        line = b"%b %b %b" % (method, draw(_PATHS).encode("latin-1", "replace"), version)
    return b"\r\n".join([line, *headers]) + b"\r\n\r\n" + body


@st.composite
def attacks(draw: st.DrawFn) -> Attack:
    """Return what one client does."""
    level = draw(_LEVELS)
    data = bytearray(b"".join(draw(st.lists(_request(level), min_size=1, max_size=3))))
    if level is Level.WIRE and draw(st.booleans()):
        for _ in range(draw(st.integers(1, 3))):
            data[draw(st.integers(0, len(data) - 1))] = draw(st.integers(0, 255))
    if draw(st.sampled_from([False] * 19 + [True])):
        del data[-draw(st.integers(1, len(data) - 1)) :]
    cuts = sorted(draw(st.lists(st.integers(0, len(data)), max_size=3)))
    places = [0, *cuts, len(data)]
    pieces = [bytes(data[a:b]) for a, b in itertools.pairwise(places)]
    return Attack(
        pieces=tuple(piece for piece in pieces if piece),
        end=draw(st.sampled_from([End.WAIT] * 8 + [End.LEAVE, End.RESET])),
        mood=draw(st.sampled_from([Mood.WELL] * 8 + [Mood.DEAD, Mood.CUT, Mood.NONSENSE])),
    )


def behave(engine: Engine, mood: Mood) -> None:
    """Let the engine be in a mood."""

    async def act(exchange: Exchange) -> None:
        if mood is Mood.CUT:
            exchange.start(200, [(b"content-type", b"text/event-stream")])
            exchange.write(b'data: {"choices":[{"delta":{"content":"half')
        elif mood is Mood.NONSENSE:
            exchange._wire.send(b"SPAM/1.1 fine\r\n\r\n")
        exchange.abort()

    engine.act = None if mood is Mood.WELL else act


async def send(port: int, key: str, attack: Attack) -> bytes:
    """Send it all and return what came back; raises TimeoutError where nothing ever ends."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        async with asyncio.timeout(ANSWER_S):
            return await _talk(reader, writer, attack, key.encode())
    finally:
        writer.transport.abort()


async def _talk(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, attack: Attack, key: bytes
) -> bytes:
    try:
        for piece in attack.pieces:
            writer.write(piece.replace(KEY, key))
            await asyncio.sleep(0)
        if attack.end is End.RESET:
            return b""
        seen = b""
        if attack.end is End.WAIT:
            with contextlib.suppress(TimeoutError):  # it waits for more, or for the next request
                while not reader.at_eof():
                    async with asyncio.timeout(_MORE_S if seen else _FIRST_S):
                        seen += await reader.read(1 << 16)
        writer.write_eof()
        return seen + await reader.read()
    except ConnectionError:
        return b""


def answers(seen: bytes) -> list[tuple[int, str | None]]:
    """Return status and code of the gateway's own of each answer; the last one may be cut off.

    Raises: AssertionError for bytes that are no answer.
    """
    found = []
    while seen:
        match = _ANSWER.match(seen)
        assert match is not None, seen[:200]
        status = int(match[1])
        lines = [line.partition(b": ") for line in match[2].split(b"\r\n") if line]
        headers = {name.lower(): value for name, _, value in lines}
        code = headers.get(b"x-weir-error")
        if status >= 200:
            found.append((status, code.decode() if code is not None else None))
        seen = _after(seen[match.end() :], headers)
    return found


def _after(rest: bytes, headers: dict[bytes, bytes]) -> bytes:
    if b"content-length" in headers:
        length = int(headers[b"content-length"])
        is_bodiless = rest.startswith(b"HTTP/1.1 ")  # of HEAD
        return rest if is_bodiless else rest[length:]
    if headers.get(b"transfer-encoding") == b"chunked":
        while rest and not rest.startswith(b"HTTP/1.1 "):
            size, found, rest = rest.partition(b"\r\n")
            if not found:
                return b""
            length = int(size, 16)
            rest = rest[length + 2 :]
            if not length:
                return rest
        return rest
    return b"" if headers.get(b"connection") == b"close" else rest
