"""Removing frees what it says, touches nothing else, and a kill leaves a model or none."""

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from studio.domain.errors import Busy, HostLacks
from studio.domain.library import RootKind
from studio.host.files import exclusive
from studio.models import removing
from studio.models.finding import REMOVING, Found, walk
from studio.models.removing import finish, remove, require_removable, weigh
from studio.models.roots import Root
from tests.models.made_models import cached, gguf, model, safetensors

ROOT = Path(__file__).resolve().parents[2]
SIZE = len(safetensors())


def all_of(folder: Path, kind: RootKind = RootKind.FOLDER) -> dict[str, Found]:
    """Return the models of a root by name."""
    return {one.name: one for one in walk(Root(path=str(folder), kind=kind)).models}


def files(folder: Path) -> list[str]:
    """Return what is left below a folder."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_a_folder_goes_whole_and_what_lies_beside_stays(tmp_path: Path) -> None:
    """Its owner's empty folder goes too."""
    model(tmp_path / "root" / "owner" / "m")
    model(tmp_path / "root" / "other")
    found = all_of(tmp_path / "root")["owner/m"]

    weighed = weigh(found)
    remove(found, tmp_path / "models")

    assert weighed.freed_bytes == SIZE + len((tmp_path / "root/other/config.json").read_bytes())
    assert files(tmp_path / "root") == ["other", "other/config.json", "other/model.safetensors"]
    assert files(tmp_path / "models") == []


def test_bytes_with_another_name_elsewhere_free_nothing(tmp_path: Path) -> None:
    """A promise of 60 GB that frees none is worse than none."""
    folder = model(tmp_path / "root" / "m")
    (tmp_path / "kept.safetensors").hardlink_to(folder / "model.safetensors")
    (folder / "second.safetensors").hardlink_to(folder / "model.safetensors")

    weighed = weigh(all_of(tmp_path / "root")["m"])

    assert (weighed.freed_bytes, weighed.stays_bytes) == (
        (folder / "config.json").stat().st_size,
        SIZE,
    )


def test_a_revision_of_a_cache_goes_with_what_only_it_names(tmp_path: Path) -> None:
    """Blobs that another revision names stay, and so does its reference."""
    other = {"config.json": b"{}", "model.safetensors": safetensors()}
    cached(tmp_path / "hub")
    kept = cached(tmp_path / "hub", files=other, commit="b" * 40, ref="v1")
    found = all_of(tmp_path / "hub")["owner/name"]

    weighed = weigh(found)
    remove(found, tmp_path / "models")

    assert 0 < weighed.freed_bytes < SIZE
    assert (kept / "model.safetensors").read_bytes() == safetensors()
    repository = tmp_path / "hub" / "models--owner--name"
    assert sorted(path.name for path in (repository / "snapshots").iterdir()) == ["b" * 40]
    assert sorted(path.name for path in (repository / "refs").iterdir()) == ["v1"]
    assert len(list((repository / "blobs").iterdir())) == 2
    assert not list(repository.glob(f"{REMOVING}*"))


def test_the_last_revision_takes_its_repository_with_it(tmp_path: Path) -> None:
    """Unfinished parts and locks too, as huggingface_hub's own `delete_revisions` does."""
    cached(tmp_path / "hub")
    cached(tmp_path / "hub", "owner/second")
    (tmp_path / "hub/models--owner--name/blobs/x.incomplete").write_bytes(b"x")
    (tmp_path / "hub/.locks/models--owner--name").mkdir(parents=True)

    remove(all_of(tmp_path / "hub")["owner/name"], tmp_path / "models")

    assert sorted(path.name for path in (tmp_path / "hub").iterdir()) == [
        ".locks",
        "models--owner--second",
    ]
    assert files(tmp_path / "hub/.locks") == []


def test_huggingface_hub_finds_its_cache_in_order_afterwards(tmp_path: Path) -> None:
    """The cache is not ours alone."""
    huggingface_hub = pytest.importorskip("huggingface_hub")
    cached(tmp_path / "hub")
    cached(tmp_path / "hub", commit="b" * 40, ref="v1", files={"config.json": b"{}"})

    remove(all_of(tmp_path / "hub")["owner/name"], tmp_path / "models")

    scanned = huggingface_hub.scan_cache_dir(tmp_path / "hub")
    assert scanned.warnings == []
    assert [one.commit_hash for repo in scanned.repos for one in repo.revisions] == ["b" * 40]


def test_loose_files_go_without_their_neighbours(tmp_path: Path) -> None:
    """A folder of GGUF files holds many models."""
    root = tmp_path / "root"
    root.mkdir()
    for name in ("a-00001-of-00002.gguf", "a-00002-of-00002.gguf", "b.gguf", "notes.txt"):
        (root / name).write_bytes(gguf())

    remove(all_of(root)["a.gguf"], tmp_path / "models")

    assert sorted(path.name for path in root.iterdir()) == ["b.gguf", "notes.txt"]


def test_links_are_removed_and_never_followed(tmp_path: Path) -> None:
    """Whatever they point at is somebody else's."""
    outside = model(tmp_path / "outside")
    folder = model(tmp_path / "root" / "m")
    (folder / "sub").symlink_to(outside)
    (folder / "w.safetensors").symlink_to(outside / "model.safetensors")
    (tmp_path / "root" / "linked").symlink_to(outside)
    before = files(outside)

    linked = all_of(tmp_path / "root")["linked"]
    weighed = weigh(linked)
    remove(linked, tmp_path / "models")
    remove(all_of(tmp_path / "root")["m"], tmp_path / "models")

    assert (weighed.freed_bytes, weighed.is_link) == (0, True)
    assert files(outside) == before
    assert files(tmp_path / "root") == []


def test_a_model_behind_a_link_out_of_its_root_is_refused(tmp_path: Path) -> None:
    """Also one whose repository or owner's folder is a link."""
    model(tmp_path / "outside" / "m")
    cached(tmp_path / "elsewhere")
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "owner").symlink_to(tmp_path / "outside")
    (tmp_path / "root" / "hub").symlink_to(tmp_path / "elsewhere")

    for found in all_of(tmp_path / "root").values():
        with pytest.raises(Busy) as refused:
            remove(found, tmp_path / "models")
        assert refused.value.code == "model-outside-root"
    assert (tmp_path / "outside" / "m" / "config.json").exists()


def test_blobs_that_a_hostile_link_names_elsewhere_stay(tmp_path: Path) -> None:
    """A snapshot is a stranger's folder."""
    victim = tmp_path / "victim"
    victim.write_text("mine")
    snapshot = cached(tmp_path / "hub")
    cached(tmp_path / "hub", commit="b" * 40, ref="v1", files={"config.json": b"{}"})
    (snapshot / "evil.safetensors").symlink_to(victim)
    (snapshot / "up").symlink_to("../../../../victim")

    remove(all_of(tmp_path / "hub")["owner/name"], tmp_path / "models")

    assert victim.read_text() == "mine"


def test_a_reference_is_only_forgotten(tmp_path: Path) -> None:
    """No file of it is ours."""
    folder = model(tmp_path / "m")
    found = all_of(folder, RootKind.REFERENCE)["m"]

    remove(found, tmp_path / "models")

    assert weigh(found).freed_bytes == 0
    assert (folder / "model.safetensors").exists()


def test_a_root_that_is_itself_a_model_is_not_removed(tmp_path: Path) -> None:
    """A whole folder that somebody added is no model in it."""
    with pytest.raises(Busy) as refused:
        require_removable(all_of(model(tmp_path / "m"))["m"])

    assert refused.value.code == "model-is-root"


def test_a_repository_that_somebody_fetches_is_left_alone(tmp_path: Path) -> None:
    """Whoever it is: they hold huggingface_hub's lock."""
    cached(tmp_path)
    locks = tmp_path / ".locks" / "models--owner--name"
    locks.mkdir(parents=True)
    found = all_of(tmp_path)["owner/name"]
    with (locks / "x.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(Busy) as refused:
            require_removable(found)

    assert refused.value.code == "model-in-use"
    require_removable(found)


def test_an_import_that_broke_off_is_removed_but_not_one_under_way(tmp_path: Path) -> None:
    """Its files are hidden, its gigabytes are not."""
    (tmp_path / ".importing-m" / "files").mkdir(parents=True)
    (tmp_path / ".importing-m" / "files" / "x.part").write_bytes(b"x" * 700)
    found = all_of(tmp_path, RootKind.OWN)["m (import)"]
    with exclusive(tmp_path / ".importing-m.lock"), pytest.raises(Busy):
        require_removable(found)

    assert weigh(found).freed_bytes == 700
    remove(found, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [".importing-m.lock"]


def test_a_folder_that_may_not_be_written_is_said_before_anything_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half a model removed is a model destroyed."""
    model(tmp_path / "m")
    monkeypatch.setattr(os, "access", lambda _path, _mode: False)
    with pytest.raises(HostLacks):
        remove(all_of(tmp_path)["m"], tmp_path / "models")

    assert (tmp_path / "m" / "model.safetensors").exists()


def test_a_long_name_has_room_for_its_mark(tmp_path: Path) -> None:
    """A name may have 255 bytes."""
    name = "模" * 85
    model(tmp_path / name)

    remove(all_of(tmp_path)[name], tmp_path / "models")

    assert files(tmp_path) == ["models"]


@pytest.mark.parametrize("work", ["remove", "snapshot", "loose"])
def test_a_kill_at_any_touch_of_the_disk_leaves_the_model_or_none(
    tmp_path: Path, work: str
) -> None:
    """And the next removal, or the next start, finishes it."""
    argv = [sys.executable, "-m", "tests.models.killed_work", work, str(tmp_path / "k")]
    subprocess.run(argv, check=True, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)})
    cases = sorted(int(path.name) for path in (tmp_path / "k").iterdir())

    kept = 0
    for number in cases:
        here = tmp_path / "k" / str(number)
        models = list(all_of(here / "root").values())
        whole = [one for one in models if is_whole(one, work)]
        expected = 1 if work == "snapshot" else 0
        if work != "loose":  # of loose parts, those that are left are said to lack the first
            assert len(models) == len(whole), number
        assert len(whole) in (expected, expected + 1), number
        kept += len(whole) > expected
        finish(here / "models")
        left = list((here / "root").rglob(f"{REMOVING}*"))
        assert left == [], number
        assert [is_whole(one, work) for one in all_of(here / "root").values()].count(True) in (
            expected,
            len(whole),
        )
    assert len(cases) > 5
    assert 0 < kept < len(cases)


def is_whole(found: Found, work: str) -> bool:
    """Tell whether all files of a model are there."""
    if work == "loose":
        return len(found.files) == 2
    sizes = {file.name: file.size for file in found.files}
    return sizes.get("config.json") is not None and sizes.get("model.safetensors") is not None


def test_a_journal_that_names_something_else_removes_nothing(tmp_path: Path) -> None:
    """Only names of ours are ever finished."""
    folder = model(tmp_path / "m")
    removal = removing._Removal(trash=str(folder))
    removing._note(tmp_path, (removal,))

    finish(tmp_path)

    assert (folder / "config.json").exists()
