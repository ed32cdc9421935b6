"""The official clients against the gateway and the real vLLM: tools, structure, both dialects."""

import json

import anthropic
import openai
import pydantic
import pytest

from tests.conftest import Serving

pytestmark = pytest.mark.real

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


def test_the_gateway_in_front_of_it_repels_attacks(serving: Serving) -> None:
    """The address that people use, while the engine serves."""
    done = serving.weir.run("gateway", "selftest", "--json", limit_s=120)

    report = json.loads(done.stdout)
    assert done.returncode == 0, report["open_defences"]
    assert report["address"] == serving.base_url
    assert {one["place"] for one in report["attacks"]} == {"twin", "live", "control"}


def test_slow_paths_of_the_running_engine_are_badges(serving: Serving) -> None:
    """The demo serves without compilation, and says so with what it costs."""
    badges = {one["code"]: one for one in serving.weir.json("status")["engine"]["badges"]}

    assert "eager-mode" in badges
    assert badges["eager-mode"]["cost"].startswith("None that was measured")
    assert "preload-missing" in badges
    assert serving.result["badges"] == list(badges.values())
