"""Writing a bundle: whole or absent, equal for equal content, readable by any tar."""

import subprocess
import tarfile
from pathlib import Path

import pytest

from studio.domain.errors import BadInput, Busy, Damaged, HostLacks
from studio.host.files import exclusive
from studio.host.progress import Progress, Stopped
from studio.host.signing import own
from studio.runtimes import bundle_write
from studio.runtimes.bundle_write import Content, listed
from tests.runtimes.bundles import FILES, index_of, write_small
from tests.runtimes.standin import StandIn


def test_any_tar_lists_and_unpacks_it(stand_in: StandIn, tmp_path: Path) -> None:
    """Who lost the Studio still has the files."""
    write_small(stand_in, tmp_path / "b.tar.gz")

    with tarfile.open(tmp_path / "b.tar.gz") as tar:
        names = tar.getnames()
        held = {
            name: file.read()
            for name in names
            if (file := tar.extractfile(name)) is not None and name in FILES
        }
    assert names[:2] == ["weir-bundle.json", "weir-bundle.sig"]
    assert held == FILES
    subprocess.run(["tar", "-tzf", tmp_path / "b.tar.gz"], check=True, capture_output=True)


def test_two_writings_are_equal_to_the_byte(stand_in: StandIn, tmp_path: Path) -> None:
    """Two machines' exports can be compared by sha256."""
    write_small(stand_in, tmp_path / "one")
    write_small(stand_in, tmp_path / "two")

    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_a_file_that_is_there_is_not_written_over(stand_in: StandIn, tmp_path: Path) -> None:
    """It may be the only copy of something."""
    (tmp_path / "b").write_text("mine")

    with pytest.raises(BadInput) as caught:
        write_small(stand_in, tmp_path / "b")

    assert caught.value.code == "file-exists"
    assert (tmp_path / "b").read_text() == "mine"
    assert not (tmp_path / ".b.part").exists()


def test_two_that_write_one_file_do_not_mix(stand_in: StandIn, tmp_path: Path) -> None:
    """The second is told."""
    with exclusive(tmp_path / ".b.part"), pytest.raises(Busy) as caught:
        write_small(stand_in, tmp_path / "b")

    assert caught.value.code == "export-running"


def test_what_changes_meanwhile_ends_it(stand_in: StandIn, tmp_path: Path) -> None:
    """A bundle that nobody can import is worse than none."""
    place = tmp_path / "file"
    place.write_bytes(b"before")
    members = {"runtime/python/bin/python3": Content(place)}
    items = listed(members)
    signer, _ = own(tmp_path / "key")
    for content in (b"longer than before", b"behind", b""):
        place.write_bytes(content)
        with pytest.raises(Damaged) as caught:
            bundle_write.write(
                tmp_path / "b", index_of(stand_in, items), members, signer, Progress()
            )
        assert caught.value.code == "runtime-changed"
    assert {path.name for path in tmp_path.iterdir()} >= {"file", "key"}
    assert not (tmp_path / "b").exists()
    assert not (tmp_path / ".b.part").exists()


def test_what_is_gone_or_no_file_is_named(tmp_path: Path) -> None:
    """A pipe in a file's place must not be waited for."""
    (tmp_path / "folder").mkdir()
    for name in ("gone", "folder"):
        with pytest.raises(Damaged) as caught:
            listed({"runtime/x": Content(tmp_path / name)})
        assert caught.value.code == "runtime-changed"
        assert name in caught.value.message


def test_stopped_it_leaves_nothing(stand_in: StandIn, tmp_path: Path) -> None:
    """Ctrl+C in the middle of gigabytes."""
    progress = Progress()
    progress.stop()
    signer, _ = own(tmp_path / "key")
    members = {"runtime/python/bin/python3": Content(tmp_path, b"x")}

    index = index_of(stand_in, listed(members))

    with pytest.raises(Stopped):
        bundle_write.write(tmp_path / "b", index, members, signer, progress)

    assert not (tmp_path / ".b.part").exists()


def test_a_full_disk_is_named_with_what_to_do(stand_in: StandIn, tmp_path: Path) -> None:
    """The home's disk may have room; it is the stick that is full."""
    small = tmp_path / "stick"
    small.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(small)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("this user may not mount a small disk")
    try:
        with pytest.raises(HostLacks) as caught:
            write_small(stand_in, small / "b")
        assert caught.value.code == "disk-full"
        assert "--to" in (caught.value.hint or "")
        assert list(small.iterdir()) == []

        subprocess.run(["mount", "-o", "remount,ro", str(small)], check=True)
        with pytest.raises(HostLacks) as caught:
            write_small(stand_in, small / "b")
        assert caught.value.code == "not-writable"
    finally:
        subprocess.run(["umount", str(small)], check=True)
