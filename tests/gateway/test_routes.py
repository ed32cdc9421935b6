"""The allow-list: these paths, and not one more."""

import pytest

from studio.gateway.dialects import Dialect
from studio.gateway.routes import Action, dialect_of, find, model_id


@pytest.mark.parametrize(
    ("path", "method", "action", "dialect"),
    [
        ("/", "GET", Action.GREET, Dialect.OPENAI),
        ("/v1/models", "GET", Action.LIST_MODELS, Dialect.OPENAI),
        ("/v1/models/org/name", "GET", Action.SHOW_MODEL, Dialect.OPENAI),
        ("/v1/chat/completions", "POST", Action.PASS, Dialect.OPENAI),
        ("/v1/completions", "POST", Action.PASS, Dialect.OPENAI),
        ("/v1/embeddings", "POST", Action.PASS, Dialect.OPENAI),
        ("/v1/responses", "POST", Action.PASS, Dialect.OPENAI_RESPONSES),
        ("/v1/responses/resp_1", "GET", Action.PASS, Dialect.OPENAI_RESPONSES),
        ("/v1/responses/resp_1/cancel", "POST", Action.PASS, Dialect.OPENAI_RESPONSES),
        ("/v1/messages", "POST", Action.PASS, Dialect.ANTHROPIC),
        ("/v1/messages/count_tokens", "POST", Action.PASS, Dialect.ANTHROPIC),
    ],
)
def test_what_clients_use_is_there(path, method, action, dialect):
    """Both dialects' clients find what they look for."""
    route = find(path)

    assert route is not None
    assert (route.method, route.action, route.dialect) == (method, action, dialect)


@pytest.mark.parametrize(
    "path",
    [
        "/invocations",
        "/metrics",
        "/health",
        "/sleep",
        "/docs",
        "/openapi.json",
        "/v1",
        "/v1/",
        "/v1/chat/completions/",
        "/v1/chat/completions/batch",
        "/v1/chat/../../metrics",
        "/v1/chat%2Fcompletions",
        "//v1/chat/completions",
        "/V1/chat/completions",
        "/v1/models/",
        "/v1/responses/",
        "/v1/responses/a/b",
        "/v1/responses/../../metrics",
        "/v1/responses/a%2f..%2f..%2fmetrics",
        "/v1/responses/a/cancel/x",
        "/v1/load_lora_adapter",
        "/control/v1/status",
        "*",
        "",
    ],
)
def test_what_the_engine_leaves_open_is_not_reachable(path):
    """`/invocations` runs a whole chat without a key; a gate in front is the only lock."""
    assert find(path) is None


def test_a_model_may_have_slashes_and_escapes_in_its_name():
    """Hub names have a slash, and clients escape it or not."""
    assert model_id("/v1/models/Qwen/Qwen3-8B") == "Qwen/Qwen3-8B"
    assert model_id("/v1/models/Qwen%2FQwen3-8B") == "Qwen/Qwen3-8B"


def test_unknown_paths_are_refused_in_the_words_of_their_neighbours():
    """An Anthropic client that asks for what is not there gets an Anthropic error."""
    assert dialect_of("/v1/messages/batches") is Dialect.ANTHROPIC
    assert dialect_of("/v1/nothing") is Dialect.OPENAI
