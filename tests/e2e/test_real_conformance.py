"""The official clients against the gateway and the real vLLM: tools, structure, both dialects."""

import base64
import json
import subprocess

import anthropic
import openai
import pydantic
import pytest

from tests.conftest import Serving
from tests.fakes import javascript

pytestmark = pytest.mark.real

PIXEL = b"\x89PNG\r\n\x1a\n"
QUESTION = [{"role": "user", "content": "What is the capital of France?"}]
WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
        },
    },
}


class Colour(pydantic.BaseModel):
    """A shape that the model has to keep to."""

    colour: str


def openai_client(serving: Serving) -> openai.OpenAI:
    """Return OpenAI's client."""
    return openai.OpenAI(base_url=serving.base_url, api_key=serving.api_key, max_retries=0)


def test_a_schema_is_kept_to(serving: Serving) -> None:
    """Structured output passes through as the client asks for it."""
    with openai_client(serving) as client:
        answer = client.chat.completions.parse(
            model="smollm2",
            messages=[{"role": "user", "content": "Give a colour as JSON."}],
            response_format=Colour,
            temperature=0,
            max_tokens=48,
        )

    assert isinstance(answer.choices[0].message.parsed, Colour)


def test_a_tool_is_called_when_it_has_to_be(serving: Serving) -> None:
    """The engine forces the call; arguments are JSON, whatever a small model puts into them."""
    with openai_client(serving) as client:
        answer = client.chat.completions.create(
            model="smollm2",
            messages=[{"role": "user", "content": "What is the weather in Paris?"}],
            tools=[WEATHER],
            tool_choice="required",
            temperature=0,
            max_tokens=64,
        )

    calls = answer.choices[0].message.tool_calls
    assert calls
    assert calls[0].type == "function"
    assert calls[0].function.name == "get_weather"
    json.loads(calls[0].function.arguments)


def test_responses_and_several_answers_are_given(serving: Serving) -> None:
    """The newer dialect, and n above 1."""
    with openai_client(serving) as client:
        response = client.responses.create(
            model="smollm2", input=QUESTION[0]["content"], temperature=0, max_output_tokens=24
        )
        several = client.chat.completions.create(
            model="smollm2", messages=QUESTION, n=2, temperature=0.7, max_tokens=12
        )

    assert "Paris" in response.output_text
    assert len(several.choices) == 2


def test_errors_are_the_clients_own(serving: Serving) -> None:
    """Unknown models, values out of range, and wrong keys, in both dialects."""
    base = serving.base_url.removesuffix("/v1")
    with openai_client(serving) as client:
        with pytest.raises(openai.NotFoundError):
            client.chat.completions.create(model="gpt-9", messages=QUESTION)
        with pytest.raises(openai.BadRequestError, match="temperature"):
            client.chat.completions.create(model="smollm2", messages=QUESTION, temperature=-1)
        with pytest.raises(openai.AuthenticationError):
            client.with_options(api_key="wrong").models.list()
    with anthropic.Anthropic(base_url=base, api_key=serving.api_key, max_retries=0) as claude:
        with pytest.raises(anthropic.NotFoundError):
            claude.messages.create(model="gpt-9", max_tokens=9, messages=QUESTION)
        with pytest.raises(anthropic.AuthenticationError):
            claude.with_options(api_key="wrong").models.list()


@pytest.mark.skipif(javascript.missing() is not None, reason=str(javascript.missing()))
def test_the_javascript_client_is_answered_too(serving: Serving) -> None:
    """What editors and agents are built on."""
    argv = javascript.install().argv(
        serving.base_url, serving.api_key, "chat", "stream", "stream_with_usage", "tool", "schema",
        "responses", "models", "wrong_key", "unknown_model", "out_of_range",
    )  # fmt: skip
    done = subprocess.run(argv, capture_output=True, text=True, timeout=300, check=False)

    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert "Paris" in found["chat"]["text"]
    assert found["chat"]["has_usage"]
    assert found["stream"] == {"text": found["chat"]["text"], "usages": 0}
    assert found["stream_with_usage"] == {"choices": 0, "has_usage": True}
    assert found["tool"] == {"name": "get_weather", "type": "function"}
    assert found["schema"] == {"kind": "string"}
    assert found["responses"]["text"] == found["responses"]["streamed"] != ""
    assert found["models"] == {"listed": True, "shown": "smollm2"}
    kinds = [found[name]["kind"] for name in ("wrong_key", "unknown_model", "out_of_range")]
    assert kinds == ["AuthenticationError", "NotFoundError", "BadRequestError"]


def test_a_picture_is_refused_by_a_model_that_does_not_see_in_its_own_words(
    serving: Serving,
) -> None:
    """Megabytes of it reach the engine, and its sentence reaches the client."""
    url = "data:image/png;base64," + base64.b64encode(PIXEL + bytes(3 << 20)).decode()
    parts = [
        {"type": "text", "text": "What is this?"},
        {"type": "image_url", "image_url": {"url": url}},
    ]
    with openai_client(serving) as client, pytest.raises(openai.BadRequestError) as refused:
        client.chat.completions.create(
            model="smollm2", messages=[{"role": "user", "content": parts}]
        )

    assert "x-weir-error" not in refused.value.response.headers
    assert "multimodal" in str(refused.value) or "image" in str(refused.value)


def test_running_usage_passes(serving: Serving) -> None:
    """What meters ask for: a count with each chunk."""
    options = {"include_usage": True, "continuous_usage_stats": True}
    with openai_client(serving) as client:
        stream = client.chat.completions.create(
            model="smollm2", messages=QUESTION, temperature=0, max_tokens=6, stream=True,
            extra_body={"stream_options": options},
        )  # fmt: skip
        counted = [one.usage.completion_tokens for one in stream if one.usage is not None]

    assert counted == sorted(counted)
    assert len(counted) > 2, "one with each chunk"


def test_the_gateway_in_front_of_it_repels_attacks(serving: Serving) -> None:
    """The address that people use, while the engine serves."""
    done = serving.weir.run("gateway", "selftest", "--json", limit_s=120)

    report = json.loads(done.stdout)
    assert done.returncode == 0, report["open_defences"]
    assert report["address"] == serving.base_url
    assert {one["place"] for one in report["attacks"]} == {"twin", "live", "control"}


def test_slow_paths_of_the_running_engine_are_badges(serving: Serving) -> None:
    """What costs speed is said; that a processor computes without graphs is no news."""
    badges = {one["code"]: one for one in serving.weir.json("status")["engine"]["badges"]}

    assert "eager-mode" not in badges
    assert "preload-missing" in badges
    assert serving.result["badges"] == list(badges.values())
