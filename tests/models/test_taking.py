"""Taking a model in: whole or not at all, by the way that was asked for or with a reason."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from studio.domain.errors import BadInput, Busy, Damaged, HostLacks, NotFound
from studio.domain.library import ImportWay
from studio.host.files import exclusive
from studio.models import taking
from studio.models.taking import Taken, name_for, source, take
from tests.models.made_models import cached, gguf, model, safetensors

ROOT = Path(__file__).resolve().parents[2]


def nothing(_done: int, _total: int) -> None:
    """Hear of bytes."""


def taken(path: Path, models: Path, by: ImportWay, name: str = "m") -> Taken:
    """Take the model at a path."""
    return take(source(path), models, name, by, nothing)


def test_a_hard_link_takes_no_space_and_a_copy_is_its_own(tmp_path: Path) -> None:
    """Whoever writes to one of them has to know."""
    folder = model(tmp_path / "mödel")

    linked = taken(folder, tmp_path / "models", ImportWay.LINK)
    copied = taken(folder, tmp_path / "models", ImportWay.COPY, "copy")

    assert (linked.by, linked.linked, linked.written_bytes) == (ImportWay.LINK, 2, 0)
    assert (linked.folder / "model.safetensors").samefile(folder / "model.safetensors")
    assert copied.cloned + copied.copied == 2
    assert (copied.folder / "model.safetensors").read_bytes() == safetensors()
    assert not (copied.folder / "model.safetensors").samefile(folder / "model.safetensors")
    assert sorted(path.name for path in (tmp_path / "models").iterdir()) == ["copy", "m"]


def test_where_no_link_can_lead_it_is_copied_and_the_reason_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another disk is the usual one."""
    folder = model(tmp_path / "m")

    def refuse(_path: Path, _target: Path) -> None:
        raise OSError(errno.EXDEV, "Invalid cross-device link")

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    done = taken(folder, tmp_path / "models", ImportWay.LINK)

    assert done.by is ImportWay.COPY
    assert "another file system" in (done.reason or "")
    assert (done.folder / "model.safetensors").read_bytes() == safetensors()


def test_a_repository_of_a_cache_is_taken_as_plain_files(tmp_path: Path) -> None:
    """Its links would lead nowhere from here."""
    cached(tmp_path / "hub")

    done = taken(tmp_path / "hub" / "models--owner--name", tmp_path / "models", ImportWay.LINK)

    assert not (done.folder / "model.safetensors").is_symlink()
    assert (done.folder / "model.safetensors").read_bytes() == safetensors()


def test_parts_of_a_gguf_come_together(tmp_path: Path) -> None:
    """One of them is named."""
    for part in (1, 2):
        (tmp_path / f"m-Q4-0000{part}-of-00002.gguf").write_bytes(gguf())

    found = source(tmp_path / "m-Q4-00001-of-00002.gguf")

    assert len(found.files) == 2
    assert name_for(found, None) == "m-Q4"


def test_what_is_no_model_or_more_than_one_is_said(tmp_path: Path) -> None:
    """With what to name instead."""
    (tmp_path / "empty").mkdir()
    model(tmp_path / "two" / "a")
    model(tmp_path / "two" / "b")
    (model(tmp_path / "torn") / "x.safetensors").symlink_to("nowhere")
    cases = {"none": "model-missing", "empty": "model-none-here", "two": "model-several",
             "torn": "model-incomplete"}  # fmt: skip

    for name, code in cases.items():
        with pytest.raises((NotFound, BadInput, Damaged)) as refused:
            source(tmp_path / name)
        assert refused.value.code == code


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", ".hidden", "-x", "a b", "x" * 200, "a\0"])
def test_a_name_that_is_no_folder_of_ours_is_refused(tmp_path: Path, name: str) -> None:
    """It would land elsewhere, or nowhere."""
    with pytest.raises(BadInput) as refused:
        name_for(source(model(tmp_path / "m")), name)

    assert refused.value.code == "model-name"


def test_a_strange_folders_name_becomes_a_plain_one(tmp_path: Path) -> None:
    """Blanks are no pleasure in commands."""
    assert name_for(source(model(tmp_path / "-Mein Mödel (2)")), None) == "Mein-Mödel-2-"
    cached(tmp_path / "hub", "o/n")
    assert name_for(source(tmp_path / "hub" / "models--o--n"), None) == "o--n"


def test_a_link_that_leads_out_of_the_model_is_not_followed(tmp_path: Path) -> None:
    """A stranger's folder could name any file of this machine."""
    secret = tmp_path / "secret.txt"
    secret.write_text("mine")
    folder = model(tmp_path / "m")
    (folder / "notes.txt").symlink_to(secret)

    with pytest.raises(BadInput) as refused:
        taken(folder, tmp_path / "models", ImportWay.COPY)

    assert refused.value.code == "import-link-outside"
    assert not (tmp_path / "models" / "m").exists()


def test_a_name_that_is_taken_is_not_overwritten(tmp_path: Path) -> None:
    """The other one may be the only copy."""
    taken(model(tmp_path / "a"), tmp_path / "models", ImportWay.COPY)
    with pytest.raises(BadInput) as refused:
        taken(model(tmp_path / "b"), tmp_path / "models", ImportWay.COPY)

    assert refused.value.code == "model-exists"


def test_two_at_once_are_one_after_the_other(tmp_path: Path) -> None:
    """Two processes in one work folder would mix their files."""
    (tmp_path / "models").mkdir()
    with exclusive(tmp_path / "models" / ".importing-m.lock"), pytest.raises(Busy):
        taken(model(tmp_path / "m"), tmp_path / "models", ImportWay.COPY)


def test_a_copy_that_was_stopped_goes_on_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also in the middle of a file: 60 GB are not copied twice."""
    big = safetensors({"w": ("U8", [5 << 20])})
    folder = model(tmp_path / "m", big)
    monkeypatch.setattr(taking, "_CHUNK", 1 << 20)
    monkeypatch.setattr(taking.sharing, "clone", lambda _source, _fresh: False)
    seen: list[int] = []

    def stop(done: int, _total: int) -> None:
        seen.append(done)
        if done > 3 << 20:
            raise InterruptedError

    with pytest.raises(HostLacks):
        take(source(folder), tmp_path / "models", "m", ImportWay.COPY, stop)
    assert not (tmp_path / "models" / "m").exists()
    again: list[int] = []
    done = take(source(folder), tmp_path / "models", "m", ImportWay.COPY,
                lambda done, _total: again.append(done))  # fmt: skip

    pieces = [done for done in again if done > (folder / "config.json").stat().st_size]
    assert min(pieces) > 3 << 20
    assert (done.folder / "model.safetensors").read_bytes() == big


def test_a_source_that_changed_is_copied_anew(tmp_path: Path) -> None:
    """Half of the old and half of the new would be neither."""
    folder = model(tmp_path / "m")
    work = tmp_path / "models" / ".importing-m" / "files"
    work.mkdir(parents=True)
    (work / "model.safetensors").write_bytes(b"x" * len(safetensors()))

    done = taken(folder, tmp_path / "models", ImportWay.COPY)

    assert (done.folder / "model.safetensors").read_bytes() == safetensors()


def test_a_source_that_is_written_meanwhile_is_refused(tmp_path: Path) -> None:
    """What came is no model that anybody made."""
    folder = model(tmp_path / "m")

    def write(_done: int, _total: int) -> None:
        os.utime(folder / "config.json", ns=(1, 1))

    with pytest.raises(Damaged) as refused:
        take(source(folder), tmp_path / "models", "m", ImportWay.COPY, write)

    assert refused.value.code == "import-changed"


def test_a_disk_without_room_is_told_before_the_first_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And not after an hour."""
    monkeypatch.setattr(taking.sharing, "can_clone", lambda _folder: False)
    monkeypatch.setattr("studio.host.files.free_bytes", lambda _path: 10)
    with pytest.raises(HostLacks) as refused:
        taken(model(tmp_path / "m"), tmp_path / "models", ImportWay.COPY)

    assert refused.value.code == "disk-space"


@pytest.mark.parametrize("work", ["copy", "link"])
def test_a_kill_at_any_touch_of_the_disk_leaves_no_model_that_is_not_whole(
    tmp_path: Path, work: str
) -> None:
    """And the same line again brings it."""
    argv = [sys.executable, "-m", "tests.models.killed_work", work, str(tmp_path / "k")]
    subprocess.run(argv, check=True, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)})
    cases = sorted(int(path.name) for path in (tmp_path / "k").iterdir())

    absent = 0
    for number in cases:
        here = tmp_path / "k" / str(number)
        target = here / "models" / "m"
        if not target.exists():
            absent += 1
            take(source(here / "source" / "m"), here / "models", "m", ImportWay(work), nothing)
        assert sorted(path.name for path in target.iterdir()) == [
            "config.json",
            "model.safetensors",
        ]
        assert (target / "model.safetensors").read_bytes() == safetensors()
    assert absent > 5


@pytest.mark.parametrize("by", [ImportWay.LINK, ImportWay.COPY])
def test_a_file_that_cannot_be_read_is_named_as_that(tmp_path: Path, by: ImportWay) -> None:
    """`cannot be written` sent people to look at the wrong disk."""
    folder = model(tmp_path / "stïck" / "m")
    found = source(folder)
    (folder / "model.safetensors").unlink()

    with pytest.raises(HostLacks) as caught:
        take(found, tmp_path / "models", "m", by, nothing)

    assert caught.value.code == "not-readable"
    assert f"{folder / 'model.safetensors'} cannot be read" in caught.value.message


def test_a_disk_that_fails_while_it_is_read_is_named_as_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such an error names no file by itself: it comes from a descriptor."""
    folder = model(tmp_path / "m")

    def fail(*_arguments: object) -> bytes:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "copy_file_range", fail)
    monkeypatch.setattr(os, "pread", fail)
    monkeypatch.setattr(taking.sharing, "clone", lambda *_paths: False)
    with pytest.raises(HostLacks) as caught:
        taken(folder, tmp_path / "models", ImportWay.COPY)

    assert caught.value.code == "not-readable"
    assert str(folder) in caught.value.message


def test_a_place_that_cannot_be_written_is_still_named_as_that(tmp_path: Path) -> None:
    """The other half of the same sentence."""
    folder = model(tmp_path / "m")
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / ".importing-m").write_text("no folder")

    with pytest.raises(HostLacks) as caught:
        taken(folder, tmp_path / "models", ImportWay.COPY)

    assert caught.value.code == "not-writable"


def test_a_folder_that_cannot_be_listed_is_not_called_empty(tmp_path: Path) -> None:
    """There may be a model in it."""
    ring = tmp_path / "ring"
    ring.symlink_to(ring)

    with pytest.raises(HostLacks) as caught:
        source(ring)

    assert caught.value.code == "not-readable"
