"""The calls about updates, in a home that nothing runs in."""

from pathlib import Path

import pytest

from studio.control.launcher import in_process
from studio.control.salvage import Salvage
from studio.domain.errors import StudioError
from studio.domain.self_update import Came, UpdateApplyRequest, UpdateCheckRequest, UpdateState
from studio.host.paths import Paths, bundled_root


async def _nothing() -> None:
    return


async def test_updates_can_be_asked_about_in_a_broken_home(tmp_path: Path) -> None:
    """That is when a newer version may be the remedy."""
    paths = Paths(home=tmp_path / "wéir home", catalogue=bundled_root())
    paths.home.mkdir()
    paths.settings_file.write_text("{ broken", encoding="utf-8")
    client = in_process(Salvage(paths), _nothing)

    status = await client.update_status()
    refusals = []
    for call in (
        client.update_check(UpdateCheckRequest()),
        client.update_get(UpdateCheckRequest(source=str(tmp_path))),
        client.update_apply(UpdateApplyRequest()),
        client.update_rollback(),
    ):
        with pytest.raises(StudioError) as caught:
            await call
        refusals.append(caught.value.code)

    assert (status.came, status.state) == (Came.CHECKOUT, UpdateState.NOT_CHECKED)
    assert refusals == [
        "update-feed-unknown", "update-signer-unknown", "update-not-staged",
        "update-by-other-means",
    ]  # fmt: skip
