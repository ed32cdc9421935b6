"""The calls about removing the Studio."""

from pathlib import Path

import pytest

from studio.control.launcher import in_process
from studio.control.salvage import Salvage
from studio.domain.errors import StudioError
from studio.domain.uninstall import Belongings, UninstallRequest
from studio.host.paths import Paths, bundled_root


async def _nothing() -> None:
    return


async def test_a_broken_home_can_be_listed_and_removed(tmp_path: Path) -> None:
    """That is when people want to remove it."""
    paths = Paths(home=tmp_path / "wéir home", catalogue=bundled_root())
    paths.models.mkdir(parents=True)
    paths.settings_file.write_text("{ broken", encoding="utf-8")
    client = in_process(Salvage(paths), _nothing)

    plan = await client.uninstall_plan()
    result = await client.uninstall(UninstallRequest(remove=tuple(Belongings)))

    assert {place.group for place in plan.places} == {Belongings.MODELS, Belongings.SETTINGS}
    assert result.left == ()
    assert not paths.home.exists()


async def test_an_unknown_group_removes_nothing(tmp_path: Path) -> None:
    """A newer client, an older program."""
    paths = Paths(home=tmp_path, catalogue=bundled_root())
    paths.models.mkdir(parents=True)
    client = in_process(Salvage(paths), _nothing)

    with pytest.raises(StudioError) as caught:
        await client.call("POST", "/uninstall", UninstallRequest, body={"remove": ["everything"]})

    assert caught.value.code == "request-invalid"
    assert paths.models.exists()
