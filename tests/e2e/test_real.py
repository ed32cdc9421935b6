"""The real vLLM: installed, booted, asked in both dialects, killed, and back."""

import json
import os
import signal

import anthropic
import httpx
import openai
import pytest

from tests.conftest import RealEngine, Serving, engine_of
from tests.fakes.waiting import is_alive, until

pytestmark = pytest.mark.real

ANSWER = "The capital of France is Paris."
QUESTION = "What is the capital of France?"
BOOT_LIMIT_S = 300.0


def ask(serving: Serving) -> str:
    """Ask with the OpenAI client, streamed, and return the whole answer."""
    client = openai.OpenAI(base_url=serving.base_url, api_key=serving.api_key)
    with client:
        stream = client.chat.completions.create(
            model="smollm2",
            messages=[{"role": "user", "content": QUESTION}],
            temperature=0,
            stream=True,
        )
        words = [chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices]
    assert len(words) > 3, "the answer came in one piece"
    return "".join(words)


def test_up_says_what_runs(serving: Serving) -> None:
    """The JSON of `weir up` is what scripts stand on."""
    assert serving.result["pool_tokens"] == 23_296
    assert serving.result["runtime"] == "cpu-vllm-0.32.0"
    assert serving.base_url.endswith("/v1")
    host = serving.weir.json("status")
    assert host["engine"]["state"] == "ready"
    assert host["engine"]["phases"][0]["phase"] == "interpreter"
    # The engine of now may be a later one: other tests of this home end it.
    assert serving.result["is_cold"] is True


def test_the_openai_client_gets_a_streamed_answer(serving: Serving) -> None:
    """The real client, the real words."""
    assert ask(serving) == ANSWER


def test_the_anthropic_client_gets_a_streamed_answer(serving: Serving) -> None:
    """Same model, other dialect, other header."""
    base = serving.base_url.removesuffix("/v1")
    with anthropic.Anthropic(base_url=base, api_key=serving.api_key) as client:
        with client.messages.stream(
            model="smollm2",
            max_tokens=32,
            extra_body={"temperature": 0},
            messages=[{"role": "user", "content": QUESTION}],
        ) as stream:
            text = "".join(stream.text_stream)
        counted = client.messages.count_tokens(
            model="smollm2", messages=[{"role": "user", "content": QUESTION}]
        )

    assert text == ANSWER
    assert counted.input_tokens > 10


def test_a_request_that_names_no_model_goes_to_the_running_preset(serving: Serving) -> None:
    """People paste a curl line and forget it."""
    answer = httpx.post(
        f"{serving.base_url}/chat/completions",
        json={"messages": [{"role": "user", "content": QUESTION}], "temperature": 0},
        headers={"Authorization": f"Bearer {serving.api_key}"},
        timeout=60,
        trust_env=False,
    )

    assert answer.json()["choices"][0]["message"]["content"] == ANSWER


def test_a_prompt_longer_than_the_context_is_the_engines_own_error(serving: Serving) -> None:
    """The person learns the limit; the engine goes on."""
    client = openai.OpenAI(base_url=serving.base_url, api_key=serving.api_key)
    long = [{"role": "user", "content": "word " * 4000}]
    with client, pytest.raises(openai.BadRequestError, match="maximum context length is 2048"):
        client.chat.completions.create(model="smollm2", messages=long)

    assert ask(serving) == ANSWER


def test_usage_is_counted_for_the_key(serving: Serving) -> None:
    """Counted from the engine's own figures, streamed answers included."""
    (before,) = serving.weir.json("keys", "list")
    ask(serving)
    (after,) = serving.weir.json("keys", "list")

    assert after["requests"] == before["requests"] + 1
    assert after["generated_tokens"] == before["generated_tokens"] + 8
    assert after["prompt_tokens"] > before["prompt_tokens"]


def counters(engine: RealEngine) -> tuple[int, int]:
    """Return the prompt and generated tokens that the engine itself has counted."""
    with httpx.Client(transport=httpx.HTTPTransport(uds=engine.socket), trust_env=False) as client:
        headers = {"Authorization": f"Bearer {engine.key}"}
        text = client.get("http://engine/metrics", headers=headers).text
    sums = {"vllm:prompt_tokens_total": 0.0, "vllm:generation_tokens_total": 0.0}
    for line in text.splitlines():
        name = line.partition("{")[0]
        if name in sums:
            sums[name] += float(line.rpartition(" ")[2])
    prompt, generated = sums.values()
    return int(prompt), int(generated)


def test_usage_equals_the_engines_own_counters_to_the_token(serving: Serving) -> None:
    """Streams that never asked for usage, several prompts, several answers, every dialect."""
    engine = engine_of(serving)
    chat = {"messages": [{"role": "user", "content": QUESTION}], "temperature": 0}
    asked: list[tuple[str, dict[str, object]]] = [
        ("/v1/chat/completions", {**chat, "stream": True}),
        (
            "/v1/chat/completions",
            {**chat, "stream": True, "stream_options": {"include_usage": True}},
        ),
        ("/v1/chat/completions", {**chat, "temperature": 0.8, "n": 2, "max_tokens": 5}),
        ("/v1/completions", {"prompt": ["One, two,", "A, b, c,"], "max_tokens": 4}),
        ("/v1/completions", {"prompt": "1, 2, 3,", "max_tokens": 4, "stream": True}),
        ("/v1/messages", {**chat, "model": "smollm2", "max_tokens": 9, "stream": True}),
        ("/v1/responses", {"input": QUESTION, "max_output_tokens": 16, "stream": True}),
    ]
    made = serving.weir.json("keys", "create", "counted", "--max-context", "512")
    before = counters(engine)
    counted_again = 0  # the engine's counter takes a prompt once for each of its answers
    base = serving.base_url.removesuffix("/v1")
    for path, body in asked:
        answer = httpx.post(
            f"{base}{path}",
            json=body,
            headers={"Authorization": f"Bearer {made['key']}"},
            timeout=60,
            trust_env=False,
        )
        assert answer.status_code == 200, answer.text
        if "n" in body:
            counted_again += answer.json()["usage"]["prompt_tokens"]
    after = counters(engine)

    (used,) = serving.weir.json("keys", "usage", "counted", "--since", "1h")
    assert (used["requests"], used["errors"], used["estimated"]) == (len(asked), 0, 0)
    assert used["prompt_tokens"] == after[0] - before[0] - counted_again
    assert used["generated_tokens"] == after[1] - before[1]
    assert used["ttft_p50_s"] > 0
    log = serving.weir.json("requests", "counted")
    assert [one["route"] for one in log] == [path for path, _body in asked]
    serving.weir.run("keys", "revoke", "counted", "--now")


def test_the_log_is_kept_and_holds_no_key(serving: Serving) -> None:
    """Logs end up in bug reports."""
    shown = serving.weir.run("logs", "-n", "5000").stdout

    assert "Application startup complete" in shown
    raw = (serving.weir.paths.logs / "engine.log").read_text(encoding="utf-8")
    assert "Resolved architecture: LlamaForCausalLM" in raw
    assert serving.api_key not in raw


@pytest.mark.parametrize("role", ["engine", "worker"])
def test_a_killed_engine_comes_back(serving: Serving, role: str) -> None:
    """SIGKILL of the API server leaves EngineCore and the worker behind; ours does not.

    Two rounds, since the third death within ten minutes is one too many by design.
    """
    weir = serving.weir
    rows = weir.json("ps")
    before = {row["pid"] for row in rows if row["role"] != "service"}
    victim = next(row["pid"] for row in rows if row["role"] == role)

    os.kill(victim, signal.SIGKILL)

    def is_back() -> bool:
        engine = weir.told()["engine"]
        assert engine["state"] != "failed", json.dumps(engine["error"])
        return engine["state"] == "ready" and engine["pid"] not in before

    until(is_back, "the engine's return", limit_s=BOOT_LIMIT_S)
    assert not [pid for pid in before if is_alive(pid)]
    assert ask(serving) == ANSWER


def test_every_boot_is_in_the_history_with_its_phases(serving: Serving) -> None:
    """The first is cold and took the published time for a forecast; the next know better.

    No boot of its own: those of the tests before are looked at.
    """
    first, *others = serving.weir.json("boots")["boots"]

    assert (first["is_cold"], first["outcome"], first["attempt"]) == (True, "served", "first")
    assert first["forecast_s"] == 53.0
    assert list(first["phases_s"]) == [
        "interpreter", "config", "engine", "weights", "kv-cache", "server", "first-token",
    ]  # fmt: skip
    assert sum(first["phases_s"].values()) == pytest.approx(first["boot_s"], abs=0.5)
    assert first["pool_tokens"] == 23_296
    assert first["kv_bytes"] > 1_000_000_000
    assert {one["attempt"] for one in others} <= {"first", "restart"}
    assert all(one["is_cold"] is False and one["why"] == [] for one in others)
    assert all(one["forecast_s"] is not None for one in others)
