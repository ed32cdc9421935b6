"""The calls about downloads and tokens, as a program would send them."""

import pytest

from studio.control.router import Router
from tests.control.test_alarms import ask, router

__all__ = ["router"]


async def test_a_limit_is_set_and_taken_away(router: Router) -> None:
    """What the window does."""
    _, limited = await ask(router, "POST", "/downloads/limit", {"bytes_per_s": 1_000_000})
    _, free = await ask(router, "POST", "/downloads/limit", {})

    assert limited["limit_bytes_per_s"] == 1_000_000
    assert free.get("limit_bytes_per_s") is None


@pytest.mark.parametrize(
    ("path", "body", "status", "code"),
    [
        ("/downloads/none/pause", None, 404, "download-unknown"),
        ("/downloads/a%2Fb/first", None, 404, "download-unknown"),
        ("/downloads/limit", {"bytes_per_s": 0}, 400, "download-limit"),
        ("/downloads/limit", {"bytes": 5}, 400, "request-invalid"),
        ("/hubs/login", {"hub": "github"}, 400, "request-invalid"),
        ("/hubs/login", {"token": "a b"}, 400, "hub-token"),
        ("/models/get", {}, 400, "request-invalid"),
    ],
)
async def test_nonsense_is_refused_with_its_code(
    router: Router, path: str, body: object, status: int, code: str
) -> None:
    """And changes nothing."""
    found, answer = await ask(router, "POST", path, body)

    assert (found, answer["code"]) == (status, code)
