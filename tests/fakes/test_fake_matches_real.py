"""The fake engine answers as the real one does: the rest of the suite stands on it.

The same calls go to the fake and to what is compared with: recorded answers (always), and the real
engine where it is installed (lane `real`). The recordings are of the engine as upstream ships it,
what is installed has the Studio's own patches; the fake is started as either. Compared are status,
headers, the structure of documents, the sequence of events in streams, the sentences of errors, and
the names of metrics.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Protocol

import pytest

from tests.fakes import running
from tests.fakes.recordings import ENGINE
from tests.fakes.running import Answer, Engine

API = ENGINE / "api"
FLAGS = ("--max-model-len", "2048", "--enable-prompt-tokens-details")

CALLS = [
    "health",
    "ping",
    "version",
    "load",
    "models",
    "model-one",
    "not-found",
    "kv_event_sources",
    "nokey_v1_models",
    "nokey_nope",
    "nokey-post_ping",
    "nokey-post_v1_chat_completions",
    "nokey-post_v1_messages",
    "nokey-post_v1_load_lora_adapter",
    "nokey-post_inference_v1_generate",
    "auth-x-api-key",
    "chat",
    "chat-again-cached",
    "chat-long-1",
    "chat-long-2-cached",
    "chat-stream",
    "chat-stream-length",
    "chat-stream-continuous-usage",
    "chat-timing",
    "completions",
    "completions-stream",
    "messages",
    "messages-stream",
    "messages-count-tokens",
    "messages-err-404",
    "responses",
    "responses-stream",
    "render",
    "err-400-bad-json",
    "err-400-max-tokens",
    "err-400-missing-field",
    "err-400-temperature",
    "err-400-too-long",
    "err-401-chat",
    "err-401-wrong-key",
    "err-404-model",
    "err-405",
]
UNRECORDED: dict[str, tuple[str, str, object]] = {
    "embeddings": ("POST", "/v1/embeddings", {"model": "smollm2", "input": "hi"}),
    "messages without a model": (
        "POST",
        "/v1/messages",
        {"max_tokens": 4, "messages": [{"role": "user", "content": "hi"}]},
    ),
    "messages without a limit": (
        "POST",
        "/v1/messages",
        {"model": "smollm2", "messages": [{"role": "user", "content": "hi"}]},
    ),
    "messages too long": (
        "POST",
        "/v1/messages",
        {
            "model": "smollm2",
            "max_tokens": 4,
            "messages": [{"role": "user", "content": "word " * 3000}],
        },
    ),
    "messages cut short": (
        "POST",
        "/v1/messages",
        {
            "model": "smollm2",
            "max_tokens": 2,
            "messages": [{"role": "user", "content": "Tell me a story."}],
        },
    ),
    "chat without a model": (
        "POST",
        "/v1/chat/completions",
        {"max_tokens": 4, "messages": [{"role": "user", "content": "hi"}]},
    ),
    "responses cut short": (
        "POST",
        "/v1/responses",
        {"model": "smollm2", "max_output_tokens": 2, "input": "Tell me a story."},
    ),
    "responses, unknown model": ("POST", "/v1/responses", {"model": "nope", "input": "hi"}),
    "responses too long": ("POST", "/v1/responses", {"model": "smollm2", "input": "word " * 3000}),
    "completions, no prompt": ("POST", "/v1/completions", {"model": "smollm2"}),
    "count_tokens, unknown model": (
        "POST",
        "/v1/messages/count_tokens",
        {"model": "nope", "messages": [{"role": "user", "content": "hi"}]},
    ),
    "no body": ("POST", "/v1/chat/completions", None),
    "wrong method": ("DELETE", "/v1/models", None),
}
"""Asked of the real engine only, since nobody recorded them."""


class RealEngine(Protocol):
    """What the fixture `real_engine` gives."""

    socket: str
    key: str
    served_name: str


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    """Return a fake engine with our patches, as the installed one has them."""
    with running.fake(*FLAGS) as fake:
        yield fake.engine


@pytest.fixture(scope="module")
def upstream() -> Iterator[Engine]:
    """Return a fake engine started like the recorded one, which has no patches."""
    with running.fake(*FLAGS, environment={"FAKE_VLLM_UNPATCHED": "1"}) as fake:
        yield fake.engine


def ask(engine: Engine, request: Mapping[str, object], served_name: str) -> Answer:
    """Send a recorded request; the model is called as it is here."""
    auth = request.get("auth")
    headers = request.get("headers")
    fields = dict(headers) if isinstance(headers, dict) else {}
    key = engine.key if auth == "right key" else None
    if isinstance(auth, str) and key is None:
        fields["Authorization"] = auth
    body = request.get("body")
    if isinstance(body, dict) and body.get("model") == "smollm2":
        body = {**body, "model": served_name}
    return engine.call(str(request["method"]), str(request["path"]), body, key=key, headers=fields)


def recorded_request(name: str) -> dict[str, object]:
    """Return a request of tests/data/engine/api."""
    request = json.loads((API / f"{name}.req.json").read_text(encoding="utf-8"))
    assert isinstance(request, dict)
    return request


def recorded_answer(name: str) -> Answer:
    """Return what the recorded engine answered to it."""
    head, _, body = (API / f"{name}.http").read_bytes().partition(b"\n\n")
    first, *lines = head.decode().split("\n")
    fields = dict(line.split(": ", 1) for line in lines)
    return Answer(status=int(first.split()[1]), headers=fields, body=body.rstrip(b"\n"))


def structure(value: object) -> object:
    """Return a document's keys and kinds of values."""
    if isinstance(value, dict):
        return {key: structure(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [structure(value[0])] if value else []
    if isinstance(value, bool | str) or value is None:
        return type(value).__name__
    return "number"


def differences(found: object, expected: object, place: str = "$") -> list[str]:
    """Return where two structures differ; null and an empty list go with anything there."""
    if "NoneType" in (found, expected) or [] in (found, expected):
        return []
    if isinstance(found, dict) and isinstance(expected, dict):
        wrong = [f"{place}.{key} is extra" for key in found.keys() - expected.keys()]
        wrong += [f"{place}.{key} is missing" for key in expected.keys() - found.keys()]
        for key in found.keys() & expected.keys():
            wrong += differences(found[key], expected[key], f"{place}.{key}")
        return wrong
    if isinstance(found, list) and isinstance(expected, list):
        return differences(found[0], expected[0], f"{place}[]")
    return [] if found == expected else [f"{place}: {found} instead of {expected}"]


def steps(answer: Answer) -> list[tuple[str, object]]:
    """Return a stream's events as names and structures, repetitions of the same one once."""
    seen: list[tuple[str, object]] = []
    for name, document in answer.events():
        step = (name, document if isinstance(document, str) else structure(document))
        if not seen or seen[-1] != step:
            seen.append(step)
    return seen


def compare(found: Answer, expected: Answer) -> None:
    """Fail where two answers would look different to a client."""
    assert found.status == expected.status
    for name in ("content-type", "transfer-encoding", "vary", "server", "allow"):
        assert found.headers.get(name) == expected.headers.get(name), name
    if "text/event-stream" in expected.headers.get("content-type", ""):
        compare_streams(found, expected)
    elif expected.status >= 400:
        assert sentence(found) == sentence(expected)
    elif expected.body:
        assert differences(structure(found.json()), structure(expected.json())) == []
    else:
        assert found.body == b""


def sentence(answer: Answer) -> str:
    """Return an error's body without the names of models that are served there."""
    return re.sub(r"Valid aliases: [^.]*\.", "Valid aliases: …", answer.body.decode())


def compare_streams(found: Answer, expected: Answer) -> None:
    """Fail where events, their order or their documents differ."""
    ours, theirs = steps(found), steps(expected)
    assert [name for name, _ in ours] == [name for name, _ in theirs]
    for (_, our), (name, their) in zip(ours, theirs, strict=True):
        assert differences(our, their) == [], name


def families(text: str) -> set[str]:
    """Return vLLM's families in a metrics text, without those that only some options bring."""
    names = set(re.findall(r"^# TYPE (vllm:\w+) ", text, re.MULTILINE))
    return {name for name in names if not re.search(r"spec_decode|tool_call_parser", name)}


@pytest.mark.parametrize("name", CALLS)
def test_fake_answers_like_the_recorded_engine(upstream: Engine, name: str) -> None:
    """Runs everywhere; the recording is of vLLM 0.32.0 with the demo model."""
    request, expected = recorded_request(name), recorded_answer(name)
    if name == "chat-long-2-cached":
        ask(upstream, recorded_request("chat-long-1"), "smollm2")

    compare(ask(upstream, request, "smollm2"), expected)


def test_fake_counts_cached_tokens_in_blocks_like_the_recorded_engine(upstream: Engine) -> None:
    """The second time a long prompt comes, its whole blocks of 128 tokens are known."""
    request = recorded_request("chat-long-1")
    ask(upstream, request, "smollm2")

    document = ask(upstream, request, "smollm2").json()

    assert isinstance(document, dict)
    cached = document["usage"]["prompt_tokens_details"]["cached_tokens"]
    assert cached >= 128
    assert cached % 128 == 0


def test_fake_has_the_metrics_of_the_recorded_engine(upstream: Engine) -> None:
    """The recording is another one than the fake's template."""
    recorded = families((ENGINE / "metrics" / "main-idle.txt").read_text(encoding="utf-8"))

    answer = upstream.call("GET", "/metrics", key=None)

    assert len(recorded) > 50
    assert families(answer.body.decode()) == recorded


@pytest.mark.parametrize("target", ["/metrics", "/version", "/ping", "/load", "/nope"])
def test_our_patch_is_the_only_difference(engine: Engine, upstream: Engine, target: str) -> None:
    """The two fakes differ in what they ask a key for, and in nothing else."""
    assert engine.call("GET", target, key=None).status == 401
    assert upstream.call("GET", target, key=None).status != 401
    assert engine.call("GET", target).status == upstream.call("GET", target).status


@pytest.mark.real
@pytest.mark.parametrize("name", CALLS)
def test_fake_answers_like_the_real_engine(
    engine: Engine, real_engine: RealEngine, name: str
) -> None:
    """Holds the fake against what is installed; a new vLLM that answers differently fails here."""
    request = recorded_request(name)

    expected = ask(real(real_engine), request, real_engine.served_name)

    compare(ask(engine, request, "smollm2"), expected)


@pytest.mark.real
@pytest.mark.parametrize("name", UNRECORDED)
def test_fake_refuses_like_the_real_engine(
    engine: Engine, real_engine: RealEngine, name: str
) -> None:
    """The calls that no recording holds."""
    method, path, body = UNRECORDED[name]

    expected = real(real_engine).call(method, path, body)

    compare(engine.call(method, path, body), expected)


@pytest.mark.real
def test_fake_has_the_metrics_of_the_real_engine(engine: Engine, real_engine: RealEngine) -> None:
    """Names only; what they count is tested elsewhere."""
    ours = families(engine.call("GET", "/metrics").body.decode())
    theirs = families(real(real_engine).call("GET", "/metrics").body.decode())

    assert ours == theirs


def real(engine: RealEngine) -> Engine:
    """Return a client of the real engine."""
    return Engine(key=engine.key, served_name=engine.served_name, path=engine.socket)
