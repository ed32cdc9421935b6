"""The calls about getting models ready, as a program would send them."""

import pytest

from studio.control.router import Router
from tests.control.test_alarms import ask, router
from tests.fakes.catalogue import PRESET

__all__ = ["router"]


async def test_a_preset_says_how_its_models_stand(router: Router) -> None:
    """All is here: nothing to fetch; preparing it again does nothing."""
    _, missing = await ask(router, "GET", f"/models/missing/{PRESET}")
    _, prepared = await ask(router, "POST", "/models/prepare", {"name": PRESET})

    assert missing == prepared
    assert missing["is_usable"] is True
    assert missing["models"][0]["state"] == "unproven"


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("GET", "/models/missing/no-such", None, 404, "model-unknown"),
        ("GET", "/models/missing/..%2F..%2Fetc", None, 404, "model-unknown"),
        ("POST", "/models/prepare", {"name": "no-such"}, 404, "model-unknown"),
        ("POST", "/models/prepare", {"name": 3}, 400, "request-invalid"),
        ("POST", "/models/prepare", {"name": "a", "force": True}, 400, "request-invalid"),
        ("POST", "/models/prepare", {}, 400, "request-invalid"),
    ],
)
async def test_nonsense_is_refused_with_its_code(
    router: Router, method: str, path: str, body: object, status: int, code: str
) -> None:
    """And fetches nothing."""
    found, answer = await ask(router, method, path, body)

    assert (found, answer["code"]) == (status, code)
