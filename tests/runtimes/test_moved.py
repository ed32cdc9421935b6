"""A home that was moved or copied: told from damage, put right at first sight, whenever it ends."""

import asyncio
import shutil
import subprocess
from pathlib import Path

import pytest

from studio.app.runtimes import Runtimes
from studio.domain.hardware import HostSnapshot
from studio.domain.integrity import DifferenceKind, Verdict
from studio.host.files import exclusive
from studio.host.probe import snapshot
from studio.runtimes import folder, manifest, moved
from studio.runtimes.catalog import Catalog
from studio.runtimes.versions import INSTALL_LOCK
from tests.runtimes import standin
from tests.runtimes.bundles import Made, export, made
from tests.runtimes.conftest import stand_in
from tests.runtimes.standin import StandIn
from tests.runtimes.test_repair import installed, record_of, verified

__all__ = ["made", "stand_in"]


def copied(one: StandIn, home: Path) -> tuple[StandIn, Path]:
    """Copy a home as `cp -a` does, and return the copy with the folder of its runtime."""
    there = one.elsewhere(home)
    there.paths.home.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cp", "-a", str(one.paths.home), str(there.paths.home)], check=True)
    return there, folder.folder_of(there.paths, record_of(there))


def asked(one: StandIn, *, full: bool = True) -> Verdict:
    """Ask for a verification, as a person does."""

    async def host() -> HostSnapshot:
        return snapshot(one.paths.home.parent)

    runtimes = Runtimes(one.paths, Catalog(one.paths), host, one.reports.append)
    return asyncio.run(runtimes.verify(standin.NAME, full=full))


@pytest.mark.parametrize("full", [False, True])
def test_a_copied_home_verifies_and_names_its_own_place(
    stand_in: StandIn, tmp_path: Path, full: bool
) -> None:
    """`51 files differ` frightened people about a copy that was whole."""
    installed(stand_in)
    there, root = copied(stand_in, tmp_path / "the sté ck" / "weir")
    shutil.move(stand_in.wheels, tmp_path / "wheels that are gone")

    found = asked(there, full=full)

    assert found.differences == ()
    assert verified(there).differences == ()
    old = str(stand_in.paths.home).encode()
    for path in (root / "python" / "bin").iterdir():
        assert path.is_symlink() or old not in path.read_bytes()
    assert verified(stand_in).differences == ()


def test_what_was_changed_as_well_is_still_told(stand_in: StandIn, tmp_path: Path) -> None:
    """A move must not make a changed script the one that counts."""
    installed(stand_in)
    there, root = copied(stand_in, tmp_path / "copy")
    listed = manifest.read(root)
    assert listed is not None
    script = next(
        one.path for one in listed.entries if one.has(manifest.PLACED) and "bin/" in one.path
    )
    changed = (root / script).read_bytes() + b"\nimport evil\n"
    (root / script).write_bytes(changed)

    found = asked(there)

    assert [(one.path, one.kind) for one in found.differences] == [(script, DifferenceKind.CHANGED)]
    assert (root / script).read_bytes() == changed


def test_what_was_cut_off_before_the_list_is_finished_by_the_next_look(
    stand_in: StandIn, tmp_path: Path
) -> None:
    """The scripts are new and the list is old: that is what a kill leaves."""
    installed(stand_in)
    there, root = copied(stand_in, tmp_path / "copy")
    before = (root / manifest.MANIFEST_FILE).read_bytes()
    assert moved.put_right(root) > 0
    (root / manifest.MANIFEST_FILE).write_bytes(before)

    assert moved.has_moved(root)
    assert asked(there).differences == ()
    assert not moved.has_moved(root)
    assert moved.put_right(root) == 0


def test_while_it_is_installed_or_repaired_nothing_is_written(
    stand_in: StandIn, tmp_path: Path
) -> None:
    """The other process may be writing the very same list."""
    installed(stand_in)
    there, root = copied(stand_in, tmp_path / "copy")
    before = (root / manifest.MANIFEST_FILE).read_bytes()

    with exclusive(root.parent / INSTALL_LOCK) as is_ours:
        assert is_ours
        kinds = {one.kind for one in asked(there).differences}

    assert kinds == {DifferenceKind.MOVED}
    assert (root / manifest.MANIFEST_FILE).read_bytes() == before


async def test_a_copied_home_is_exported_as_the_first_one_is(made: Made, tmp_path: Path) -> None:
    """It was refused as damaged, on a machine that had no network to repair it with."""
    there, _root = copied(made.stand_in, tmp_path / "copy of it")

    said = await export(there, tmp_path / "out")

    assert said.runtime_id == made.exported.runtime_id
    assert said.files == made.exported.files
