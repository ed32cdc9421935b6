"""Errors in the shape that each dialect's own clients read."""

import json

import pytest

from studio.domain.errors import BadInput, EngineFailed, EngineNotReady, HostLacks
from studio.gateway.dialects import Dialect, Refusal, error_body, error_event, refusal_of

REFUSAL = Refusal(502, "engine-cut-off", "The engine closed the connection.")


def test_an_openai_error_has_message_type_param_and_code():
    """Clients print `message` and switch on `code`."""
    assert json.loads(error_body(Dialect.OPENAI, REFUSAL)) == {
        "error": {
            "message": "The engine closed the connection.",
            "type": "server_error",
            "param": None,
            "code": "engine-cut-off",
        }
    }


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, "authentication_error"),
        (403, "permission_error"),
        (404, "not_found_error"),
        (413, "request_too_large"),
        (429, "rate_limit_error"),
        (502, "api_error"),
        (503, "overloaded_error"),
    ],
)
def test_an_anthropic_error_has_the_type_of_its_status(status, kind):
    """The official client maps these types to its exceptions."""
    body = json.loads(error_body(Dialect.ANTHROPIC, Refusal(status, "x", "words")))

    assert body == {"type": "error", "error": {"type": kind, "message": "words"}}


def test_a_stream_ends_with_an_event_of_its_dialect():
    """A cut must be told, in a way the client's stream reader raises on."""
    openai = error_event(Dialect.OPENAI, REFUSAL)
    anthropic = error_event(Dialect.ANTHROPIC, REFUSAL)
    responses = error_event(Dialect.OPENAI_RESPONSES, REFUSAL)

    assert openai.startswith(b'data: {"error":{')
    assert openai.endswith(b"\n\ndata: [DONE]\n\n")
    assert anthropic.startswith(b'event: error\ndata: {"type":"error","error":{')
    assert json.loads(responses.partition(b"data: ")[2])["code"] == "engine-cut-off"
    assert json.loads(responses.partition(b"data: ")[2])["error"]["code"] == "engine-cut-off"


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (BadInput("body-too-large", "Too large."), 413),
        (HostLacks("bodies-too-many", "Too much at once."), 503),
        (EngineNotReady("engine-unreachable", "Away."), 503),
        (EngineNotReady("engine-late", "Late."), 503),
        (EngineFailed("engine-cut-off", "Cut."), 502),
        (EngineFailed("engine-nonsense", "What."), 502),
    ],
)
def test_our_errors_have_their_status_and_say_when_to_try_again(error, status):
    """Clients retry on 503 when they are told how soon."""
    refusal = refusal_of(error)

    assert (refusal.status, refusal.code) == (status, error.code)
    assert any(name == b"retry-after" for name, _ in refusal.headers) == (status == 503)
