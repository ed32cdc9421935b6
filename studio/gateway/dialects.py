"""The two dialects that clients speak, and how each words an error."""

import enum

import msgspec

from studio.domain.errors import StudioError


class Dialect(enum.StrEnum):
    """Whose API a route belongs to."""

    OPENAI = "openai"
    OPENAI_RESPONSES = "openai-responses"
    ANTHROPIC = "anthropic"


_OPENAI_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    405: "invalid_request_error",
    413: "invalid_request_error",
    429: "rate_limit_error",
}
_ANTHROPIC_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    405: "invalid_request_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
}


class Refusal(Exception):
    """An answer of the gateway's own: HTTP status, stable code, sentence."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        param: str | None = None,
        headers: tuple[tuple[bytes, bytes], ...] = (),
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.param = param
        self.headers = headers


_STATUSES = {
    "body-too-large": 413,
    "bodies-too-many": 503,
    "engine-unreachable": 503,
    "engine-late": 503,
    "engine-cut-off": 502,
    "engine-nonsense": 502,
}
RETRY_NOT_READY_S = 5


def refusal_of(error: StudioError) -> Refusal:
    """Return how an error of ours is answered."""
    status = _STATUSES.get(error.code, 502)
    retry = ((b"retry-after", b"%d" % RETRY_NOT_READY_S),) if status == 503 else ()
    return Refusal(status, error.code, sentence(error), headers=retry)


def sentence(error: StudioError) -> str:
    """Return what failed and what to do, in one line."""
    return f"{error.message} {error.hint}" if error.hint else error.message


def error_body(dialect: Dialect, refusal: Refusal) -> bytes:
    """Return the JSON of an error as the dialect's own clients expect it."""
    return msgspec.json.encode(_error(dialect, refusal))


def error_event_of(dialect: Dialect, body: bytes) -> bytes:
    """Return an error of the engine's, a whole JSON document, as the end of a stream."""
    body = b" ".join(body.split(b"\n"))  # an event's data has one line; strings hold none
    if dialect is Dialect.OPENAI:
        return b"data: " + body + b"\n\ndata: [DONE]\n\n"
    return b"event: error\ndata: " + body + b"\n\n"


def error_event(dialect: Dialect, refusal: Refusal) -> bytes:
    """Return the events that end a stream which can no longer end well."""
    if dialect is Dialect.OPENAI:
        return error_event_of(dialect, error_body(dialect, refusal))
    error = _error(dialect, refusal)
    if dialect is Dialect.OPENAI_RESPONSES:
        # The event as documented, with the error object beside it: the official client raises on
        # that, and takes the bare event for one more delta.
        flat = {"type": "error", "code": refusal.code, "message": refusal.message, "param": None}
        error = flat | error
    return error_event_of(dialect, msgspec.json.encode(error))


def _error(dialect: Dialect, refusal: Refusal) -> dict[str, object]:
    if dialect is Dialect.ANTHROPIC:
        kind = _ANTHROPIC_TYPES.get(refusal.status, "api_error")
        return {"type": "error", "error": {"type": kind, "message": refusal.message}}
    return {
        "error": {
            "message": refusal.message,
            "type": _OPENAI_TYPES.get(refusal.status, "server_error"),
            "param": refusal.param,
            "code": refusal.code,
        }
    }
