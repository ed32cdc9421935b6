"""An upstream series from its repository to the installed packages, and what is refused before."""

import asyncio
import json
import shutil
from pathlib import Path

import msgspec
import pytest

from studio.domain.errors import Damaged, HostLacks, NotFound
from studio.domain.manifests import InstalledRuntime, UpstreamSeries
from studio.domain.runtimes import PinRequest
from studio.host.paths import Paths, bundled_root
from studio.runtimes import folder, patches, pin, series
from studio.runtimes.catalog import Catalog
from studio.runtimes.install import install
from studio.runtimes.packages import site_packages
from studio.runtimes.repair import repair
from tests.fakes.git import git, make_repository
from tests.runtimes.standin import PATCH, StandIn


def change(number: int, old: str, new: str) -> bytes:
    """Return a patch of one line, relative to the package as upstream series are cut."""
    text = f"Kind: fix\n\n--- a/part{number}.py\n+++ b/part{number}.py\n@@ -1 +1 @@\n"
    return f"{text}-X = {old}\n+X = {new}\n".encode()


FILES = {
    "patches/series": b"# In this order.\n\nbig.patch  # first\nlarger.patch -p1\n",
    "patches/big.patch": change(3, "3", "30"),
    "patches/larger.patch": change(3, "30", "300"),
    "patches/apply.sh": b"#!/bin/sh\n",
    "kvarn/kvarn-1.0.patch": change(4, "4", "40"),
    "kvarn/files/tiny/kernels/__init__.py": b"",
    "kvarn/files/tiny/kernels/fast.py": b"K = 1\n",
}


def table(repository: Path, commit: str) -> str:
    """Return the recipe's two sets: a listed series, and one with files of its own."""
    return f"""
[[patches]]
title = "Series"
tree = "weirtiny"
[patches.upstream]
repository = "{repository}"
commit = "{commit}"
path = "patches"
list_file = "series"
count = 2
order = ["big.patch", "larger.patch"]
replaces = ["{PATCH}"]
[[patches]]
title = "Kernels"
tree = "weirtiny"
[patches.upstream]
repository = "{repository}"
commit = "{commit}"
path = "kvarn"
count = 1
order = ["kvarn-1.0.patch"]
[patches.upstream.copies]
"kvarn/files/tiny" = "."
[probe]
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """The project's repository."""
    make_repository(tmp_path / "upstream", FILES)
    return tmp_path / "upstream"


def pinned(stand_in: StandIn, repository: Path) -> str:
    """Make the recipe use the newest commit, beside a patch of ours that the series replaces."""
    commit = git(repository, "rev-parse", "HEAD").decode().strip()
    stand_in.edit("[probe]\n", table(repository, commit))
    return commit


def change_repository(repository: Path, name: str, data: bytes | None) -> None:
    """Commit another content of one file."""
    path = repository / name
    path.unlink() if data is None else path.write_bytes(data)
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "Other")


def run(stand_in: StandIn) -> InstalledRuntime:
    """Install and return the record."""
    return asyncio.run(install(stand_in.recipe, stand_in.paths, stand_in.reports.append))


def site_of(stand_in: StandIn, record: InstalledRuntime) -> Path:
    """Return the installed package that the series changes."""
    return site_packages(folder.python_of(stand_in.paths, record)) / "weirtiny"


def upstream_of(stand_in: StandIn) -> UpstreamSeries:
    """Return the listed series of the recipe."""
    found = next(one.upstream for one in stand_in.recipe.patches if one.upstream is not None)
    assert found is not None
    return found


def refusal(stand_in: StandIn) -> Damaged:
    """Return the error that keeps the series out."""
    with pytest.raises(Damaged) as caught:
        run(stand_in)
    assert caught.value.code == "series-unexpected"
    return caught.value


def test_a_series_is_fetched_and_applied_in_its_order(stand_in: StandIn, repository: Path) -> None:
    """The whole way: commit, list, new files, hunks, record, and a runtime that imports them."""
    commit = pinned(stand_in, repository)

    record = run(stand_in)

    site = site_of(stand_in, record)
    assert (site / "part3.py").read_bytes() == b"X = 300\n"
    assert (site / "part4.py").read_bytes() == b"X = 40\n"
    assert (site / "kernels" / "fast.py").read_bytes() == b"K = 1\n"
    assert (site / "kernels" / "__init__.py").read_bytes() == b""
    assert list((site / "kernels" / "__pycache__").glob("fast.*.pyc"))
    report = json.loads((folder.folder_of(stand_in.paths, record) / "patches.json").read_text())
    ours, listed, kernels = report["sets"]
    assert ours["replaced"] == [PATCH]
    assert ours["hunks"] == []
    assert listed["source"] == f"{repository} at {commit}"
    assert [one["name"] for one in listed["patches"]] == ["big.patch", "larger.patch"]
    assert [one["name"] for one in kernels["patches"]] == [
        "new files of kvarn/files/tiny",
        "kvarn-1.0.patch",
    ]
    assert {hunk["result"] for one in report["sets"] for hunk in one["hunks"]} == {"clean"}


def test_what_a_series_replaces_is_not_applied_twice(stand_in: StandIn, repository: Path) -> None:
    """Two patches with one purpose would meet on the same lines."""
    pinned(stand_in, repository)

    record = run(stand_in)

    assert (site_of(stand_in, record) / "part7.py").read_bytes() == b"X = 7\n"
    assert "weirtiny/part7.py" not in patches.patched_files(stand_in.paths, stand_in.recipe)


def test_the_id_is_known_before_anything_is_fetched(stand_in: StandIn, repository: Path) -> None:
    """An offer names the runtime that it would make."""
    pinned(stand_in, repository)
    before = patches.patch_digest(stand_in.paths, stand_in.recipe)

    record = run(stand_in)

    assert record.patch_digest == before


def test_a_repaired_runtime_gets_its_series_again(stand_in: StandIn, repository: Path) -> None:
    """Also where the kept file was thrown away meanwhile."""
    pinned(stand_in, repository)
    record = run(stand_in)
    shutil.rmtree(stand_in.paths.home / "series")
    victim = site_of(stand_in, record) / "part3.py"
    victim.unlink()
    victim.write_bytes(b"X = 'broken'\n")

    asyncio.run(repair(stand_in.recipe, stand_in.paths, stand_in.reports.append))

    assert victim.read_bytes() == b"X = 300\n"


def test_a_repair_of_other_files_needs_no_series(stand_in: StandIn, repository: Path) -> None:
    """Neither does it matter then that the repository is gone."""
    pinned(stand_in, repository)
    record = run(stand_in)
    shutil.rmtree(stand_in.paths.home / "series")
    shutil.rmtree(repository)
    victim = site_of(stand_in, record).parent / "weirother" / "data.bin"
    before = victim.read_bytes()
    victim.unlink()

    asyncio.run(repair(stand_in.recipe, stand_in.paths, stand_in.reports.append))

    assert victim.read_bytes() == before


def test_a_second_runtime_of_the_commit_needs_no_network(
    stand_in: StandIn, repository: Path
) -> None:
    """What was fetched once is kept outside the caches, which may be emptied."""
    pinned(stand_in, repository)
    first = run(stand_in)
    shutil.rmtree(folder.named_folder(stand_in.paths, stand_in.recipe.name))
    repository.rename(repository.with_name("gone"))

    second = run(stand_in)

    assert second.runtime_id == first.runtime_id
    assert (site_of(stand_in, second) / "part3.py").read_bytes() == b"X = 300\n"


def test_nothing_else_is_fetched_when_the_series_cannot_be_had(
    stand_in: StandIn, repository: Path
) -> None:
    """Nobody downloads 4 GB to read that a repository is gone."""
    pinned(stand_in, repository)
    shutil.rmtree(repository)

    with pytest.raises(NotFound) as caught:
        run(stand_in)

    assert caught.value.code == "series-repository-missing"
    assert str(stand_in.paths.home / "series") in (caught.value.hint or "")
    assert not (stand_in.paths.cache / "uv").exists()


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("patches/series", b"larger.patch\nbig.patch\n", "number 1 is larger.patch, expected big"),
        ("patches/series", b"big.patch\n", "larger.patch is there and not listed"),
        ("patches/series", b"", "series is missing or empty"),
        ("patches/series", b"big.patch\nlarger.patch\nbig.patch\n", "big.patch is listed twice"),
        ("patches/extra.patch", change(5, "5", "6"), "extra.patch is there and not listed"),
        ("patches/big.patch", None, "big.patch is listed and not there"),
        ("kvarn/kvarn-1.1.patch", change(5, "5", "6"), "expected 1 patches, found 2"),
        ("kvarn/kvarn-1.0.patch", None, "kvarn-1.0.patch is expected and missing"),
    ],
)
def test_a_series_that_is_another_one_is_refused(
    stand_in: StandIn, repository: Path, name: str, data: bytes | None, said: str
) -> None:
    """The commit is right and the series not the one that the recipe describes."""
    change_repository(repository, name, data)
    pinned(stand_in, repository)

    error = refusal(stand_in)

    assert any(said in line for line in error.evidence), error.evidence
    assert not (stand_in.paths.cache / "uv").exists()


def test_a_person_may_agree_to_the_list_as_it_is(stand_in: StandIn, repository: Path) -> None:
    """Where the recipe's own list was never seen at the commit, it is the recipe that may err."""
    change_repository(repository, "patches/series", b"big.patch\nlarger.patch\nlast.patch\n")
    change_repository(repository, "patches/last.patch", change(5, "5", "50"))
    change_repository(repository, "kvarn/kvarn-0.9.patch", change(6, "x", "of another version"))
    pinned(stand_in, repository)
    mark = '[[unverified]]\nname = "series-order"\nwhat = "Unseen."\nblocks = false\n'
    stand_in.edit("[serve]", f"{mark}[serve]")
    error = refusal(stand_in)
    before = patches.patch_digest(stand_in.paths, stand_in.recipe)

    published = Catalog(stand_in.paths).published(stand_in.recipe.name)
    pin.record(stand_in.paths, published, PinRequest(confirm=(pin.ORDER_MARK,)))
    record = run(stand_in)

    assert f"--confirm {pin.ORDER_MARK}" in (error.hint or "")
    assert (site_of(stand_in, record) / "part5.py").read_bytes() == b"X = 50\n"
    assert (site_of(stand_in, record) / "part6.py").read_bytes() == b"X = 6\n"
    assert record.patch_digest != before


def test_list_and_folder_must_agree_even_then(stand_in: StandIn, repository: Path) -> None:
    """A patch that somebody forgot to list is a mistake of theirs, not a matter of order."""
    change_repository(repository, "patches/forgotten.patch", change(5, "5", "50"))
    pinned(stand_in, repository)
    snapshot = snapshot_of(stand_in)
    upstream = msgspec.structs.replace(upstream_of(stand_in), order=(), count=None)

    assert series.differences(upstream, snapshot) == ["forgotten.patch is there and not listed"]


def snapshot_of(stand_in: StandIn) -> series.Snapshot:
    """Fetch and return the series."""
    with pytest.raises(Damaged):
        asyncio.run(series.fetch(stand_in.recipe, stand_in.paths, None))
    return series.load(stand_in.paths, upstream_of(stand_in))


def test_without_a_list_the_files_go_by_name(stand_in: StandIn, repository: Path) -> None:
    """The habit of numbered patches."""
    pinned(stand_in, repository)
    asyncio.run(series.fetch(stand_in.recipe, stand_in.paths, None))
    upstream = msgspec.structs.replace(upstream_of(stand_in), list_file=None, order=(), count=None)

    found = series.order(series.load(stand_in.paths, upstream), upstream)

    assert found == ("big.patch", "larger.patch")


def test_a_series_that_was_not_fetched_is_named(stand_in: StandIn, repository: Path) -> None:
    """What reads patches never goes to the network by itself."""
    commit = pinned(stand_in, repository)

    with pytest.raises(HostLacks) as caught:
        patches.require_patches(stand_in.paths, stand_in.recipe)

    assert caught.value.code == "series-missing"
    assert commit in caught.value.message


def test_a_set_that_does_not_fit_may_be_left_out_at_its_cost(
    stand_in: StandIn, repository: Path
) -> None:
    """Ours on top of a series that changed the same lines: the series matters more."""
    pinned(stand_in, repository)
    stand_in.write_patch("0002-mine.patch", change(3, "3", "33").decode())
    stand_in.edit(
        "[probe]\n",
        '[[patches]]\ntitle = "Mine"\ntree = "weirtiny"\nfiles = ["0002-mine.patch"]\n'
        'fallback_cost = "thirty-three is not thirty-three"\n[probe]\n',
    )

    record = run(stand_in)

    report = json.loads((folder.folder_of(stand_in.paths, record) / "patches.json").read_text())
    last = report["sets"][-1]
    assert "0002-mine.patch" in last["left_out"]
    assert last["left_out"].endswith("Without it: thirty-three is not thirty-three.")
    assert (site_of(stand_in, record) / "part3.py").read_bytes() == b"X = 300\n"
    assert run(stand_in) == record


def test_patches_of_another_recipe_can_be_shared(stand_in: StandIn) -> None:
    """One file for the runtimes of one engine version, whatever it was built for."""
    other = stand_in.paths.catalogue / "runtimes" / "other" / "patches"
    other.mkdir(parents=True)
    (stand_in.recipe_file.parent / "patches" / PATCH).rename(other / PATCH)
    stand_in.edit(f'files = ["{PATCH}"]', f'recipe = "other"\nfiles = ["{PATCH}"]')

    assert (site_of(stand_in, run(stand_in)) / "part7.py").read_bytes() == b"X = 70\n"


@pytest.mark.parametrize("name", ["cu13-hyperqwen-0.31.0", "cu13-hyperqwen-0.32.0"])
def test_the_shipped_recipes_name_patches_of_ours_that_exist(name: str, tmp_path: Path) -> None:
    """A shared patch is renamed in one place and named in another."""
    paths = Paths(home=tmp_path, catalogue=bundled_root())
    recipe = Catalog(paths).recipe(name)
    ours = [one for one in recipe.patches if one.files]
    replaced = {name for one in recipe.patches if one.upstream for name in one.upstream.replaces}

    assert patches.patch_digest(paths, recipe) is not None
    assert ours
    for one in ours:
        lying = bundled_root() / "runtimes" / (one.recipe or name) / "patches"
        assert all((lying / file).is_file() for file in one.files)
    assert replaced <= {file for one in ours for file in one.files}
