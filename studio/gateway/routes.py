"""The allow-list: what the gateway answers, and nothing else.

The engine leaves much open that must stay closed (`/invocations` runs a whole chat without a key,
`/metrics`, `/tokenize`, in dev mode `/sleep`): a path that is not here is never passed on.
"""

import dataclasses
import enum
import re
from urllib.parse import unquote

from studio.gateway.dialects import Dialect


class Action(enum.StrEnum):
    """What is done with a request."""

    GREET = "greet"
    LIST_MODELS = "list-models"
    SHOW_MODEL = "show-model"
    PASS = "pass"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One path, or one shape of paths."""

    name: str
    method: str
    action: Action
    dialect: Dialect = Dialect.OPENAI
    names_model: bool = False
    """Whether the body names a model, which may be left out."""
    takes_stream_options: bool = False
    """Whether a stream's usage has to be asked for."""
    streams: bool = False
    """Whether an answer may be a stream of events."""

    @property
    def allow(self) -> str:
        """Return the methods for an Allow header."""
        return "GET, HEAD" if self.method == "GET" else self.method


def _post(
    name: str,
    dialect: Dialect,
    *,
    takes_stream_options: bool = False,
    names_model: bool = True,
    streams: bool = False,
) -> Route:
    return Route(
        name=name,
        method="POST",
        action=Action.PASS,
        dialect=dialect,
        names_model=names_model,
        takes_stream_options=takes_stream_options,
        streams=streams or takes_stream_options,
    )


_EXACT = {
    route.name: route
    for route in (
        Route(name="/", method="GET", action=Action.GREET),
        Route(name="/v1/models", method="GET", action=Action.LIST_MODELS),
        _post("/v1/chat/completions", Dialect.OPENAI, takes_stream_options=True),
        _post("/v1/completions", Dialect.OPENAI, takes_stream_options=True),
        _post("/v1/embeddings", Dialect.OPENAI),
        _post("/v1/rerank", Dialect.OPENAI),
        _post("/v1/score", Dialect.OPENAI),
        _post("/v1/audio/transcriptions", Dialect.OPENAI, names_model=False),  # a form, no JSON
        _post("/v1/audio/translations", Dialect.OPENAI, names_model=False),
        _post("/pooling", Dialect.OPENAI),
        _post("/classify", Dialect.OPENAI),
        _post("/tokenize", Dialect.OPENAI),
        _post("/detokenize", Dialect.OPENAI),
        _post("/v1/responses", Dialect.OPENAI_RESPONSES, streams=True),
        _post("/v1/messages", Dialect.ANTHROPIC, streams=True),
        _post("/v1/messages/count_tokens", Dialect.ANTHROPIC),
    )
}
_MODELS = "/v1/models/"
_SHOW_MODEL = Route(name="/v1/models/{id}", method="GET", action=Action.SHOW_MODEL)
_RESPONSE = re.compile(r"/v1/responses/[A-Za-z0-9_-]{1,128}(?P<cancel>/cancel)?")
_GET_RESPONSE = Route(
    name="/v1/responses/{id}",
    method="GET",
    action=Action.PASS,
    dialect=Dialect.OPENAI_RESPONSES,
)
_CANCEL_RESPONSE = Route(
    name="/v1/responses/{id}/cancel",
    method="POST",
    action=Action.PASS,
    dialect=Dialect.OPENAI_RESPONSES,
)


def find(path: str) -> Route | None:
    """Return the route of an exact path; nothing is normalised, so nothing slips past."""
    route = _EXACT.get(path)
    if route is not None:
        return route
    if path.startswith(_MODELS) and len(path) > len(_MODELS):
        return _SHOW_MODEL
    match = _RESPONSE.fullmatch(path)
    if match is None:
        return None
    return _CANCEL_RESPONSE if match["cancel"] else _GET_RESPONSE


def passing() -> tuple[Route, ...]:
    """Return the routes that go to the engine."""
    return (
        *(route for route in _EXACT.values() if route.action is Action.PASS),
        _GET_RESPONSE,
        _CANCEL_RESPONSE,
    )


def model_id(path: str) -> str:
    """Return the model that `/v1/models/{id}` names; an id may hold slashes."""
    return unquote(path.removeprefix(_MODELS))


def dialect_of(path: str) -> Dialect:
    """Return in whose words to refuse a path, known or not."""
    route = find(path)
    if route is not None:
        return route.dialect
    return Dialect.ANTHROPIC if path.startswith("/v1/messages") else Dialect.OPENAI
