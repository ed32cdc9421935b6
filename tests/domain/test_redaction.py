"""What a log may not keep: keys of every kind, and what people wrote to a model."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.domain.redaction import redact

SECRET = "Zq7Rt9Lm2Xw5"
WORDS = "Geheimnis ohne Namen"


@pytest.mark.parametrize(
    "text",
    [
        f"sk-{SECRET}",
        f"sk-weir-{SECRET}",
        f"hf_{SECRET}",
        f"Authorization: Bearer {SECRET}",
        f"authorization=bearer%20{SECRET}",
        "Proxy-Authorization: Basic dXNlcjpacTdSdDlMbTJYdzU=",
        f"http://user:{SECRET}@proxy.example:3128/",
        f"https://{SECRET}@host/path",
        f"http://user:p@ss/{SECRET}@proxy:3128",
        f"proxy=http%3A%2F%2Fuser%3A{SECRET}%40proxy",
        f"GET /v1/models?api_key={SECRET}&x=1",
        f"GET /x?X-Amz-Signature={SECRET}",
        f"GET /x?access_token={SECRET}",
        f"VLLM_API_KEY={SECRET}",
        f"env HF_TOKEN {SECRET}",
        f"AWS_SECRET_ACCESS_KEY: {SECRET}",
        f"'api_key': ['{SECRET}', 'b']",
        f'{{"password": "{SECRET} with words"}}',
        f'{{\\"client_secret\\": \\"{SECRET}\\"}}',
        f"['serve', '--api-key', '{SECRET}']",
        f"serve m --api-key={SECRET}",
        f"--hf-token {SECRET}",
        f"password = '{SECRET}'",
    ],
)
def test_a_key_of_any_kind_is_masked(text: str) -> None:
    """Logs are pasted into bug reports; a key in one is a key in the world."""
    masked = redact(f"before {text} after")

    assert SECRET not in masked
    assert "***" in masked
    assert masked.startswith("before ")


@pytest.mark.parametrize(
    "text",
    [
        "Avg prompt throughput: 6.2 tokens/s, Avg generation throughput: 1.9 tokens/s",
        "max_num_batched_tokens=2048, max_tokens: 16, token_ids",
        "eos_token_id=2, pad_token=None, tokenizer='/srv/models/x'",
        "Basic authentication is not used",
        "the bearer of bad news",
        "https://docs.vllm.ai/en/latest/@scope/page",
        "key_cache, kv_cache_key=3, api_key=None, 'token': ''",
        "Route: /tokenize, Methods: POST",
        "risk-free task-based",
        "pydantic input_value=ArgsKwargs((), {'model': 'x'}), input_type=ArgsKwargs]",
    ],
)
def test_what_is_no_key_stays(text: str) -> None:
    """A log that is masked too much helps nobody."""
    assert redact(text) == text


@pytest.mark.parametrize(
    "line",
    [
        (
            "Received request chatcmpl-1: prompt: {said!r}, params: SamplingParams(n=1), "
            "prompt_token_ids: [1, 2], prompt_embeds shape: None, lora_request: None."
        ),
        "Received request chatcmpl-1: params: SamplingParams(n=1, seed=7, stop=[{said!r}]).",
        "Request chatcmpl-1 details: prompt: {said!r}, prompt_token_ids: [1, 2, 3",
        (
            "Generated response chatcmpl-1 (streaming complete): output: {said!r}, "
            "output_token_ids: [4], finish_reason: stop"
        ),
        "1 validation error [type=x, input_value={said!r}, input_type=str]",
    ],
)
@given(said=st.text(max_size=40).map(lambda text: f"{text}{WORDS}{text}"))
def test_what_people_write_is_taken_out(line: str, said: str) -> None:
    """`--enable-log-requests` is there to count requests, not to read along."""
    head = "(APIServer pid=1) INFO 11-29 14:25:44 [request_logger.py:65] "
    masked = redact(head + line.format(said=said))

    assert WORDS not in masked
    assert "[1, 2" not in masked
    assert masked.startswith(head)


def test_what_a_script_says_when_the_key_is_missing_stays() -> None:
    """`weir argv` prints it; a script with half of it does not run."""
    for text in (
        ': "${VLLM_API_KEY:?set it to the key that clients send}"',
        'VLLM_API_KEY: "${VLLM_API_KEY:?set it to the key that clients send}"',
        '{"text": ": \\"${VLLM_API_KEY:?set it to the key}\\"\\nexec"}',
        '"VLLM_API_KEY=${VLLM_API_KEY:?set it}"',
    ):
        assert redact(text) == text

    for text in (
        f"${{VLLM_API_KEY:-{SECRET}}}",
        f"VLLM_API_KEY=${{VLLM_API_KEY:?set}}{SECRET}",
        f"VLLM_API_KEY: ?{SECRET}",
        f"${{A}} api_key:?{SECRET}",
    ):
        assert SECRET not in redact(text)


def test_a_prompt_that_looks_like_the_rest_of_the_line_is_no_way_out() -> None:
    """Who writes the prompt may write what stands behind prompts, too."""
    said = f"x', params: SamplingParams(n=1, stop=['{WORDS}']), lora_request: {WORDS}"

    masked = redact(f"Received request 1: prompt: {said!r}, params: SamplingParams(n=2), z")

    assert WORDS not in masked
    assert masked == "Received request 1: prompt: ***, params: n=2"


def test_how_a_request_is_sampled_stays() -> None:
    """It explains the answer, and is no secret."""
    masked = redact("Received request 1: params: SamplingParams(n=1, temperature=0.5, stop=[]), x")

    assert masked == "Received request 1: params: n=1, temperature=0.5"


def test_known_secrets_go_wherever_they_stand() -> None:
    """The engine's key of this boot has no shape of its own."""
    assert redact("x/abcdef/y", ("abcdef",)) == "x/***/y"


def test_lines_stay_lines() -> None:
    """A whole read is redacted at once; nothing may reach over the end of a line."""
    text = f"password='{SECRET}\nnext' line\nReceived request 1: prompt: 'a'\nlast"

    assert redact(text).splitlines()[2:] == ["Received request 1: prompt: ***", "last"]
    assert "next' line" in redact(text)


@given(st.text())
def test_any_text_can_be_redacted_twice(text: str) -> None:
    """What was redacted once is redacted again on its way into a report."""
    once = redact(text)

    assert redact(once).count("\n") == text.count("\n")


@pytest.mark.parametrize(
    "bait",
    [
        "://a:", "token=[", 'token="', "eyJ", "sk-", "-", "a", "?", "Received request ", "basic ",
        "input_value=", "bearer ", "%3a%2f%2f", "password=", "prompt_token_ids=[1,", "?a&key",
    ],
)  # fmt: skip
def test_a_hostile_line_costs_no_more_than_its_length(bait: str) -> None:
    """Prompts and client input reach the log; the service redacts them while it serves."""
    line = bait * (64_000 // len(bait)) + " @ token key %40"

    started = time.process_time()
    redact(line)

    assert time.process_time() - started < 0.5
