"""Patch sets of a recipe: their digest, what is refused early, and what an installation keeps."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from studio.domain.errors import BadInput, Damaged, HostLacks
from studio.domain.manifests import InstalledRuntime
from studio.host.paths import Paths
from studio.runtimes import folder, patches
from studio.runtimes.install import install
from studio.runtimes.packages import site_packages
from tests.runtimes.standin import PATCH, PATCH_TEXT, StandIn

ROOT = Path(__file__).parents[2]
LATER = """\
--- a/weirtiny/part7.py
+++ b/weirtiny/part7.py
@@ -1 +1 @@
-X = 70
+X = 700
"""
UPSTREAM = """
[patches.upstream]
repository = "https://example.invalid/series"
path = "patches"
"""

# Applies the patches of a stand-in and kills itself at a chosen change of the file system.
VICTIM = """
import os, signal, sys
from pathlib import Path
from studio.host.paths import Paths
from studio.runtimes.catalog import Catalog
from studio.runtimes.patches import apply_patches
home, catalogue, site, inside, last = *map(Path, sys.argv[1:5]), int(sys.argv[5])
points = 0
def hook(event, arguments):
    global points
    if event in ("os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.link", "shutil.rmtree"):
        points += 1
        if points == last:
            os.kill(os.getpid(), signal.SIGKILL)
paths = Paths(home=home, catalogue=catalogue)
recipe = Catalog(paths).recipe("tiny-1.0")
sys.addaudithook(hook)
apply_patches(paths, recipe, site, inside)
print(points)
"""


def run(stand_in: StandIn) -> InstalledRuntime:
    """Install and return the record."""
    return asyncio.run(install(stand_in.recipe, stand_in.paths, stand_in.reports.append))


def site_of(stand_in: StandIn) -> Path:
    """Return the package folder of the installed runtime."""
    record = folder.installed(stand_in.paths, stand_in.recipe)
    assert record is not None
    return site_packages(folder.python_of(stand_in.paths, record))


def report_of(stand_in: StandIn, record: InstalledRuntime) -> dict[str, object]:
    """Return `patches.json`."""
    text = (folder.folder_of(stand_in.paths, record) / "patches.json").read_text("utf-8")
    return dict(json.loads(text))


def bare_site(stand_in: StandIn, place: Path) -> Path:
    """Return a package folder with the one file that the patches of the tests change."""
    site = place / "site-packages"
    (site / "weirtiny").mkdir(parents=True)
    (site / "weirtiny" / "part7.py").write_text("X = 7\n")
    metadata = site / "weirtiny-1.0.dist-info"
    metadata.mkdir()
    (metadata / "RECORD").write_text("weirtiny/part7.py,,6\nweirtiny-1.0.dist-info/RECORD,,\n")
    return site


def test_the_digest_follows_bytes_order_and_place_only(stand_in: StandIn) -> None:
    """It is part of the runtime's id: equal on every machine, another for another series."""
    first = patches.patch_digest(stand_in.paths, stand_in.recipe)
    stand_in.edit('title = "Patches of the test"', 'title = "Other words"')
    renamed = patches.patch_digest(stand_in.paths, stand_in.recipe)
    stand_in.write_patch(PATCH, PATCH_TEXT + "A word after the last hunk.\n")
    other_bytes = patches.patch_digest(stand_in.paths, stand_in.recipe)
    stand_in.write_patch(PATCH, PATCH_TEXT)
    stand_in.edit('title = "Other words"', 'title = "Other words"\nstrip = 2')
    other_strip = patches.patch_digest(stand_in.paths, stand_in.recipe)

    assert first is not None
    assert renamed == first
    assert len({first, other_bytes, other_strip}) == 3


def test_a_recipe_without_patches_has_no_digest(stand_in: StandIn) -> None:
    """Runtimes that were installed before there were patches keep their id."""
    stand_in.edit(f'[[patches]]\ntitle = "Patches of the test"\nfiles = ["{PATCH}"]\n', "")

    assert patches.patch_digest(stand_in.paths, stand_in.recipe) is None
    assert run(stand_in).patch_digest is None


def test_what_became_of_each_hunk_is_kept(stand_in: StandIn) -> None:
    """Support asks for it first when a patched engine behaves oddly."""
    record = run(stand_in)

    report = report_of(stand_in, record)

    assert report["patch_digest"] == record.patch_digest
    (kept,) = list(report["sets"])  # type is checked by what follows
    assert [patch["state"] for patch in kept["patches"]] == ["applied"]
    assert [(hunk["file"], hunk["result"]) for hunk in kept["hunks"]] == [
        ("weirtiny/part7.py", "clean"),
        ("weirtiny/added/__init__.py", "clean"),
    ]
    assert len(kept["result_digest"]) == 64


def test_the_cache_keeps_the_bytes_of_the_wheel(stand_in: StandIn) -> None:
    """The files are links into uv's cache, which feeds the next runtime: never written in place."""
    run(stand_in)
    cached = list((stand_in.paths.cache / "uv").rglob("part7.py"))

    assert cached
    assert {path.read_bytes() for path in cached} == {b"X = 7\n"}
    assert (site_of(stand_in) / "weirtiny" / "part7.py").read_bytes() == b"X = 70\n"


def test_metadata_tells_the_truth_about_patched_files(stand_in: StandIn) -> None:
    """Whoever verifies the packages against RECORD must not find our work and call it damage."""
    run(stand_in)
    code = (
        "import base64, hashlib\n"
        "from importlib.metadata import files\n"
        "for one in files('weirtiny'):\n"
        "    data = one.locate().read_bytes() if one.hash else b''\n"
        "    found = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip('=')\n"
        "    print(one, one.hash is None or (one.hash.value, one.size) == (found, len(data)))\n"
    )
    record = folder.installed(stand_in.paths, stand_in.recipe)
    assert record is not None
    python = folder.python_of(stand_in.paths, record)

    done = subprocess.run([python, "-I", "-c", code], capture_output=True, text=True, check=True)

    lines = done.stdout.splitlines()
    assert "weirtiny/part7.py True" in lines
    assert "weirtiny/added/__init__.py True" in lines
    assert all(line.endswith("True") for line in lines)


def test_a_new_patch_is_installed_beside_the_old_runtime(stand_in: StandIn) -> None:
    """The packages come from the cache; the old folder stays whole for who wants it back."""
    old = run(stand_in)
    stand_in.write_patch("0002-later.patch", LATER)
    stand_in.edit(f'files = ["{PATCH}"]', f'files = ["{PATCH}", "0002-later.patch"]')

    assert folder.installed(stand_in.paths, stand_in.recipe) is None
    new = run(stand_in)

    assert new.runtime_id != old.runtime_id
    assert (site_of(stand_in) / "weirtiny" / "part7.py").read_bytes() == b"X = 700\n"
    before = site_packages(folder.python_of(stand_in.paths, old)) / "weirtiny" / "part7.py"
    assert before.read_bytes() == b"X = 70\n"


def test_a_rejected_hunk_stops_the_installation(stand_in: StandIn) -> None:
    """An engine with half a series answers a little wrong; the old runtime is used on."""
    old = run(stand_in)
    stand_in.write_patch(PATCH, PATCH_TEXT.replace("-X = 7\n", "-X = 8\n"))

    with pytest.raises(Damaged) as caught:
        run(stand_in)

    assert caught.value.code == "patch-rejected"
    assert caught.value.data["patch"] == PATCH
    assert caught.value.data["file"] == "weirtiny/part7.py"
    assert caught.value.data["hunk"] == 1
    assert any("expected `X = 8`" in line for line in caught.value.evidence)
    current = folder.named_folder(stand_in.paths, stand_in.recipe.name) / "current"
    assert current.read_text().strip() == old.runtime_id
    stand_in.write_patch(PATCH, PATCH_TEXT)
    assert run(stand_in) == old


def test_patches_that_cannot_be_read_are_refused_before_anything_is_fetched(
    stand_in: StandIn,
) -> None:
    """Nobody waits for 600 MB to read that a file of ours is cut short."""
    stand_in.write_patch(PATCH, PATCH_TEXT[:-4])

    with pytest.raises(Damaged) as caught:
        run(stand_in)

    assert caught.value.code == "patch-malformed"
    assert not (stand_in.paths.cache / "uv").exists()


def test_a_missing_patch_is_named(stand_in: StandIn) -> None:
    """A recipe that was copied without its folder."""
    (stand_in.recipe_file.parent / "patches" / PATCH).unlink()

    with pytest.raises(BadInput, match="0001-seventy") as caught:
        run(stand_in)

    assert caught.value.code == "patch-missing"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (f'files = ["{PATCH}"]', 'files = ["../../other/0001.patch"]'),
        (f'files = ["{PATCH}"]', 'files = ["/etc/passwd"]'),
        (f'files = ["{PATCH}"]', f'files = ["{PATCH}"]\ntree = "../.."'),
        (f'files = ["{PATCH}"]', f'files = ["{PATCH}"]\ntree = "/usr/lib"'),
    ],
)
def test_a_recipe_cannot_reach_out_of_its_folders(stand_in: StandIn, old: str, new: str) -> None:
    """Recipes are handed around; one must not read or write elsewhere."""
    stand_in.edit(old, new)

    with pytest.raises(BadInput) as caught:
        run(stand_in)

    assert caught.value.code == "patch-name"


def test_an_upstream_series_without_a_commit_is_refused(stand_in: StandIn) -> None:
    """Nobody knows what would run."""
    stand_in.edit(f'files = ["{PATCH}"]\n', f'files = ["{PATCH}"]\n{UPSTREAM}')

    with pytest.raises(HostLacks) as caught:
        run(stand_in)

    assert caught.value.code == "runtime-not-pinned"
    assert "example.invalid" in caught.value.message
    assert folder.installed(stand_in.paths, stand_in.recipe) is None


def test_an_unpinned_series_has_a_digest_of_its_own(stand_in: StandIn) -> None:
    """A pin that is recorded later makes another runtime."""
    digests = [patches.patch_digest(stand_in.paths, stand_in.recipe)]
    stand_in.edit(f'files = ["{PATCH}"]\n', f'files = ["{PATCH}"]\n{UPSTREAM}')
    digests.append(patches.patch_digest(stand_in.paths, stand_in.recipe))
    stand_in.edit('path = "patches"\n', f'path = "patches"\ncommit = "{"b" * 40}"\n')
    digests.append(patches.patch_digest(stand_in.paths, stand_in.recipe))

    assert len(set(digests)) == 3


def victim(stand_in: StandIn, site: Path, last: int) -> subprocess.CompletedProcess[str]:
    """Apply the patches in a process that dies at point `last`."""
    places = [stand_in.paths.home, stand_in.paths.catalogue, site, site.parent]
    return subprocess.run(
        [sys.executable, "-c", VICTIM, *map(str, places), str(last)],
        cwd=ROOT,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_killed_between_two_sets_it_goes_on(stand_in: StandIn, tmp_path: Path) -> None:
    """Two sets on one tree: the second's unfinished run is taken back before the first is asked."""
    stand_in.write_patch("0002-later.patch", LATER)
    stand_in.edit(
        f'files = ["{PATCH}"]\n',
        f'files = ["{PATCH}"]\n[[patches]]\ntitle = "Later"\nfiles = ["0002-later.patch"]\n',
    )
    whole = victim(stand_in, bare_site(stand_in, tmp_path / "counted"), 0)
    assert whole.returncode == 0, whole.stderr
    count = int(whole.stdout)

    for last in range(1, count + 1, 3):
        site = bare_site(stand_in, tmp_path / f"killed {last}")
        assert victim(stand_in, site, last).returncode == -9

        patches.apply_patches(stand_in.paths, stand_in.recipe, site, site.parent)

        assert (site / "weirtiny" / "part7.py").read_text() == "X = 700\n"
        assert (site / "weirtiny" / "added" / "__init__.py").read_text() == "Z = 3\n"
        report = json.loads((site.parent / "patches.json").read_text())
        assert all(one["result_digest"] for one in report["sets"])
        assert {path.name for path in site.iterdir()} == {"weirtiny", "weirtiny-1.0.dist-info"}


def test_a_second_run_keeps_what_the_first_found_out(stand_in: StandIn, tmp_path: Path) -> None:
    """A run that was killed just before its end would turn every offset into `already-applied`."""
    stand_in.write_patch(PATCH, PATCH_TEXT.replace("@@ -1 +1 @@", "@@ -3 +3 @@"))
    site = bare_site(stand_in, tmp_path)
    text = (site / "weirtiny" / "part7.py").read_text()
    (site / "weirtiny" / "part7.py").write_text("# one\n" * 5 + text)
    results = []
    for _ in range(2):
        modules = patches.apply_patches(stand_in.paths, stand_in.recipe, site, tmp_path)
        report = json.loads((tmp_path / "patches.json").read_text())
        results.append([(hunk["result"], hunk["offset"]) for hunk in report["sets"][0]["hunks"]])

        assert [path.name for path in modules] == ["__init__.py", "part7.py"]

    assert results[0] == results[1]
    assert results[0][0] == ("offset", 3)


def test_a_damaged_report_is_written_anew(stand_in: StandIn, tmp_path: Path) -> None:
    """It is a record for people; nothing depends on it."""
    site = bare_site(stand_in, tmp_path)
    (tmp_path / "patches.json").write_text("{")

    patches.apply_patches(stand_in.paths, stand_in.recipe, site, tmp_path)

    assert json.loads((tmp_path / "patches.json").read_text())["sets"]


def test_a_tree_inside_the_packages_can_be_named(stand_in: StandIn, tmp_path: Path) -> None:
    """Upstream series are cut against one package's folder."""
    stand_in.write_patch(
        PATCH, PATCH_TEXT.replace("a/weirtiny/", "a/").replace("b/weirtiny/", "b/")
    )
    stand_in.edit(f'files = ["{PATCH}"]\n', f'files = ["{PATCH}"]\ntree = "weirtiny"\n')
    site = bare_site(stand_in, tmp_path)

    patches.apply_patches(stand_in.paths, stand_in.recipe, site, tmp_path)

    report = json.loads((tmp_path / "patches.json").read_text())
    assert report["sets"][0]["files"] == ["weirtiny/added/__init__.py", "weirtiny/part7.py"]
    assert "weirtiny/part7.py,sha256=" in (site / "weirtiny-1.0.dist-info" / "RECORD").read_text()


def test_the_home_is_not_needed_for_the_digest(stand_in: StandIn, tmp_path: Path) -> None:
    """Two machines, two homes, one id."""
    other = Paths(home=tmp_path / "elsewhere", catalogue=stand_in.paths.catalogue)

    assert patches.patch_digest(other, stand_in.recipe) == patches.patch_digest(
        stand_in.paths, stand_in.recipe
    )
