"""What a manifest says of each kind of file."""

import asyncio
from pathlib import Path

from studio.host.hashing import Hashed
from studio.runtimes import folder, manifest, survey
from studio.runtimes.install import install
from tests.runtimes import damage
from tests.runtimes.damage import SITE
from tests.runtimes.standin import StandIn


def test_every_file_is_listed_for_what_it_is(stand_in: StandIn) -> None:
    """Installed by the real thing: scripts, links, bytecode, lists, patched and plain files."""
    damage.add_script(stand_in)
    record = asyncio.run(install(stand_in.recipe, stand_in.paths, stand_in.reports.append))
    root = folder.folder_of(stand_in.paths, record)

    listed = manifest.read(root)

    assert listed is not None
    flags = {entry.path: entry.flags for entry in listed.entries}
    owners = {e.path: listed.owners[e.owner - 1] for e in listed.entries if e.owner}
    there = {str(p.relative_to(root)) for p in root.rglob("*") if p.is_symlink() or p.is_file()}
    assert {path for path in there if path.startswith("python/")} == set(flags)
    assert flags[damage.SCRIPT] & (manifest.PLACED | manifest.EXECUTABLE) == (
        manifest.PLACED | manifest.EXECUTABLE
    )
    assert flags["python/bin/python3"] & manifest.LINK
    assert flags[f"{SITE}/weirtiny-1.0.dist-info/RECORD"] & manifest.LISTING
    assert flags[f"{SITE}/weirtiny/part3.py"] == 0
    assert flags[f"{SITE}/weirtiny/__init__.py"] & manifest.VITAL
    assert any(flag & manifest.BYTECODE for flag in flags.values())
    assert not any(flag & manifest.SUSPECT for flag in flags.values())
    assert owners[f"{SITE}/weirtiny/part7.py"] == "weirtiny==1.0"
    assert owners[damage.SCRIPT] == "weirscript==1.0"
    assert owners["python/share/weirscript.txt"] == "weirscript==1.0"
    assert owners[f"{SITE}/tiny_alias-1.0+cpu.dist-info/METADATA"] == "tiny_alias==1.0+cpu"
    assert listed.lock == (stand_in.recipe_file.parent / "requirements.lock").read_bytes()


def test_a_list_that_was_drafted_holds_until_a_file_changes(stand_in: StandIn) -> None:
    """It is made beside the last checks, and an engine that is tried may write into its tree."""
    record = asyncio.run(install(stand_in.recipe, stand_in.paths, stand_in.reports.append))
    root = folder.folder_of(stand_in.paths, record)
    drafted = survey.draft(stand_in.paths, stand_in.recipe, record.runtime_id)
    assert (root / manifest.MANIFEST_FILE).read_bytes() == drafted.packed

    changed = root / SITE / "weirother/data.bin"
    changed.unlink()
    changed.write_bytes(b"other")
    (root / SITE / "weirother/new.bin").write_bytes(b"new")
    survey.write_manifest(stand_in.paths, stand_in.recipe, record.runtime_id, drafted=drafted)

    listed = manifest.read(root)
    assert listed is not None
    sizes = {entry.path: entry.size for entry in listed.entries}
    assert sizes[f"{SITE}/weirother/data.bin"] == 5
    assert sizes[f"{SITE}/weirother/new.bin"] == 3


def test_a_file_unlike_its_package_is_suspect(tmp_path: Path) -> None:
    """Where a package says nothing of it, there is nothing to suspect."""
    now = Hashed(3, 0, False, b"1" * 32)
    path = f"{SITE}/a/b.py"

    unlike = survey.entry(tmp_path, path, now, survey.Owned(1, b"2" * 32))
    alike = survey.entry(tmp_path, path, now, survey.Owned(1, b"1" * 32))

    assert unlike.has(manifest.SUSPECT)
    assert alike.flags == survey.entry(tmp_path, path, now, survey.UNOWNED).flags == 0


def test_links_are_not_followed_and_notes_are_known(tmp_path: Path) -> None:
    """A link to a folder elsewhere is one name, and not all that lies there."""
    (tmp_path / "python" / "lib").mkdir(parents=True)
    (tmp_path / "python" / "lib" / "file").write_bytes(b"12345")
    (tmp_path / "python" / "lib64").symlink_to("lib")

    seen = survey.walk(tmp_path)

    assert {path: found[:2] for path, found in seen.items()} == {
        "python/lib/file": (5, None),
        "python/lib64": (0, "lib"),
    }
    assert survey.is_note("python/.lock")
    assert survey.is_note(f"{SITE}/a-1.dist-info/uv_cache.json")
    assert not survey.is_note(f"{SITE}/a-1.dist-info/METADATA")
