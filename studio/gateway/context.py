"""Keeps a request within the context that its key may use: prompt and answer together.

The engine counts the prompt, with its own tokenizer and template, before the request goes on; that
costs a few milliseconds, and only keys with such a limit pay it. The answer's length is then
bounded by what is left.
"""

from collections.abc import Sequence

import msgspec

from studio.domain.errors import StudioError
from studio.gateway.bodies import appended
from studio.gateway.dialects import Dialect, Refusal, refusal_of
from studio.gateway.engine import EngineTarget
from studio.gateway.routes import Route

_COUNT_S = 30.0
_MOST_PROMPTS = 256
_CHAT_FIELDS = ("model", "messages", "tools", "chat_template_kwargs", "chat_template")
_JSON = (b"content-type", b"application/json")
_ANSWER_FIELDS = {
    Dialect.OPENAI: ("max_completion_tokens", "max_tokens"),
    Dialect.OPENAI_RESPONSES: ("max_output_tokens",),
    Dialect.ANTHROPIC: ("max_tokens",),
}
_COUNTED_ONLY = ("/v1/embeddings", "/v1/messages/count_tokens")
"""No answer of tokens."""

Fields = dict[str, object]


class _Count(msgspec.Struct):
    count: int | None = None
    input_tokens: int | None = None


async def bounded(
    body: bytes, route: Route, engine: EngineTarget, *, most: int, key_name: str
) -> bytes:
    """Return the body whose answer fits; a body that the engine will refuse passes unchanged.

    Raises: Refusal (`key-context`, `context-unknown`).
    """
    fields = _fields(body)
    if fields is None:
        return body
    tokens = await _tokens(fields, route, engine)
    if tokens is None:
        return body
    if tokens > most or (tokens == most and route.name not in _COUNTED_ONLY):
        text = (
            f"The key {key_name!r} may use a context of {most:,} tokens, prompt and answer"
            f" together; this prompt has {tokens:,}."
        )
        raise Refusal(400, "key-context", text)
    if route.name in _COUNTED_ONLY:
        return body
    return _with_room(body, fields, route, most - tokens)


def _with_room(body: bytes, fields: Fields, route: Route, room: int) -> bytes:
    """Return the body with the answer bounded to `room` tokens."""
    names = _ANSWER_FIELDS[route.dialect]
    given = [name for name in names if isinstance(fields.get(name), int)]
    too_large = {name: room for name in given if int(str(fields[name])) > room}
    if given:
        return appended(body, dict(too_large)) if too_large else body
    is_completion = route.name == "/v1/completions"  # the only one without the newer field
    return appended(body, {"max_tokens" if is_completion else names[0]: room})


async def _tokens(fields: Fields, route: Route, engine: EngineTarget) -> int | None:
    """Return the tokens of the longest prompt; None when the engine cannot read the request."""
    match route.name:
        case "/v1/messages" | "/v1/messages/count_tokens":
            asked = {name: value for name, value in fields.items() if name != "stream"}
            return await _count(engine, "/v1/messages/count_tokens", {"max_tokens": 1, **asked})
        case "/v1/chat/completions":
            chat = {name: fields[name] for name in _CHAT_FIELDS if name in fields}
            return await _count(engine, "/tokenize", chat)
        case "/v1/responses":
            parts = [fields.get("instructions"), fields.get("input"), fields.get("tools")]
            return await _count_text(engine, fields, "\n".join(_text(part) for part in parts))
        case _:
            given = fields.get("input" if route.name == "/v1/embeddings" else "prompt")
            counts = [await _count_prompt(engine, fields, one) for one in _prompts(given)]
            return max((count for count in counts if count is not None), default=None)


def _prompts(given: object) -> Sequence[object]:
    if not isinstance(given, list):
        return [given]
    if given and all(isinstance(token, int) for token in given):
        return [given]
    if len(given) > _MOST_PROMPTS:
        text = f"A key with a limited context takes at most {_MOST_PROMPTS} prompts in one request."
        raise Refusal(400, "key-context", text)
    return given


async def _count_prompt(engine: EngineTarget, fields: Fields, prompt: object) -> int | None:
    if isinstance(prompt, list):
        return len(prompt)
    return await _count_text(engine, fields, prompt) if isinstance(prompt, str) else None


async def _count_text(engine: EngineTarget, fields: Fields, text: str) -> int | None:
    return await _count(engine, "/tokenize", {"model": fields.get("model"), "prompt": text})


async def _count(engine: EngineTarget, path: str, asked: Fields) -> int | None:
    try:
        status, _, answer = await engine.upstream.fetch(
            "POST",
            path,
            [_JSON, *engine.authorization],
            msgspec.json.encode(asked),
            timeout_s=_COUNT_S,
        )
    except StudioError as error:
        raise refusal_of(error) from error
    if status == 400:
        return None
    try:
        count = msgspec.json.decode(answer, type=_Count)
    except (msgspec.DecodeError, UnicodeDecodeError):
        count = _Count()
    tokens = count.count if count.count is not None else count.input_tokens
    if status != 200 or tokens is None:
        raise Refusal(
            502,
            "context-unknown",
            "The engine could not count this prompt, and the key has a limit on its context.",
        )
    return tokens


def _text(part: object) -> str:
    if isinstance(part, str):
        return part
    return "" if part is None else msgspec.json.encode(part).decode("utf-8", "replace")


def _fields(body: bytes) -> Fields | None:
    try:
        fields = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return fields if isinstance(fields, dict) else None
