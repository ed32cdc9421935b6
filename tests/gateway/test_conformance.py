"""The official Python clients against gateway and engine: every path that they have for chats.

The engine answers with what the real one (vLLM 0.32) answered to the same requests. What the
clients raise and show is what people see.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator

import anthropic
import openai
import pydantic
import pytest

from studio.host.http_server import Exchange
from tests.fakes.waiting import until_async
from tests.gateway.engine_support import Setup
from tests.gateway.recordings import recorded

PARIS = "The capital of France is Paris."
ASK = [{"role": "user", "content": "What is the capital of France?"}]
WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Weather of a city",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
        },
    },
}


class Colour(pydantic.BaseModel):
    """What the recorded answer with a schema holds."""

    colour: str


@pytest.fixture
async def client(setup: Setup) -> AsyncIterator[openai.AsyncOpenAI]:
    """Return OpenAI's client, told to try once only."""
    base_url = f"http://127.0.0.1:{setup.port}/v1"
    async with openai.AsyncOpenAI(base_url=base_url, api_key=setup.key, max_retries=0) as made:
        yield made


@pytest.fixture
async def claude(setup: Setup) -> AsyncIterator[anthropic.AsyncAnthropic]:
    """Return Anthropic's client, told to try once only."""
    base_url = f"http://127.0.0.1:{setup.port}"
    async with anthropic.AsyncAnthropic(
        base_url=base_url, api_key=setup.key, max_retries=0
    ) as made:
        yield made


# --- OpenAI: chat -------------------------------------------------------------------------------


async def test_a_chat_is_read_whole(setup: Setup, client: openai.AsyncOpenAI) -> None:
    """Text, reason, usage, and the id by which support finds the request."""
    answer = await client.chat.completions.create(model="smollm2", messages=ASK)

    assert answer.choices[0].message.content == PARIS
    assert answer.choices[0].finish_reason == "stop"
    assert answer.usage is not None
    assert answer.usage.completion_tokens == 8
    assert answer._request_id
    assert setup.engine.received[0].headers["x-request-id"] == answer._request_id


async def test_a_chat_is_read_as_a_stream(client: openai.AsyncOpenAI) -> None:
    """Piece by piece, and the usage only where it was asked for."""
    plain = await client.chat.completions.create(model="smollm2", messages=ASK, stream=True)
    chunks = [chunk async for chunk in plain]
    counted = await client.chat.completions.create(
        model="smollm2", messages=ASK, stream=True, stream_options={"include_usage": True}
    )
    last = [chunk async for chunk in counted][-1]

    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == PARIS
    assert all(chunk.usage is None for chunk in chunks)
    assert last.choices == []
    assert last.usage is not None
    assert last.usage.completion_tokens == 8


async def test_the_clients_own_stream_helper_builds_the_answer(client: openai.AsyncOpenAI) -> None:
    """Its events stand on every detail of the chunks."""
    async with client.chat.completions.stream(model="smollm2", messages=ASK) as stream:
        kinds = [event.type async for event in stream]
        final = await stream.get_final_completion()

    assert final.choices[0].message.content == PARIS
    assert {"chunk", "content.delta", "content.done"} <= set(kinds)


async def test_log_probabilities_are_read(setup: Setup, client: openai.AsyncOpenAI) -> None:
    """Evaluations need them."""
    setup.engine.name = "chat-logprobs"

    answer = await client.chat.completions.create(
        model="smollm2", messages=ASK, logprobs=True, top_logprobs=2
    )

    said = answer.choices[0].logprobs
    assert said is not None
    assert said.content
    assert len(said.content[0].top_logprobs) == 2
    assert setup.engine.received[0].json["top_logprobs"] == 2


async def test_an_answer_at_its_limit_says_so(setup: Setup, client: openai.AsyncOpenAI) -> None:
    """Clients ask on by this reason."""
    setup.engine.name = "chat-stream-length"

    stream = await client.chat.completions.create(
        model="smollm2", messages=ASK, stream=True, max_tokens=3
    )
    reasons = [one.choices[0].finish_reason async for one in stream if one.choices]

    assert reasons[-1] == "length"
    assert setup.engine.received[0].json["max_tokens"] == 3


async def test_completions_are_read(client: openai.AsyncOpenAI) -> None:
    """Editors complete with them."""
    answer = await client.completions.create(model="smollm2", prompt="The capital of France is")
    stream = await client.completions.create(model="smollm2", prompt="The", stream=True)
    streamed = "".join([one.choices[0].text async for one in stream])

    assert answer.choices[0].text
    assert streamed == answer.choices[0].text


# --- OpenAI: tools and structure ----------------------------------------------------------------


async def test_a_tool_call_is_read_whole(setup: Setup, client: openai.AsyncOpenAI) -> None:
    """Agents stand on it."""
    setup.engine.name = "chat-tools-required"

    answer = await client.chat.completions.create(
        model="smollm2", messages=ASK, tools=[WEATHER], tool_choice="required"
    )

    calls = answer.choices[0].message.tool_calls
    assert calls
    assert calls[0].type == "function"
    assert calls[0].function.name == "get_weather"
    assert json.loads(calls[0].function.arguments) == "Paris"  # the small model knows no better
    sent = setup.engine.received[0].json
    assert sent["tools"] == [WEATHER]
    assert sent["tool_choice"] == "required"


async def test_a_tool_call_is_read_as_a_stream(setup: Setup, client: openai.AsyncOpenAI) -> None:
    """Its arguments come in pieces, which have to fit together."""
    setup.engine.name = "chat-tools-required-stream"

    stream = await client.chat.completions.create(
        model="smollm2", messages=ASK, tools=[WEATHER], tool_choice="required", stream=True
    )
    name, arguments = "", ""
    async for chunk in stream:
        for call in (chunk.choices[0].delta.tool_calls or []) if chunk.choices else []:
            assert call.function is not None
            name += call.function.name or ""
            arguments += call.function.arguments or ""

    assert name == "get_weather"
    assert json.loads(arguments) == "Paris"


async def test_a_model_may_leave_its_tools_alone(setup: Setup, client: openai.AsyncOpenAI) -> None:
    """With `auto` a plain answer is an answer."""
    setup.engine.name = "chat-tools-auto"

    answer = await client.chat.completions.create(
        model="smollm2", messages=ASK, tools=[WEATHER], tool_choice="auto"
    )

    assert answer.choices[0].message.content
    assert not answer.choices[0].message.tool_calls


async def test_a_schema_becomes_a_typed_answer(setup: Setup, client: openai.AsyncOpenAI) -> None:
    """The client makes the schema of the class and the class of the answer."""
    setup.engine.name = "chat-json-schema"

    answer = await client.chat.completions.parse(
        model="smollm2", messages=ASK, response_format=Colour
    )

    assert answer.choices[0].message.parsed == Colour(colour="blue")
    sent = setup.engine.received[0].json["response_format"]
    assert isinstance(sent, dict)
    assert sent["type"] == "json_schema"


# --- OpenAI: responses, models ------------------------------------------------------------------


async def test_responses_are_read(client: openai.AsyncOpenAI) -> None:
    """The newer of the two dialects, whole and as a stream of typed events."""
    whole = await client.responses.create(model="smollm2", input=ASK[0]["content"])
    stream = await client.responses.create(model="smollm2", input="x", stream=True)
    events = [event async for event in stream]

    assert whole.output_text == PARIS
    assert events[0].type == "response.created"
    assert events[-1].type == "response.completed"
    text = "".join(one.delta for one in events if one.type == "response.output_text.delta")
    assert text == PARIS


async def test_models_are_listed_and_shown(client: openai.AsyncOpenAI) -> None:
    """Clients fill their menus from it."""
    listed = [model.id async for model in client.models.list()]
    shown = await client.models.retrieve("smollm2")

    assert listed == ["smollm2", "demo"]
    assert shown.id == "smollm2"
    with pytest.raises(openai.NotFoundError):
        await client.models.retrieve("gpt-9")


# --- OpenAI: errors -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "kind", "said"),
    [
        ("err-400-too-long", openai.BadRequestError, "maximum context length"),
        ("err-400-missing-field", openai.BadRequestError, "messages"),
        ("err-400-bad-json", openai.BadRequestError, "JSON"),
        ("err-404-model", openai.NotFoundError, "does not exist"),
        ("err-400-temperature", openai.BadRequestError, "temperature"),
    ],
)
async def test_the_engines_errors_become_the_clients_own(
    setup: Setup, client: openai.AsyncOpenAI, name: str, kind: type[Exception], said: str
) -> None:
    """With the engine's words, which say what to change."""
    setup.engine.name = name

    with pytest.raises(kind, match=said):
        await client.chat.completions.create(model="smollm2", messages=ASK)


async def test_the_gateways_errors_become_the_clients_own(
    setup: Setup, client: openai.AsyncOpenAI
) -> None:
    """Keys, routes, and an engine that is not there."""
    with pytest.raises(openai.AuthenticationError) as refused:
        await client.with_options(api_key="sk-weir-wrong").models.list()
    with pytest.raises(openai.NotFoundError):
        await client.images.generate(model="smollm2", prompt="x")
    setup.target = None
    with pytest.raises(openai.InternalServerError) as absent:
        await client.chat.completions.create(model="smollm2", messages=ASK)

    assert refused.value.code == "key-refused"
    assert absent.value.status_code == 503
    assert "weir up" in str(absent.value)


async def test_a_client_that_retries_meets_the_engine_again(setup: Setup) -> None:
    """The default client tries twice more; a restart in between is not noticed."""
    target, setup.target = setup.target, None
    base_url = f"http://127.0.0.1:{setup.port}/v1"
    async with (
        openai.AsyncOpenAI(base_url=base_url, api_key=setup.key, max_retries=4) as client,
        asyncio.TaskGroup() as tasks,
    ):
        asked = tasks.create_task(client.chat.completions.create(model="smollm2", messages=ASK))
        await until_async(lambda: setup.gateway.counters.refused > 0, "the first refusal")
        setup.target = target

    assert asked.result().choices[0].message.content == PARIS


async def test_a_stream_that_is_left_ends_at_the_engine(
    setup: Setup, client: openai.AsyncOpenAI
) -> None:
    """Closing a chat window must not keep a card busy."""
    gone = asyncio.Event()

    async def endless(exchange: Exchange) -> None:
        exchange.on_gone(gone.set)
        exchange.start(200, [(b"content-type", b"text/event-stream")])
        exchange.write(recorded("chat-stream").events[0])
        await gone.wait()

    setup.engine.act = endless
    stream = await client.chat.completions.create(model="smollm2", messages=ASK, stream=True)
    async for _ in stream:
        break
    await stream.close()

    async with asyncio.timeout(30):
        await gone.wait()


# --- Anthropic ----------------------------------------------------------------------------------


async def test_a_message_is_read_whole(claude: anthropic.AsyncAnthropic) -> None:
    """Text, reason and usage."""
    answer = await claude.messages.create(model="smollm2", max_tokens=32, messages=ASK)

    assert [block.text for block in answer.content if block.type == "text"] == [PARIS]
    assert answer.stop_reason == "end_turn"
    assert answer.usage.output_tokens == 8


async def test_a_message_is_read_as_a_stream(
    setup: Setup, claude: anthropic.AsyncAnthropic
) -> None:
    """The client's helper builds the message of the events and checks their order."""
    async with claude.messages.stream(model="smollm2", max_tokens=32, messages=ASK) as stream:
        kinds = [event.type async for event in stream]
        final = await stream.get_final_message()

    assert kinds[0] == "message_start"
    assert kinds[-1] == "message_stop"
    assert [block.text for block in final.content if block.type == "text"] == [PARIS]
    assert final.usage.output_tokens == 8
    headers = setup.engine.received[0].headers
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", headers["anthropic-version"])
    assert "x-api-key" not in headers


async def test_tokens_are_counted_before_they_are_sent(claude: anthropic.AsyncAnthropic) -> None:
    """Coding agents decide by it when to compact."""
    counted = await claude.messages.count_tokens(model="smollm2", messages=ASK)

    assert counted.input_tokens > 0


async def test_a_key_as_a_token_is_taken_too(setup: Setup) -> None:
    """ANTHROPIC_AUTH_TOKEN instead of ANTHROPIC_API_KEY."""
    base_url = f"http://127.0.0.1:{setup.port}"
    async with anthropic.AsyncAnthropic(
        base_url=base_url, api_key=None, auth_token=setup.key, max_retries=0
    ) as client:
        answer = await client.messages.create(model="smollm2", max_tokens=9, messages=ASK)

    assert answer.stop_reason == "end_turn"


async def test_betas_and_tools_reach_the_engine(
    setup: Setup, claude: anthropic.AsyncAnthropic
) -> None:
    """What the gateway does not know it passes on."""
    tool = {"name": "get_weather", "input_schema": {"type": "object", "properties": {}}}
    await claude.beta.messages.create(
        model="smollm2", max_tokens=9, messages=ASK, tools=[tool], betas=["some-beta-2026-01-01"]
    )

    (received,) = setup.engine.received
    assert received.json["tools"] == [tool]
    assert received.headers["anthropic-beta"] == "some-beta-2026-01-01"


async def test_errors_become_the_clients_own(
    setup: Setup, claude: anthropic.AsyncAnthropic
) -> None:
    """In Anthropic's shape, with its kinds."""
    setup.engine.name = "messages-err-404"
    with pytest.raises(anthropic.NotFoundError):
        await claude.messages.create(model="gpt-9", max_tokens=9, messages=ASK)
    with pytest.raises(anthropic.AuthenticationError) as refused:
        await claude.with_options(api_key="wrong").messages.create(
            model="smollm2", max_tokens=9, messages=ASK
        )
    setup.target = None
    with pytest.raises(anthropic.APIStatusError) as absent:
        await claude.messages.create(model="smollm2", max_tokens=9, messages=ASK)

    assert isinstance(refused.value.body, dict)
    assert refused.value.body["type"] == "error"
    assert refused.value.body["error"]["type"] == "authentication_error"
    assert absent.value.status_code == 503


# --- both, without asyncio ----------------------------------------------------------------------


async def test_the_clients_without_asyncio_are_answered_too(setup: Setup) -> None:
    """Most scripts use these."""
    base_url = f"http://127.0.0.1:{setup.port}"

    def ask() -> tuple[str | None, str]:
        with openai.OpenAI(base_url=f"{base_url}/v1", api_key=setup.key) as client:
            chat = client.chat.completions.create(model="smollm2", messages=ASK)
        with anthropic.Anthropic(base_url=base_url, api_key=setup.key) as other:
            message = other.messages.create(model="smollm2", max_tokens=9, messages=ASK)
        return chat.choices[0].message.content, message.content[0].text

    assert await asyncio.to_thread(ask) == (PARIS, PARIS)
