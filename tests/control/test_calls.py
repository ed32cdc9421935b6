"""How a call is found, read and answered, whatever stands behind the table."""

import json
import re

import pytest

from studio.control.calls import Query, Route, answered, decoded, http_status, number, word
from studio.control.transport import PREFIX
from studio.domain.errors import BadInput, Busy, EngineFailed, NotFound
from studio.domain.logs import LogLimits


async def _echo(query: Query, body: bytes, parts: tuple[str, ...]) -> object:
    return {"query": query, "body": body.decode(), "parts": parts}


ROUTES: list[Route] = [
    ("GET", re.compile(r"/things/([^/]+)"), _echo),
    ("POST", re.compile(r"/things/([^/]+)"), _echo),
]


async def _ask(method: str, path: str, query: str = "") -> tuple[int, dict]:
    status, body = await answered(ROUTES, method, PREFIX + path, query, b"x", {"/events": "GET"})
    return status, json.loads(body)


async def test_a_call_gets_its_query_body_and_parts() -> None:
    """Percent signs are the callee's business."""
    status, answer = await _ask("GET", "/things/a%2Fb", "n=1&n=2")

    assert (status, answer) == (
        200,
        {"query": {"n": ["1", "2"]}, "body": "x", "parts": ["a%2Fb"]},
    )


@pytest.mark.parametrize(
    ("method", "path", "status", "said"),
    [
        ("PUT", "/things/a", 405, "GET, POST"),
        ("POST", "/events", 405, "GET"),
        ("GET", "/things/a/b", 404, "no "),
    ],
)
async def test_a_wrong_call_is_told_what_would_be_right(
    method: str, path: str, status: int, said: str
) -> None:
    """Also of paths that the transport answers itself."""
    found, error = await _ask(method, path)

    assert found == status
    assert said in error["message"]


def test_each_kind_of_error_has_its_status() -> None:
    """Clients go by it before they read."""
    assert http_status(NotFound("x", "No.")) == 404
    assert http_status(Busy("x", "No.")) == 409
    assert http_status(EngineFailed("x", "No.")) == 422
    assert http_status(BadInput("method-not-allowed", "No.")) == 405


@pytest.mark.parametrize("body", [b"{", b"[]", b'{"files": "x"}', b'{"filez": 1}', b"\xff"])
def test_a_body_that_is_not_as_it_should_be_is_refused(body: bytes) -> None:
    """Bodies come from anybody with the token."""
    with pytest.raises(BadInput) as caught:
        decoded(body, LogLimits)

    assert caught.value.code == "request-invalid"


def test_words_and_numbers_of_a_query() -> None:
    """A number may be bounded, and is refused when it is none."""
    query = {"n": ["12"], "x": ["a b"]}

    assert word(query, "x") == "a b"
    assert word(query, "y") is None
    assert number(query, "n", 1, most=5) == 5
    assert number(query, "m", 7, most=5) == 7
    with pytest.raises(BadInput):
        number(query, "x", None, most=None)
