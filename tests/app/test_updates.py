"""Updates happen when a person asks, and only then; what fails leaves what works."""

import pytest

from studio.app.runtimes import Runtimes
from studio.app.updates import Updates
from studio.domain.errors import Damaged, HostLacks, NeedsConsent, NotFound
from studio.domain.hardware import HostSnapshot
from studio.domain.runtimes import InstallRequest, RollbackRequest, UpdateKind
from studio.host.probe import snapshot
from studio.presets.store import PresetStore
from studio.runtimes import folder, sizes
from studio.runtimes.catalog import Catalog
from studio.runtimes.install import install
from studio.runtimes.repair import ensure_whole
from tests.runtimes.conftest import stand_in
from tests.runtimes.sharing_pair import add
from tests.runtimes.standin import NAME, StandIn
from tests.runtimes.test_canary import with_canary

__all__ = ["stand_in"]


def made(stand_in: StandIn) -> tuple[Runtimes, Updates]:
    """Return both over one home, on this machine."""
    paths = stand_in.paths
    catalog, report = Catalog(paths), stand_in.reports.append

    async def host() -> HostSnapshot:
        return snapshot(paths.home.parent)

    return (
        Runtimes(paths, catalog, host, report),
        Updates(paths, catalog, PresetStore(paths), host, report),
    )


async def test_nothing_is_replaced_without_a_word(stand_in: StandIn) -> None:
    """A start, an install and a look leave the installed one; only `update` does not."""
    runtimes, updates = made(stand_in)
    first = await runtimes.install(NAME, InstallRequest())
    assert (await updates.offered()).updates == ()
    add(stand_in, "weirmore")

    used = await ensure_whole(stand_in.recipe, stand_in.paths, stand_in.reports.append)
    await runtimes.install(NAME, InstallRequest(consent=True))
    (offer,) = (await updates.offered()).updates

    assert used is not None
    assert used.runtime_id == first.info.runtime_id == offer.runtime_id
    assert (await runtimes.kept(NAME)).current == first.info.runtime_id
    assert len((await runtimes.kept(NAME)).kept) == 1
    done = await updates.update(NAME, InstallRequest())
    assert (done.before, done.after) == (
        first.info.runtime_id,
        (await runtimes.kept(NAME)).current,
    )
    assert done.before != done.after
    assert (await updates.offered()).updates == ()
    again = await updates.update(NAME, InstallRequest())
    assert again.before == again.after == done.after


async def test_after_a_step_back_the_newer_one_is_offered_and_costs_nothing(
    stand_in: StandIn,
) -> None:
    """It is here; taking it is one rename, after another look that it works."""
    runtimes, updates = made(stand_in)
    await runtimes.install(NAME, InstallRequest())
    add(stand_in, "weirmore")
    newer = await updates.update(NAME, InstallRequest())
    await runtimes.rollback(NAME, RollbackRequest())

    (offer,) = (await updates.offered()).updates
    assert (offer.is_here, offer.fetch_bytes) == (True, 0)
    assert (await updates.update(NAME, InstallRequest())).after == newer.after


async def test_what_does_not_work_here_is_not_used(stand_in: StandIn) -> None:
    """The canary has the last word, and the present one goes on."""
    runtimes, updates = made(stand_in)
    first = await runtimes.install(NAME, InstallRequest())
    add(stand_in, "weirmore")
    with_canary(stand_in, "print('WEIR-CANARY', '[{\"name\": \"boot\", \"is_well\": false,"
                          " \"said\": \"no such card\"}]')")  # fmt: skip

    with pytest.raises(Damaged) as caught:
        await updates.update(NAME, InstallRequest())

    assert caught.value.code == "canary-failed"
    assert "no such card" in caught.value.message
    assert (first.info.runtime_id or "?")[:12] in caught.value.message
    assert (await runtimes.kept(NAME)).current == first.info.runtime_id
    found = folder.in_use(stand_in.paths, NAME)
    assert found is not None
    assert found.runtime_id == first.info.runtime_id
    with_canary(stand_in, 'print(\'WEIR-CANARY\', \'[{"name": "boot", "is_well": true}]\')')
    assert (await updates.update(NAME, InstallRequest())).after != first.info.runtime_id


async def test_what_is_not_installed_or_not_for_this_machine_is_refused(
    stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything is fetched, and with the way out."""
    runtimes, updates = made(stand_in)
    with pytest.raises(NotFound) as missing:
        await updates.update(NAME, InstallRequest())
    with pytest.raises(NotFound) as unknown:
        await updates.update("nope", InstallRequest())
    await runtimes.install(NAME, InstallRequest())
    add(stand_in, "weirmore")
    monkeypatch.setattr(sizes, "fetch_bytes", lambda *_arguments: 3 << 30)
    with pytest.raises(NeedsConsent) as large:
        await updates.update(NAME, InstallRequest())
    stand_in.edit("disk_bytes = 2_000_000", "disk_bytes = 9_000_000_000_000_000")
    with pytest.raises(HostLacks) as unfit:
        await updates.update(NAME, InstallRequest())

    assert missing.value.code == "runtime-not-installed"
    assert unknown.value.code == "runtime-unknown"
    assert large.value.code == "large-download"
    assert unfit.value.code == "runtime-does-not-fit"
    assert len((await runtimes.kept(NAME)).kept) == 1


async def test_a_newer_runtime_of_its_kind_is_offered_beside_it(stand_in: StandIn) -> None:
    """Two releases of one engine are two runtimes; presets say which they run on."""
    runtimes, updates = made(stand_in)
    await runtimes.install(NAME, InstallRequest())
    newer = stand_in.recipe_file.parents[1] / "tiny-1.1"
    newer.mkdir()
    for path in stand_in.recipe_file.parent.iterdir():
        if path.is_file():
            (newer / path.name).write_bytes(path.read_bytes())
    (newer / "patches").mkdir()
    for path in (stand_in.recipe_file.parent / "patches").iterdir():
        (newer / "patches" / path.name).write_bytes(path.read_bytes())
    text = (newer / "runtime.toml").read_text()
    text = text.replace('name = "tiny-1.0"', 'name = "tiny-1.1"')
    text = text.replace('engine_version = "1.0"', 'engine_version = "1.1"')
    (newer / "runtime.toml").write_text(text)

    (offer,) = (await updates.offered()).updates

    assert (offer.kind, offer.runtime, offer.target) == (UpdateKind.RELEASE, NAME, "tiny-1.1")
    assert offer.fetch_bytes == 0  # the same packages, which the store has
    assert offer.packages == ()
    recipe = Catalog(stand_in.paths).recipe("tiny-1.1")
    await install(recipe, stand_in.paths, stand_in.reports.append)
    assert (await updates.offered()).updates == ()
