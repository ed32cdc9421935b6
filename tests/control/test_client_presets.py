"""Where calls about presets, plans and boots go."""

from studio.domain.presets import (
    ArgvRequest,
    CopyRequest,
    EditRequest,
    ImportPresetRequest,
    UpdateRequest,
)
from tests.control.test_client import check


async def test_every_call_goes_where_the_document_says() -> None:
    """Names travel as one part of a path, whatever is in them."""
    await check(
        [
            (lambda c: c.presets(), "GET", "/presets", ""),
            (lambda c: c.presets("a b.json"), "GET", "/presets", "host=a%20b.json"),
            (lambda c: c.preset("27b.x"), "GET", "/presets/27b%2Ex", ""),
            (lambda c: c.preset_text("x"), "GET", "/presets/x/text", ""),
            (lambda c: c.preset_diff("x", "y&z"), "GET", "/presets/x/diff", "other=y%26z"),
            (lambda c: c.copy_preset("x", CopyRequest(id="y")), "POST", "/presets/x/copy", ""),
            (lambda c: c.edit_preset("x", EditRequest()), "POST", "/presets/x/edit", ""),
            (lambda c: c.import_preset(ImportPresetRequest(text="x")), "POST", "/presets", ""),
            (lambda c: c.argv(ArgvRequest(preset="x")), "POST", "/argv", ""),
            (lambda c: c.retitle_preset("x", "Y"), "POST", "/presets/x/title", ""),
            (lambda c: c.remove_preset("x/y"), "POST", "/presets/x%2Fy/remove", ""),
            (
                lambda c: c.update_preset("x", UpdateRequest(take=("a",))),
                "POST",
                "/presets/x/update",
                "",
            ),
            (lambda c: c.pin_preset("x"), "POST", "/presets/x/pin", ""),
            (lambda c: c.unpin_preset("x"), "POST", "/presets/x/unpin", ""),
            (lambda c: c.boots(limit=3), "GET", "/boots", "limit=3"),
        ]
    )
