"""A loopback engine for measurements: answers at once, then streams 100 tok/s per stream.

Run as `python -m tests.bench.stub_engine SOCKET`; prints the TCP port that it also listens on.
Tokens leave by an absolute schedule, so a late one is not carried on to the next.
"""

import asyncio
import sys

import uvloop

from studio.host.http_server import Exchange, Server, serve

TOKENS_PER_S = 100.0
_JSON = [(b"content-type", b"application/json")]
_EVENTS = [(b"content-type", b"text/event-stream; charset=utf-8")]
_HEAD = b'{"id":"chatcmpl-5707b","object":"chat.completion'
_CHUNK = (
    b"data: " + _HEAD + b'.chunk","created":1795960477,"model":"stub","choices":[{"index":0,'
    b'"delta":{"content":" word"},"logprobs":null,"finish_reason":null,"token_ids":null}]}\n\n'
)
_USAGE = b'"usage":{"prompt_tokens":37,"total_tokens":%d,"completion_tokens":%d}'


class _Stream:
    """One answer under way, driven by timers alone."""

    def __init__(self, exchange: Exchange, tokens: int, *, has_usage: bool) -> None:
        self._exchange = exchange
        self._tokens = tokens
        self._has_usage = has_usage
        self._sent = 0
        self._loop = asyncio.get_running_loop()
        self._began_s = self._loop.time()
        self._done = self._loop.create_future()

    async def run(self) -> None:
        self._exchange.start(200, _EVENTS)
        self._step()
        await self._done

    def _step(self) -> None:
        if self._exchange.is_gone:
            self._done.set_result(None)
            return
        self._exchange.write(_CHUNK)
        self._sent += 1
        if self._sent < self._tokens:
            self._loop.call_at(self._began_s + self._sent / TOKENS_PER_S, self._step)
            return
        if self._has_usage:
            usage = _USAGE % (37 + self._tokens, self._tokens)
            self._exchange.write(b"data: " + _HEAD + b'.chunk","choices":[],' + usage + b"}\n\n")
        self._exchange.write(b"data: [DONE]\n\n")
        self._exchange.end()
        self._done.set_result(None)


def _number(body: bytes, name: bytes) -> int:
    """Return the number behind `name`; a JSON parser would cost more than the rest of the stub."""
    _, _, rest = body.partition(b'"' + name + b'":')
    digits = rest.lstrip()[:9].split(b",")[0].split(b"}")[0]
    return int(digits) if digits.strip().isdigit() else 8


async def handle(exchange: Exchange) -> None:
    """Answer a chat request."""
    body = await exchange.body(1 << 20)
    tokens = _number(body, b"max_tokens")
    if b'"stream":true' in body:
        await _Stream(exchange, tokens, has_usage=b'"include_usage":true' in body).run()
        return
    usage = _USAGE % (37 + tokens, tokens)
    exchange.respond(
        200,
        _JSON,
        _HEAD + b'","choices":[{"index":0,"message":{"role":"assistant","content":"word"},'
        b'"finish_reason":"stop"}],' + usage + b"}",
    )


async def _main(socket_path: str) -> None:
    server: Server = await serve(handle)
    unix = await asyncio.get_running_loop().create_unix_server(
        server.connection, socket_path, backlog=4096
    )
    sys.stdout.write(f"{server.port}\n")
    sys.stdout.flush()
    async with unix:
        await unix.serve_forever()


if __name__ == "__main__":
    uvloop.run(_main(sys.argv[1]))
