"""What the service does about runtimes that travel as files."""

import asyncio
from pathlib import Path

import pytest

from studio.app.bundles import Bundles
from studio.app.installs import Installs
from studio.domain.bundles import ExportRequest, ImportRequest, TrustRequest
from studio.domain.errors import BadInput, Busy, NotFound, StudioError
from studio.domain.events import StageProgress
from studio.domain.hardware import HostSnapshot
from studio.domain.runtimes import InstallStopped, RuntimeWork
from studio.host.paths import Paths
from studio.host.probe import snapshot
from studio.runtimes.catalog import Catalog
from tests.runtimes.bundles import Made, made
from tests.runtimes.standin import NAME, StandIn

__all__ = ["made"]


def bundles(there: StandIn, paths: Paths | None = None) -> Bundles:
    """Return the service's part over a stand-in's home."""
    paths = paths or there.paths
    paths.home.mkdir(parents=True, exist_ok=True)

    async def host() -> HostSnapshot:
        return snapshot(paths.home)

    return Bundles(paths, Catalog(paths), host, there.reports.append)


def files(folder: Path) -> list[str]:
    """Return what lies in a folder."""
    return [str(path) for path in folder.iterdir()]


async def test_out_of_one_home_and_into_another(made: Made, tmp_path: Path) -> None:
    """By the calls of the control API, the signer trusted on the way."""
    out = await bundles(made.stand_in).export(NAME, ExportRequest(to=str(tmp_path)))
    there = bundles(made.home(tmp_path / "home", trusts=False))

    done = await there.install(ImportRequest(path=out.path, trust=out.fingerprint))

    assert done.runtime_id == made.record.runtime_id
    (only,) = (await there.signers()).signers
    assert only.fingerprint == out.fingerprint
    assert (await there.forget(out.fingerprint)).signers == ()
    named = await there.trust(TrustRequest(fingerprint=out.fingerprint, name="Desk"))
    assert named.signers[0].name == "Desk"


async def test_a_runtime_that_the_catalogue_does_not_know_is_refused(
    made: Made, tmp_path: Path
) -> None:
    """It could be unpacked and never started."""
    home = made.home(tmp_path / "home")
    (tmp_path / "catalogue" / "runtimes").mkdir(parents=True)
    paths = Paths(home=home.paths.home, catalogue=tmp_path / "catalogue")

    with pytest.raises(NotFound) as caught:
        await bundles(home, paths).install(ImportRequest(path=str(made.file)))

    assert caught.value.code == "runtime-uncatalogued"
    assert not paths.runtimes.exists()


@pytest.mark.parametrize("text", ["", "x", "../x", "~/x", "/x\0y"])
async def test_only_whole_paths_are_taken(made: Made, text: str) -> None:
    """The service stands in another folder than whoever asks."""
    service = bundles(made.stand_in)
    for call in (
        service.export(NAME, ExportRequest(to=text)),
        service.export(NAME, ExportRequest(to="/nowhere/x", key=text)),
        service.install(ImportRequest(path=text)),
    ):
        with pytest.raises(BadInput) as caught:
            await call
        assert caught.value.code == "path-relative"


async def test_a_folder_that_is_not_there_does_not_become_a_file(
    made: Made, tmp_path: Path
) -> None:
    """A stick that is not plugged in would be a file of two gigabytes beside the others."""
    service, stick = bundles(made.stand_in), tmp_path / "stick"

    with pytest.raises(NotFound) as caught:
        await service.export(NAME, ExportRequest(to=f"{stick}/"))
    assert caught.value.code == "folder-missing"
    assert not stick.exists()

    stick.mkdir()
    out = await service.export(NAME, ExportRequest(to=f"{stick}/"))
    assert Path(out.path).parent == stick


@pytest.mark.parametrize("saying", ["Reading every file", "Looking at", "Packing"])
async def test_an_export_that_was_stopped_leaves_no_file(
    made: Made, tmp_path: Path, saying: str
) -> None:
    """Neither under its name nor under another; the runtime can be exported again at once."""
    paths, request = made.stand_in.paths, ExportRequest(to=str(tmp_path))
    installs = Installs(paths)
    stops: list[asyncio.Task[InstallStopped]] = []

    async def host() -> HostSnapshot:
        return snapshot(paths.home)

    def hear(progress: StageProgress) -> None:
        if (progress.note or "").startswith(saying) and not stops:
            stops.append(tasks.create_task(installs.stop(NAME)))

    service = Bundles(paths, Catalog(paths), host, hear, installs)
    async with asyncio.TaskGroup() as tasks:
        with pytest.raises(Busy) as caught:
            await service.export(NAME, request)

    assert caught.value.code == "export-stopped"
    (stop,) = stops
    assert stop.result().work is RuntimeWork.EXPORT
    assert files(tmp_path) == []
    done = await service.export(NAME, request)
    assert files(tmp_path) == [done.path]


async def test_a_file_is_named_as_windows_names_it(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command there hands its path on to the service in the Linux."""
    monkeypatch.setenv("WSL_DISTRO_NAME", "weir-studio")
    there = bundles(made.home(tmp_path / "home"))

    with pytest.raises(StudioError) as refused:
        await there.install(ImportRequest(path=r"D:\no such stick\runtime.weir"))

    assert "/mnt/d/no such stick/runtime.weir" in str(refused.value)
