"""How a call of the control API is found in a table, read and answered, whatever the transport."""

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Protocol, TypeVar
from urllib.parse import parse_qs

import msgspec

from studio.control.transport import PREFIX
from studio.domain.errors import BadInput, Busy, EngineNotReady, NotFound, StudioError

T = TypeVar("T")

_BAD_INPUT = {"method-not-allowed": 405, "body-too-large": 413}

Query = dict[str, list[str]]
Call = Callable[[Query, bytes, tuple[str, ...]], Awaitable[object]]
Route = tuple[str, "re.Pattern[str]", Call]
PlainCall = Callable[[Query, bytes], Awaitable[object]]
"""A call whose path has no parts."""


class Answers(Protocol):
    """Whatever answers calls: the whole router, or the part that needs no working home."""

    async def answer(self, method: str, path: str, query: str, body: bytes) -> tuple[int, bytes]:
        """Return status and JSON body; every `StudioError` becomes an answer too.

        `path` is as it was sent, percent-encoding included.
        """


async def answered(
    routes: Sequence[Route],
    method: str,
    path: str,
    query: str,
    body: bytes,
    elsewhere: Mapping[str, str] | None = None,
) -> tuple[int, bytes]:
    """Return status and JSON body of one call; `elsewhere` is what the transport itself answers."""
    try:
        result = await _result(routes, method, path, query, body, elsewhere or {})
    except StudioError as error:
        return http_status(error), msgspec.json.encode(error.info)
    return 200, msgspec.json.encode(result)


async def _result(
    routes: Sequence[Route],
    method: str,
    path: str,
    query: str,
    body: bytes,
    elsewhere: Mapping[str, str],
) -> object:
    inside = path.removeprefix(PREFIX) if path.startswith(PREFIX) else ""
    others = []
    for allowed, pattern, call in routes:
        match = pattern.fullmatch(inside)
        if match and allowed == method:
            return await call(parse_qs(query), body, match.groups())
        if match:
            others.append(allowed)
    other = elsewhere.get(inside, method)
    if other != method:
        others.append(other)
    if others:
        raise BadInput("method-not-allowed", f"{path} takes {', '.join(others)}, not {method}.")
    raise NotFound("path-unknown", f"The control API has no {path}.")


def plain_routes(table: Iterable[tuple[str, str, PlainCall]]) -> list[Route]:
    """Return the rows of a table whose paths are fixed: method, path, call."""
    return [
        (method, re.compile(re.escape(path)), _without_parts(call)) for method, path, call in table
    ]


def _without_parts(call: PlainCall) -> Call:
    async def with_parts(query: Query, body: bytes, _parts: tuple[str, ...]) -> object:
        return await call(query, body)

    return with_parts


def http_status(error: StudioError) -> int:
    """Return the HTTP status that goes with an error of ours."""
    match error:
        case NotFound():
            return 404
        case BadInput():
            return _BAD_INPUT.get(error.code, 400)
        case Busy() | EngineNotReady():
            return 409
        case _:
            return 422


def decoded(body: bytes, kind: type[T]) -> T:
    """Return what a body says. Raises: BadInput (`request-invalid`)."""
    try:
        return msgspec.json.decode(body or b"{}", type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(
            "request-invalid", f"The request is not as it should be: {error}."
        ) from error


def word(query: Query, name: str) -> str | None:
    """Return what a query says for `name`."""
    texts = query.get(name)
    return texts[0] if texts else None


def number(query: Query, name: str, default: int | None, *, most: int | None) -> int | None:
    """Return a whole number of a query. Raises: BadInput (`request-invalid`)."""
    texts = query.get(name)
    if not texts:
        return default
    if not texts[0].isdecimal() or len(texts[0]) > 15:
        raise BadInput("request-invalid", f"`{name}` should be a whole number, found `{texts[0]}`.")
    return int(texts[0]) if most is None else min(int(texts[0]), most)
