"""The calls that rename, remove and update presets, as a program would send them."""

import pytest

from studio.control.router import Router
from tests.control.test_alarms import ask, router

__all__ = ["router"]


async def test_a_preset_is_copied_renamed_updated_and_removed(router: Router) -> None:
    """What the window's plan page does, in its order; the removal can be undone."""
    copied = {"id": "mine", "values": {"max_num_seqs": "4"}}
    status, _ = await ask(router, "POST", "/presets/fake-demo/copy", copied)
    assert status == 200
    _, renamed = await ask(router, "POST", "/presets/mine/title", {"title": "Für mich"})
    _, updated = await ask(router, "POST", "/presets/mine/update", {})
    _, gone = await ask(router, "POST", "/presets/mine/remove", None)

    assert 'title = "Für mich"' in renamed["text"]
    assert "max_num_seqs = 4" in updated["text"]
    assert not gone["is_bundled_back"]
    status, _ = await ask(router, "POST", "/presets", {"text": gone["text"]})
    assert status == 200


@pytest.mark.parametrize(
    ("path", "body", "status", "code"),
    [
        ("/presets/fake-demo/title", {"title": "x"}, 400, "preset-not-own"),
        ("/presets/fake-demo/remove", None, 400, "preset-not-own"),
        ("/presets/fake-demo/update", {}, 400, "preset-not-own"),
        ("/presets/none/remove", None, 404, "preset-unknown"),
        ("/presets/..%2Fsettings/remove", None, 404, "preset-unknown"),
        ("/presets/fake-demo/update", {"take": "all"}, 400, "request-invalid"),
        ("/presets/fake-demo/title", {}, 400, "request-invalid"),
    ],
)
async def test_nonsense_is_refused_with_its_code(
    router: Router, path: str, body: object, status: int, code: str
) -> None:
    """And changes nothing."""
    found, answer = await ask(router, "POST", path, body)

    assert (found, answer["code"]) == (status, code)
