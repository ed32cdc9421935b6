"""What is kept of a request when it is over."""

import asyncio
import time

import pytest

from studio.domain.pool import ResidentState
from studio.host.http_server import Exchange
from tests.host.http_support import client as raw_client

CHAT = "/v1/chat/completions"


async def test_a_record_says_who_asked_what_and_how_it_went(setup):
    """The request log: no prompt, no answer, all else."""
    before = time.time()
    await setup.post(CHAT, {"messages": [{"role": "user", "content": "my secret"}], "stream": True})

    record = setup.records[0]
    assert (record.method, record.route, record.status, record.code) == ("POST", CHAT, 200, None)
    assert record.key_id == setup.keys.list()[0].id
    assert before <= record.at <= time.time()
    assert record.ttft_s is not None
    assert 0 < record.ttft_s <= record.duration_s < 10
    assert not record.has_client_left
    assert "secret" not in repr(record)


async def test_time_to_first_token_of_a_response_is_that_of_its_first_word(setup):
    """Its first events come before the engine has made a token."""
    prefilled, decoded = asyncio.Event(), asyncio.Event()

    async def slow(exchange: Exchange) -> None:
        exchange.start(200, [(b"content-type", b"text/event-stream")])
        exchange.write(b'event: response.created\ndata: {"type":"response.created"}\n\n')
        await prefilled.wait()
        exchange.write(b'event: response.output_text.delta\ndata: {"delta":"a"}\n\n')
        await decoded.wait()
        exchange.end()

    setup.engine.act = slow
    body = b'{"stream":true}'
    head = f"POST /v1/responses HTTP/1.1\r\nHost: localhost\r\nx-api-key: {setup.key}\r\n"
    async with raw_client(setup.port) as raw:
        began = time.perf_counter()
        await raw.send(head.encode() + b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        await raw.head()
        await raw.reader.readuntil(b'response.created"}\n\n')
        answered = time.perf_counter()
        waited_s = answered - began
        while time.perf_counter() - answered <= waited_s:
            await asyncio.sleep(0)
        prefilled.set()
        await raw.reader.readuntil(b'"a"}\n\n')
        decoded.set()
        await raw.reader.readuntil(b"0\r\n\r\n")

    assert setup.records[0].ttft_s > waited_s  # its first event had come by then
    assert setup.records[0].ttft_s <= setup.records[0].duration_s


async def test_a_client_that_left_before_any_answer_is_recorded_as_499(setup):
    """Neither a success nor a failure of anyone here."""
    began = asyncio.Event()

    async def never(exchange: Exchange) -> None:
        began.set()
        await exchange.gone()

    setup.engine.act = never
    async with raw_client(setup.port) as raw:
        head = f"POST {CHAT} HTTP/1.1\r\nHost: localhost\r\nx-api-key: {setup.key}\r\n"
        await raw.send(head.encode() + b"Content-Length: 2\r\n\r\n{}")
        await began.wait()
        raw.writer.transport.abort()
        async with asyncio.timeout(30):
            await setup.gateway.wait_idle()
            while not setup.records:
                await asyncio.sleep(0)

    assert (setup.records[0].status, setup.records[0].has_client_left) == (499, True)


@pytest.mark.parametrize("given", ["a b", "x" * 129, "é", "a\tb", ""])
async def test_a_request_id_that_is_no_plain_word_is_replaced(setup, given):
    """It stands in logs and in the engine's ids: no spaces, no length without end."""
    headers = {"X-Request-Id": given.encode("latin-1"), "x-api-key": setup.key}
    async with setup.client(**headers) as client:
        answer = await client.get("/v1/models")

    assert answer.headers["x-request-id"] not in {"", given}
    assert answer.headers["x-request-id"].isalnum()


async def test_a_request_under_way_says_what_it_should_hold_in_the_pool(setup):
    """Guessed from its bytes and from the pieces that came, until the engine says it."""
    going, told = asyncio.Event(), asyncio.Event()

    async def slow(exchange: Exchange) -> None:
        exchange.start(200, [(b"content-type", b"text/event-stream")])
        for text in (b'{"role":"assistant"}', *[b'{"content":"a"}'] * 5):
            exchange.write(b'data: {"choices":[{"delta":' + text + b"}]}\n\n")
        await going.wait()
        exchange.write(
            b'data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":5}}\n\n'
        )
        await told.wait()
        exchange.end()

    setup.engine.act = slow
    assert setup.gateway.residents() == ()
    body = b'{"stream":true,"stream_options":{"include_usage":true},"messages":[]}'.ljust(400)
    head = f"POST {CHAT} HTTP/1.1\r\nHost: localhost\r\nx-api-key: {setup.key}\r\n"
    async with raw_client(setup.port) as raw:
        await raw.send(head.encode() + b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        for _ in range(6):
            await raw.reader.readuntil(b"}]}\n\n")
        (one,) = setup.gateway.residents(2.0)
        assert (one.prompt_tokens, one.generated_tokens, one.is_estimated) == (100, 10, True)
        assert one.state is ResidentState.WRITING
        assert one.key == setup.keys.list()[0].name
        going.set()
        await raw.reader.readuntil(b"usage")
        (one,) = setup.gateway.residents(2.0)
        assert (one.prompt_tokens, one.generated_tokens, one.is_estimated) == (7, 5, False)
        told.set()
        await raw.reader.readuntil(b"0\r\n\r\n")
    assert setup.gateway.residents() == ()


async def test_a_request_that_has_no_answer_yet_is_being_read(setup):
    """And one that comes in one piece says nothing of its answer before."""
    arrived, go_on = asyncio.Event(), asyncio.Event()

    async def slow(exchange: Exchange) -> None:
        arrived.set()
        await go_on.wait()
        exchange.respond(200, [(b"content-type", b"application/json")], b"{}")

    setup.engine.act = slow
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(setup.post(CHAT, {"messages": []}))
        await arrived.wait()
        (one,) = setup.gateway.residents()
        assert one.state is ResidentState.READING
        assert one.generated_tokens is None
        assert one.prompt_tokens is not None
        go_on.set()
