"""One request, over a real socket."""

import itertools

import pytest

from studio.benchmark import texts
from studio.benchmark.answer import Engine
from studio.domain.errors import BadInput, EngineFailed, EngineNotReady
from studio.host.http_client import Upstream
from studio.host.http_server import Exchange, serve
from tests.benchmark.engines import EVENTS, Stand, standing
from tests.benchmark.samples import LOAD
from tests.fakes.weir import free_port

PROMPT = texts.task(LOAD.texts, 0)


async def test_pieces_have_their_times_and_tokens_are_the_engines() -> None:
    """What a client sees, counted by who knows."""
    stand = Stand()
    async with standing(stand) as engine:
        found = await engine.ask(PROMPT, tokens=10, salt="s-1")

    assert found.generated_tokens == 10
    assert len(found.pieces_s) == 5
    assert list(found.pieces_s) == sorted(found.pieces_s)
    assert found.ttft_s is not None
    assert found.ttft_s > 0
    assert found.cached_tokens == 0


async def test_exactly_so_many_tokens_are_asked_for_and_kept_apart() -> None:
    """An answer that ends early, or a prompt from the cache, would be another measurement."""
    stand = Stand()
    async with standing(stand) as engine:
        await engine.ask(PROMPT, tokens=7, salt="s-1")

    [body] = stand.asked
    assert body["max_tokens"] == 7
    assert body["ignore_eos"] is True
    assert body["temperature"] == 0
    assert body["cache_salt"] == "s-1"
    assert body["stream_options"] == {"include_usage": True}


@pytest.mark.parametrize(
    ("status", "kind"), [(400, BadInput), (404, BadInput), (500, EngineFailed), (503, EngineFailed)]
)
async def test_a_refusal_says_what_the_engine_said(status: int, kind: type[Exception]) -> None:
    """The engine knows why."""
    said = b'{"error": {"message": "no such model", "type": "NotFound"}}'
    async with standing(Stand(refuse=lambda _body: (status, said))) as engine:
        with pytest.raises(kind, match="no such model") as caught:
            await engine.ask(PROMPT, tokens=2, salt="s")

    assert str(status) in str(caught.value)


@pytest.mark.parametrize("said", [b"", b"\xff\xfe", b"[1]", b'{"detail": {"message": ["x"]}}'])
async def test_a_refusal_in_no_known_words_is_told_too(said: bytes) -> None:
    """An adopted engine may lie behind anything."""
    async with standing(Stand(refuse=lambda _body: (400, said))) as engine:
        with pytest.raises(BadInput, match="refused a request"):
            await engine.ask(PROMPT, tokens=2, salt="s")


async def test_an_error_inside_a_stream_is_one() -> None:
    """A dead engine says so where the answer would go on."""

    async def handle(exchange: Exchange) -> None:
        exchange.start(200, EVENTS)
        exchange.write(b'data: not json\n\ndata: {"error": {"message": "EngineCore died"}}\n\n')
        exchange.end()

    server = await serve(handle)
    engine = Engine(upstream=Upstream(port=server.port), key=None, served_name="m")
    try:
        with pytest.raises(EngineFailed, match="EngineCore died"):
            await engine.ask(PROMPT, tokens=2, salt="s")
    finally:
        engine.upstream.close()
        await server.close()


async def test_an_engine_that_is_not_there_is_told() -> None:
    """Not a hang."""
    engine = Engine(upstream=Upstream(port=free_port()), key=None, served_name="m")

    with pytest.raises(EngineNotReady):
        await engine.ask(PROMPT, tokens=2, salt="s")


async def test_chunks_may_come_in_any_pieces() -> None:
    """A chunk that is cut anywhere is still one chunk, also inside a letter."""
    clock = itertools.count()
    text = '{"choices":[{"delta":{"reasoning_content":"é"}}]}'.encode()
    tail = b'{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":1}}'
    whole = b": hello\n\ndata: " + text + b"\n\ndata:" + tail + b"\n\ndata: [DONE]\n\n"

    async def handle(exchange: Exchange) -> None:
        exchange.start(200, EVENTS)
        for byte in whole:
            exchange.write(bytes([byte]))
            await exchange.drain()
        exchange.end()

    server = await serve(handle)
    upstream = Upstream(port=server.port)
    engine = Engine(upstream=upstream, key=None, served_name="m", clock=lambda: float(next(clock)))
    try:
        found = await engine.ask(PROMPT, tokens=1, salt="s")
    finally:
        upstream.close()
        await server.close()

    assert (found.prompt_tokens, found.generated_tokens, found.cached_tokens) == (3, 1, None)
    assert len(found.pieces_s) == 1


async def test_prompts_are_counted_where_the_engine_can() -> None:
    """Else the caller goes by experience."""
    async with standing(Stand()) as engine:
        assert await engine.count(PROMPT) == len(PROMPT[0]["content"].split()) * 2 + 10
    async with standing(Stand(counts=False)) as engine:
        assert await engine.count(PROMPT) is None
