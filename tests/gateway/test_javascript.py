"""OpenAI's JavaScript client against gateway and engine: what browsers, editors and agents use.

The engine answers with what the real one answered; tests/e2e has the same cases with the real one.
"""

import asyncio
import json

import pytest

from studio.host.http_server import Exchange
from tests.fakes import javascript
from tests.fakes.javascript import JavaScript
from tests.gateway.engine_support import Setup
from tests.gateway.recordings import recorded

PARIS = "The capital of France is Paris."
EVENTS = [(b"content-type", b"text/event-stream")]

pytestmark = pytest.mark.skipif(javascript.missing() is not None, reason=str(javascript.missing()))


@pytest.fixture(scope="session")
def client() -> JavaScript:
    """Return the client."""
    return javascript.install()


async def run(client: JavaScript, setup: Setup, *cases: str) -> dict[str, dict[str, object]]:
    """Return what the client made of each case."""
    argv = client.argv(f"http://127.0.0.1:{setup.port}/v1", setup.key, *cases)
    process = await asyncio.create_subprocess_exec(
        *argv, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(120):
        out, errors = await process.communicate()
    assert process.returncode == 0, errors.decode()
    found = json.loads(out)
    assert isinstance(found, dict)
    return found


async def test_the_javascript_client_reads_every_answer(client: JavaScript, setup: Setup) -> None:
    """Chats, streams, tools, structure, responses and models, each by the client's own types."""
    found = await run(
        client, setup, "chat", "stream", "stream_with_usage", "stream_helper", "tool",
        "tool_stream", "schema", "responses", "models",
    )  # fmt: skip

    assert found == {
        "chat": {"text": PARIS, "reason": "stop", "has_usage": True, "has_id": True},
        "stream": {"text": PARIS, "usages": 0},
        "stream_with_usage": {"choices": 0, "has_usage": True},
        "stream_helper": {"text": PARIS, "has_deltas": True},
        "tool": {"name": "get_weather", "type": "function"},
        "tool_stream": {"name": "get_weather"},
        "schema": {"kind": "string"},
        "responses": {
            "text": PARIS,
            "streamed": PARIS,
            "first": "response.created",
            "last": "response.completed",
        },
        "models": {"listed": True, "shown": "smollm2"},
    }
    assert all(record.code is None for record in setup.records)


async def test_errors_become_the_javascript_clients_own(client: JavaScript, setup: Setup) -> None:
    """Programs decide by kind, status and code what to do next."""
    found = await run(client, setup, "wrong_key", "unknown_model", "out_of_range", "unknown_route")

    assert found == {
        "wrong_key": {"kind": "AuthenticationError", "status": 401, "code": "key-refused"},
        "unknown_model": {"kind": "NotFoundError", "status": 404, "code": 404},
        "out_of_range": {"kind": "BadRequestError", "status": 400, "code": 400},
        "unknown_route": {"kind": "NotFoundError", "status": 404, "code": "route-unknown"},
    }


async def test_the_javascript_client_throws_when_the_engine_dies_in_a_stream(
    client: JavaScript, setup: Setup
) -> None:
    """Half an answer must not look like a whole one."""

    async def die(exchange: Exchange) -> None:
        exchange.start(200, EVENTS)
        for event in recorded("chat-stream").events[:3]:
            exchange.write(event)
        await asyncio.sleep(0)
        exchange.abort()

    setup.engine.act = die
    found = await run(client, setup, "dies_in_stream")

    assert found["dies_in_stream"]["kind"] == "APIError"
    assert found["dies_in_stream"]["code"] == "engine-cut-off"


async def test_a_stream_that_the_javascript_client_leaves_ends_at_the_engine(
    client: JavaScript, setup: Setup
) -> None:
    """`break` in a loop over a stream aborts it."""
    gone = asyncio.Event()

    async def endless(exchange: Exchange) -> None:
        exchange.start(200, EVENTS)
        exchange.write(recorded("chat-stream").events[0])
        exchange.write(recorded("chat-stream").events[1])
        await exchange.gone()
        gone.set()

    setup.engine.act = endless
    assert (await run(client, setup, "leaves"))["leaves"] == {"left": True}

    async with asyncio.timeout(30):
        await gone.wait()
