"""The calls about the Studio's Linux, where there is no Windows."""

from pathlib import Path

import pytest

from studio.control.launcher import in_process
from studio.control.salvage import Salvage
from studio.domain.errors import StudioError
from studio.domain.wsl import WslRemoveRequest, WslSetupRequest, WslStep
from studio.host.paths import Paths, bundled_root


async def _nothing() -> None:
    return


async def test_without_windows_there_is_nothing_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And no `wsl.exe` to remove anything with."""
    monkeypatch.setenv("PATH", str(tmp_path))
    client = in_process(Salvage(Paths(home=tmp_path / "home", catalogue=bundled_root())), _nothing)

    assert (await client.wsl_report()).step is WslStep.NOT_WINDOWS
    assert (await client.wsl_setup(WslSetupRequest())).step is WslStep.NOT_WINDOWS
    with pytest.raises(StudioError) as caught:
        await client.wsl_remove(WslRemoveRequest(consent=True))
    assert caught.value.code == "program-missing"
