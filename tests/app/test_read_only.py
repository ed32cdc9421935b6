"""A home that nobody may write to: what only reads goes on, everything else says so in words."""

import asyncio
import subprocess
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from studio.app.bundles import Bundles
from studio.app.runtimes import Runtimes
from studio.app.updates import Updates
from studio.domain.bundles import ExportRequest, TrustRequest
from studio.domain.errors import HostLacks
from studio.domain.hardware import HostSnapshot
from studio.domain.runtimes import InstallRequest, PinRequest, RollbackRequest
from studio.host.paths import Paths
from studio.host.probe import snapshot
from studio.presets.store import PresetStore
from studio.runtimes.catalog import Catalog
from studio.runtimes.install import install
from tests.runtimes.conftest import stand_in
from tests.runtimes.standin import NAME, PATCH, PATCH_TEXT, StandIn

__all__ = ["stand_in"]


class Service:
    """The three that answer for runtimes."""

    def __init__(self, paths: Paths, to: Path) -> None:
        async def host() -> HostSnapshot:
            return snapshot(paths.home)

        catalog = Catalog(paths)
        self.to = to
        self.runtimes = Runtimes(paths, catalog, host, lambda _report: None)
        self.bundles = Bundles(paths, catalog, host, lambda _report: None)
        presets = PresetStore(paths)
        self.updates = Updates(paths, catalog, presets, host, lambda _report: None)


WRITES: dict[str, Callable[[Service], Awaitable[object]]] = {
    "pin": lambda one: one.runtimes.pin(NAME, PinRequest(confirm=("mark",))),
    "update": lambda one: one.updates.update(NAME, InstallRequest(consent=True)),
    "repair": lambda one: one.runtimes.repair(NAME),
    "roll back": lambda one: one.runtimes.rollback(NAME, RollbackRequest()),
    "collect": lambda one: one.runtimes.collect(dry_run=False),
    "export": lambda one: one.bundles.export(NAME, ExportRequest(to=str(one.to))),
    "trust": lambda one: one.bundles.trust(TrustRequest(fingerprint="0123-4567-" * 4)),
}
READS: dict[str, Callable[[Service], Awaitable[object]]] = {
    "list": lambda one: one.runtimes.all(),
    "show": lambda one: one.runtimes.one(NAME),
    "verify": lambda one: one.runtimes.verify(NAME, full=True),
    "versions": lambda one: one.runtimes.kept(NAME),
    "updates": lambda one: one.updates.offered(),
    "signers": lambda one: one.bundles.signers(),
}


@pytest.fixture
def service(stand_in: StandIn, tmp_path: Path) -> Iterator[Service]:
    """Install two builds on a disk of their own, which is then made read only."""
    disk = tmp_path / "a dïsk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=80m", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("this user may not mount a small disk")
    try:
        here = stand_in.elsewhere(disk / "home")
        text = here.recipe_file.read_text()
        mark = '[[unverified]]\nname = "mark"\nwhat = "Something."\nblocks = false\n[probe]\n'
        here.recipe_file.write_text(text.replace("[probe]\n", mark, 1))
        asyncio.run(install(here.recipe, here.paths, here.reports.append))
        here.write_patch(PATCH, PATCH_TEXT.replace("+X = 70\n", "+X = 71\n"))
        asyncio.run(install(here.recipe, here.paths, here.reports.append, is_update=True))
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        here.write_patch(PATCH, PATCH_TEXT.replace("+X = 70\n", "+X = 72\n"))
        yield Service(here.paths, tmp_path)
    finally:
        subprocess.run(["umount", str(disk)], check=True)


async def test_what_only_reads_goes_on(service: Service) -> None:
    """Somebody looks at a stick, or at a home whose disk has gone bad."""
    for what, call in READS.items():
        assert await call(service) is not None, what


async def test_what_writes_says_that_it_cannot(service: Service) -> None:
    """One sentence with the place, never a traceback."""
    for what, call in WRITES.items():
        with pytest.raises(HostLacks) as caught:
            await call(service)
        assert caught.value.code == "not-writable", what
        assert "a dïsk" in caught.value.message, what
