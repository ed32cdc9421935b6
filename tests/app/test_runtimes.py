"""What the service answers about runtimes, with a real catalogue and a home of its own."""

from pathlib import Path

import pytest

from studio.app.runtimes import Runtimes
from studio.app.updates import Updates
from studio.domain.errors import HostLacks, NeedsConsent, NotFound
from studio.domain.hardware import Gpu, HostSnapshot
from studio.domain.runtimes import InstallRequest, PinRequest, RollbackRequest, RuntimeState
from studio.host.paths import Paths, bundled_root
from studio.host.probe import snapshot
from studio.presets.store import PresetStore
from studio.runtimes.catalog import Catalog
from studio.runtimes.folder import python_of
from studio.runtimes.packages import site_packages
from tests.runtimes.conftest import stand_in
from tests.runtimes.standin import NAME as TINY
from tests.runtimes.standin import StandIn

__all__ = ["stand_in"]

NAME = "cu13-hyperqwen-0.32.0"


@pytest.fixture
def runtimes(tmp_path: Path) -> Runtimes:
    """The shipped catalogue over an empty home."""
    paths = Paths(home=tmp_path, catalogue=bundled_root())

    async def host() -> HostSnapshot:
        return HostSnapshot(system="linux", machine="x86_64", os_name="Debian")

    return Runtimes(paths, Catalog(paths), host, lambda _progress: None)


async def test_the_list_holds_every_recipe(runtimes: Runtimes) -> None:
    """Also those that cannot work here, with the reason."""
    found = (await runtimes.all()).runtimes

    assert len(found) == 6
    assert all(one.usable or one.reasons for one in found)


async def test_a_recipe_that_cannot_be_read_is_in_the_list(stand_in: StandIn) -> None:
    """As damaged, with the place of the mistake; the others are as they were."""
    bad = stand_in.recipe_file.parents[1] / "a-bad-one-1.0" / "runtime.toml"
    bad.parent.mkdir()
    bad.write_text("schema_version = 1\nnmae = 3\n")

    async def host() -> HostSnapshot:
        return snapshot(stand_in.paths.home.parent)

    runtimes = Runtimes(stand_in.paths, Catalog(stand_in.paths), host, stand_in.reports.append)
    damaged, whole = (await runtimes.all()).runtimes

    assert (damaged.name, damaged.state) == ("a-bad-one-1.0", RuntimeState.DAMAGED)
    assert str(bad) in damaged.reasons[0]
    assert (whole.name, whole.state) == (TINY, RuntimeState.AVAILABLE)


async def test_what_was_supplied_counts_at_once(runtimes: Runtimes) -> None:
    """The answer to a pin is the runtime as it then is."""
    assert (await runtimes.one(NAME)).info.state is RuntimeState.NOT_PINNED

    found = await runtimes.pin(NAME, PinRequest(commit="0" * 40))

    assert found.info.state is RuntimeState.UNVERIFIED
    assert found == await runtimes.one(NAME)


async def test_a_pin_of_nothing_known_writes_nothing(runtimes: Runtimes, tmp_path: Path) -> None:
    """A misspelt name must not leave a pin that later counts for something else."""
    with pytest.raises(NotFound) as caught:
        await runtimes.pin("cu13-hyperqwen", PinRequest(commit="0" * 40))

    assert caught.value.code == "runtime-unknown"
    assert Catalog(Paths(home=tmp_path, catalogue=bundled_root())).pinned("cu13-hyperqwen") is None
    assert not any((await runtimes.one(NAME)).agreed)


async def test_an_open_recipe_is_refused_before_the_machine_is_looked_at(
    runtimes: Runtimes, tmp_path: Path
) -> None:
    """The person who only has to supply a hash is told so, and nothing is fetched."""
    with pytest.raises(HostLacks) as caught:
        await runtimes.install(NAME, InstallRequest(consent=True))

    assert caught.value.code == "runtime-not-pinned"


async def test_a_machine_that_lacks_the_card_is_told_before_the_download(
    runtimes: Runtimes,
) -> None:
    """5 GB for nothing is what this prevents."""
    await runtimes.pin("sm70-1cat-1.5.0", PinRequest(confirm=("lock",)))

    with pytest.raises(HostLacks) as caught:
        await runtimes.install("sm70-1cat-1.5.0", InstallRequest(consent=True))

    assert caught.value.code == "runtime-does-not-fit"
    assert "NVIDIA" in caught.value.message


async def test_a_large_download_wants_a_yes(tmp_path: Path) -> None:
    """With the sizes for the question."""
    paths = Paths(home=tmp_path, catalogue=bundled_root())
    card = Gpu(index=0, name="V100", compute_capability="7.0")

    async def host() -> HostSnapshot:
        return HostSnapshot(system="linux", machine="x86_64", os_name="Debian", gpus=(card,))

    runtimes = Runtimes(paths, Catalog(paths), host, lambda _progress: None)
    await runtimes.pin("sm70-1cat-1.5.0", PinRequest(confirm=("lock",)))

    with pytest.raises(NeedsConsent) as caught:
        await runtimes.install("sm70-1cat-1.5.0", InstallRequest())

    assert caught.value.code == "large-download"
    assert caught.value.data["download_bytes"] == 5_316_123_079


async def test_what_is_not_installed_cannot_be_looked_after(runtimes: Runtimes) -> None:
    """Each says so, and what to do."""
    assert (await runtimes.kept(NAME)).kept == ()
    for call in (
        runtimes.verify(NAME, full=False),
        runtimes.repair(NAME),
        runtimes.rollback(NAME, RollbackRequest()),
    ):
        with pytest.raises(NotFound) as caught:
            await call
        assert caught.value.code in ("runtime-not-installed", "nothing-to-roll-back")


async def test_one_life_of_a_runtime(stand_in: StandIn) -> None:
    """Installed, compared, broken, repaired, updated, gone back, gone forward, cleared up."""
    paths = stand_in.paths

    async def host() -> HostSnapshot:
        return snapshot(paths.home.parent)

    catalog, report = Catalog(paths), stand_in.reports.append
    runtimes = Runtimes(paths, catalog, host, report)
    updates = Updates(paths, catalog, PresetStore(paths), host, report)
    first = await runtimes.install(TINY, InstallRequest())
    assert first.info.state is RuntimeState.INSTALLED
    assert (await runtimes.verify(TINY, full=True)).is_whole

    record = (await runtimes.kept(TINY)).kept[0]
    (site_packages(python_of(paths, record)) / "weirtiny" / "part3.py").unlink()
    assert not (await runtimes.verify(TINY, full=True)).is_whole
    assert (await runtimes.repair(TINY)).restored == 1
    assert (await runtimes.verify(TINY, full=True)).is_whole

    lock = stand_in.recipe_file.with_name("requirements.lock")
    lock.write_text(lock.read_text() + "# changed\n")
    assert await runtimes.install(TINY, InstallRequest()) == await runtimes.one(TINY)
    assert (await runtimes.one(TINY)).info.runtime_id == first.info.runtime_id
    second = await updates.update(TINY, InstallRequest())
    back = await runtimes.rollback(TINY, RollbackRequest())
    forward = await runtimes.rollback(TINY, RollbackRequest(forward=True))

    assert back.current == first.info.runtime_id
    assert forward.current == second.after
    assert len(forward.kept) == 2
    assert (await runtimes.collect(dry_run=True)).is_dry_run
