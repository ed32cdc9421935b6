"""Repairing: every kind of damage, nothing but the damage, killed anywhere, in a moved home."""

import asyncio
import contextlib
import hashlib
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from studio.domain.errors import Busy, Damaged, NetworkFailure, NotFound
from studio.domain.integrity import DifferenceKind, Repaired, Verdict
from studio.domain.manifests import InstalledRuntime
from studio.host.files import exclusive
from studio.runtimes import folder, versions
from studio.runtimes.install import install
from studio.runtimes.repair import ensure_whole, repair
from studio.runtimes.verify import verify
from tests.fakes import waiting
from tests.fakes.wheels import make_wheel, wheel_sha256
from tests.runtimes import damage, standin
from tests.runtimes.damage import SITE
from tests.runtimes.standin import StandIn

ROOT = Path(__file__).parents[2]
WAIT_S = 60.0

# Repairs, and kills itself with SIGKILL at a chosen point, as in test_install.py.
VICTIM = """
import asyncio, os, signal, sys
from pathlib import Path
home, catalogue, last = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
from studio.host.paths import Paths
from studio.runtimes.catalog import Catalog
from studio.runtimes.repair import repair
points = 0
EVENTS = {"os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.link", "os.symlink",
          "subprocess.Popen", "shutil.rmtree"}
def hook(event, arguments):
    global points
    if event in EVENTS or (event == "open" and isinstance(arguments[2], int)
                           and arguments[2] & (os.O_WRONLY | os.O_RDWR)):
        points += 1
        if points == last:
            os.kill(os.getpid(), signal.SIGKILL)
paths = Paths(home=home, catalogue=catalogue)
recipe = Catalog(paths).recipe("tiny-1.0")
sys.addaudithook(hook)
asyncio.run(repair(recipe, paths, lambda report: None))
print(points)
"""


def installed(stand_in: StandIn) -> Path:
    """Install, with a package that has a script, and return the runtime's folder."""
    damage.add_script(stand_in)
    record = asyncio.run(install(stand_in.recipe, stand_in.paths, stand_in.reports.append))
    return folder.folder_of(stand_in.paths, record)


def record_of(stand_in: StandIn) -> InstalledRuntime:
    """Return the present installation, whole or not."""
    record = folder.current(stand_in.paths, standin.NAME)
    assert record is not None
    return record


def verified(stand_in: StandIn, *, full: bool = True) -> Verdict:
    """Compare the present installation with its list."""
    paths, record = stand_in.paths, record_of(stand_in)
    return asyncio.run(verify(paths, record, full=full, report=stand_in.reports.append))


def repaired(stand_in: StandIn) -> Repaired:
    """Repair the present installation."""
    return asyncio.run(repair(stand_in.recipe, stand_in.paths, stand_in.reports.append))


def assert_whole(stand_in: StandIn) -> None:
    """Check every byte, that it works, and that nothing of a repair is left."""
    verdict = verified(stand_in)
    assert verdict.differences == ()
    assert verdict.bytecode == 0
    root = folder.folder_of(stand_in.paths, record_of(stand_in))
    code = "import weirtiny, weirother, weirtiny.part7 as p, weirtiny.added as a; print(p.X, a.Z)"
    assert run(root / folder.PYTHON, "-I", "-c", code) == "70 3"
    assert run(root / damage.SCRIPT) == "said"
    names = {"python", "journal.json", "patches.json", "manifest", "recipe.json", "runtime.json"}
    assert {path.name for path in root.iterdir()} == names


def run(*command: str | Path) -> str:
    """Return what a program prints."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=WAIT_S)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def inodes(folder: Path) -> dict[str, int]:
    """Return the inode of every file below a folder."""
    found = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return {str(path): path.stat().st_ino for path in found}


def test_every_damage_is_seen_and_undone(stand_in: StandIn) -> None:
    """Antivirus, sync tools, editors, bad disks and curious people: after it all is as it was."""
    root = installed(stand_in)
    assert_whole(stand_in)

    for name, harm in damage.DAMAGES.items():
        harm(root)
        assert not verified(stand_in).is_whole, name

        done = repaired(stand_in)

        assert not done.is_rebuilt, name
        assert_whole(stand_in)


def test_only_what_differs_is_touched(stand_in: StandIn) -> None:
    """A repair of one file must not become a second installation."""
    root = installed(stand_in)
    before = inodes(root)
    damage.DAMAGES["deleted"](root)
    lost = root / SITE / "weirtiny" / "part3.py"

    done = repaired(stand_in)

    after = inodes(root)
    changed = {path for path in after if before.get(path) != after[path]}
    cached = {path for path in changed if path.endswith(".pyc")}
    assert changed - cached <= {str(lost), str(root / "manifest")}
    assert len(cached) <= 1
    assert (done.restored, done.removed) == (1, 0)
    assert "weirother==1-0" not in {name.replace(".", "-") for name in done.packages}


def test_nothing_outside_the_runtime_is_changed(stand_in: StandIn, tmp_path: Path) -> None:
    """The catalogue, the wheels, other runtimes and the home itself are none of its business."""
    root = installed(stand_in)
    damage.DAMAGES["everything removed"](root)
    before = {p: i for p, i in inodes(tmp_path).items() if not p.startswith(str(root))}

    repaired(stand_in)

    after = {p: i for p, i in inodes(tmp_path).items() if not p.startswith(str(root))}
    cache = str(stand_in.paths.cache)
    assert {p: i for p, i in before.items() if not p.startswith(cache)} == {
        p: i for p, i in after.items() if not p.startswith(cache)
    }
    assert_whole(stand_in)


def test_bytecode_is_no_damage_and_is_renewed(stand_in: StandIn) -> None:
    """Python writes it anew by itself; a truncated file it cannot read stops an import."""
    root = installed(stand_in)
    cached = sorted((root / SITE / "weirtiny" / "__pycache__").glob("*.pyc"))
    cached[0].unlink()
    os.truncate(cached[1], 20)

    verdict = verified(stand_in)
    done = repaired(stand_in)

    assert verdict.is_whole
    assert verdict.bytecode == 2
    assert (done.restored, done.compiled) == (0, 2)
    assert_whole(stand_in)


def test_a_moved_home_is_found_and_put_right(stand_in: StandIn, tmp_path: Path) -> None:
    """People move folders to larger disks; scripts and settings hold the old place."""
    installed(stand_in)
    elsewhere = stand_in.elsewhere(tmp_path / "larger")
    shutil.move(stand_in.paths.home, elsewhere.paths.home)

    kinds = {difference.kind for difference in verified(elsewhere).differences}
    sampled = {difference.kind for difference in verified(elsewhere, full=False).differences}
    asyncio.run(ensure_whole(elsewhere.recipe, elsewhere.paths, elsewhere.reports.append))

    assert kinds == sampled == {DifferenceKind.MOVED}
    assert_whole(elsewhere)
    root = folder.folder_of(elsewhere.paths, record_of(elsewhere))
    for path in (root / "python" / "bin").iterdir():
        assert path.is_symlink() or str(stand_in.paths.home).encode() not in path.read_bytes()


def test_a_moved_and_damaged_home_is_put_right(stand_in: StandIn, tmp_path: Path) -> None:
    """Half-synced: what arrived names the old place, and some of it did not arrive."""
    installed(stand_in)
    elsewhere = stand_in.elsewhere(tmp_path / "synced ü")
    shutil.move(stand_in.paths.home, elsewhere.paths.home)
    root = folder.folder_of(elsewhere.paths, record_of(elsewhere))
    damage.DAMAGES["package removed"](root)
    (root / damage.SCRIPT).unlink()
    shutil.rmtree(root / SITE / "weirscript-1.0.dist-info")

    assert not repaired(elsewhere).is_rebuilt

    assert_whole(elsewhere)


def test_killed_anywhere_the_next_repair_finishes(stand_in: StandIn, tmp_path: Path) -> None:
    """A power cut in the middle of a repair must not be the end of it."""
    root = installed(stand_in)
    names = ("stranger", "package removed", "interpreter removed")
    harms = [damage.DAMAGES[name] for name in names]
    for harm in harms:
        harm(root)
    count = int(_victim(stand_in, 0).stdout)
    assert_whole(stand_in)
    assert count > 40

    for last in sorted(random.Random(20261129).sample(range(1, count), 5)):
        for harm in harms:
            harm(root)
        assert _victim(stand_in, last).returncode == -9
        waiting.until(lambda: not _helpers(stand_in.paths.home), "the end of its helpers")

        asyncio.run(ensure_whole(stand_in.recipe, stand_in.paths, stand_in.reports.append))

        assert not repaired(stand_in).is_rebuilt
        assert_whole(stand_in)


def _victim(stand_in: StandIn, last: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", VICTIM, stand_in.paths.home, stand_in.paths.catalogue, str(last)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=WAIT_S,
        check=False,
    )


def _helpers(home: Path) -> list[int]:
    """Return living processes that work inside `home`; the kernel ends them with the victim."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if any(str(home) in part for part in process.cmdline()):
                found.append(process.pid)
    return found


def test_without_its_list_it_is_installed_anew(stand_in: StandIn) -> None:
    """What was installed is not known then, and may be anything."""
    root = installed(stand_in)
    for content in (None, b"weir-manifest 1\n and then nothing"):
        (root / "manifest").unlink()
        if content is not None:
            (root / "manifest").write_bytes(content)
        (root / SITE / "weirtiny" / "part3.py").unlink()
        assert [one.path for one in verified(stand_in).differences] == ["manifest"]

        assert repaired(stand_in).is_rebuilt

        assert_whole(stand_in)


def test_without_cache_and_network_it_says_what_to_bring(
    stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And with the wheels that the hint names, it goes on where it was."""
    root = installed(stand_in)
    shutil.rmtree(stand_in.paths.cache)
    shutil.rmtree(stand_in.paths.store)
    damage.DAMAGES["package removed"](root)
    monkeypatch.delenv("PIP_FIND_LINKS")

    with pytest.raises(NetworkFailure) as caught:
        repaired(stand_in)

    assert caught.value.code == "packages-unreachable"
    monkeypatch.setenv("PIP_FIND_LINKS", stand_in.wheels.as_uri())
    repaired(stand_in)
    assert_whole(stand_in)


@pytest.mark.parametrize("name", ["package removed", "patched file undone", "metadata removed"])
def test_the_store_gives_back_what_no_network_can(
    stand_in: StandIn, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """An emptied cache and a dead line must not keep a runtime broken; patches are applied anew."""
    root = installed(stand_in)
    shutil.rmtree(stand_in.paths.cache)
    damage.DAMAGES[name](root)
    monkeypatch.delenv("PIP_FIND_LINKS")

    repaired(stand_in)

    assert_whole(stand_in)


def test_a_blob_that_was_changed_in_place_is_fetched_anew(
    stand_in: StandIn, tmp_path: Path
) -> None:
    """It is one file in runtime, store and cache: only the network has a good one."""
    root = installed(stand_in)
    damage.DAMAGES["edited in place"](root)
    damage.DAMAGES["truncated"](root)

    assert repaired(stand_in).packages

    assert_whole(stand_in)
    stored = [path for path in stand_in.paths.store.rglob("blobs/*/*") if path.is_file()]
    assert all(
        hashlib.sha256(path.read_bytes()).hexdigest() == path.name.partition(".")[0]
        for path in stored
    )


def test_wheels_beside_the_lock_are_repaired_too(
    stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They stand in no lock; the list of files keeps their addresses and hashes."""
    folder_of_wheels = stand_in.wheels.parent / "own"
    line = make_wheel(folder_of_wheels, "weirown", {"weirown/__init__.py": b"OWN = 1\n"})
    url = (folder_of_wheels / "weirown-1.0-py3-none-any.whl").as_uri()
    stand_in.edit(
        "[[packages.aliases]]",
        f'[[packages.wheels]]\nname = "weirown"\nversion = "1.0"\nurl = "{url}"\n'
        f'sha256 = "{wheel_sha256(line)}"\n[[packages.aliases]]',
    )
    root = installed(stand_in)
    shutil.rmtree(root / SITE / "weirown")
    repaired(stand_in)
    assert_whole(stand_in)

    shutil.rmtree(stand_in.paths.cache)
    shutil.rmtree(stand_in.paths.store)
    shutil.rmtree(root / SITE / "weirown")
    assert repaired(stand_in).packages == ("weirown==1.0",)

    assert_whole(stand_in)
    assert (root / SITE / "weirown" / "__init__.py").read_bytes() == b"OWN = 1\n"


def test_a_cache_that_was_damaged_before_the_installation_is_noticed(stand_in: StandIn) -> None:
    """uv trusts its cache; the package's own list of digests does not agree with it."""
    first = installed(stand_in)
    with (first / SITE / "weirother" / "__init__.py").open("r+b") as file:
        file.write(b"Z")
    shutil.rmtree(stand_in.paths.store)  # it would have seen it, and had it fetched anew
    line = make_wheel(stand_in.wheels, "weirmore", {"weirmore/__init__.py": b""})
    lock = stand_in.recipe_file.parent / "requirements.lock"
    lock.write_text(lock.read_text() + line + "\n")

    asyncio.run(install(stand_in.recipe, stand_in.paths, stand_in.reports.append))

    differences = verified(stand_in, full=False).differences
    assert [(one.path, one.kind) for one in differences] == [
        (f"{SITE}/weirother/__init__.py", DifferenceKind.SUSPECT)
    ]
    assert repaired(stand_in).packages == ("weirother==1.0",)
    assert_whole(stand_in)


def test_a_start_repairs_what_it_sees(stand_in: StandIn) -> None:
    """Nobody should have to know a command for it; without damage it costs no process."""
    recipe, paths = stand_in.recipe, stand_in.paths
    assert asyncio.run(ensure_whole(recipe, paths, stand_in.reports.append)) is None
    root = installed(stand_in)
    recipe = stand_in.recipe
    stand_in.reports.clear()
    found = asyncio.run(ensure_whole(recipe, paths, stand_in.reports.append))
    assert found == record_of(stand_in)
    assert stand_in.reports == []

    for name in ("package removed", "interpreter removed", "everything removed"):
        damage.DAMAGES[name](root)
        assert asyncio.run(ensure_whole(recipe, paths, stand_in.reports.append)) == found
        assert_whole(stand_in)


def test_two_at_once_and_nothing_to_repair_are_said(stand_in: StandIn) -> None:
    """Both have an answer that helps."""
    with pytest.raises(NotFound) as missing:
        repaired(stand_in)
    installed(stand_in)
    home = folder.named_folder(stand_in.paths, standin.NAME)
    with exclusive(home / "install.lock"), pytest.raises(Busy) as busy:
        repaired(stand_in)

    assert missing.value.code == "runtime-not-installed"
    assert busy.value.code == "install-running"
    assert repaired(stand_in).restored == 0


def test_an_older_version_beyond_repair_is_not_replaced_silently(stand_in: StandIn) -> None:
    """A person went back to it; the newer recipe would install something else."""
    root = installed(stand_in)
    line = make_wheel(stand_in.wheels, "weirmore", {"weirmore/__init__.py": b""})
    lock = stand_in.recipe_file.parent / "requirements.lock"
    lock.write_text(lock.read_text() + line + "\n")
    asyncio.run(install(stand_in.recipe, stand_in.paths, stand_in.reports.append))
    versions.rollback(stand_in.paths, standin.NAME)
    damage.DAMAGES["package removed"](root)
    repaired(stand_in)
    assert_whole(stand_in)

    (root / "manifest").unlink()
    with pytest.raises(Damaged) as caught:
        repaired(stand_in)

    assert caught.value.code == "repair-impossible"
    assert (root / "runtime.json").exists()


def test_the_interpreter_of_an_archive_is_restored_from_it(
    stand_in: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not from another Python of this machine, which would be another runtime."""
    mirror = tmp_path / "stick"
    mirror.mkdir()
    name = "cpython+1-linux-install_only.tar.gz"
    sha256 = standin.make_interpreter_archive(mirror / name)
    table = standin.archive_table(f"https://weir.invalid/20990101/{name}", sha256)
    stand_in.recipe_file.write_text(standin.recipe_text(table), "utf-8")
    monkeypatch.setenv("WEIR_PYTHON_MIRROR", str(mirror))
    root = installed(stand_in)
    program = (root / folder.PYTHON).resolve()

    program.unlink()
    assert not repaired(stand_in).is_rebuilt

    assert_whole(stand_in)
