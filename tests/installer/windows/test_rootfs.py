"""The root file system for WSL: what is left out, how it is packed, how large it may be."""

import os
import tarfile
from pathlib import Path

import pytest

from installer import window_only
from installer.windows import rootfs
from studio.app import wsl
from tests.fakes import small_disk


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a small root with a package of ours in it."""
    made = tmp_path / "root"
    for name in (
        "usr/share/doc/bash/copyright", "usr/share/locale/de/x.mo", "var/lib/apt/lists/index",
        "var/cache/apt/archives/bash.deb", "etc/passwd-", "etc/hostname", "etc/shadow",
        "opt/weir-studio/_internal/PySide6/Qt.so", "opt/weir-studio/_internal/libX11.so.6",
        "opt/weir-studio/_internal/docs/user/window.png", "opt/weir-studio/_internal/base.zip",
        "etc/passwd",
    ):  # fmt: skip
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).write_bytes(b"x")
    listed = made / "opt/weir-studio" / window_only.LISTED
    listed.write_text("_internal/PySide6\n_internal/libX11.so.6\n", encoding="utf-8")
    return made


def test_what_a_service_never_reads_is_left_out(root: Path) -> None:
    """The window is Windows' own; folders that Debian's programs expect stay."""
    rootfs.slim(root)
    rootfs.settle(root)

    left = {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}
    program = "opt/weir-studio"
    assert left == {
        f"{program}/_internal/base.zip", f"{program}/window.txt", "etc/passwd", "etc/shadow",
    }  # fmt: skip
    assert (root / "usr/share/doc").is_dir()
    assert (root / "var/cache/apt/archives").is_dir()


def test_the_day_of_the_build_is_not_in_it(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else two builds of one commit would differ."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "864000")
    (root / "etc/shadow").write_text("root:*:20421:0:99999:7:::\nweir:!:20422:0::::\n")

    rootfs.settle(root)

    text = (root / "etc/shadow").read_text()
    assert text == "root:*:10:0:99999:7:::\nweir:!:10:0::::\n"


def test_the_same_root_gives_the_same_bytes(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And WSL finds folders and files in it."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    rootfs.pack(root, tmp_path / "one.tar.xz")
    os.utime(root / "etc/passwd", (5, 5))
    rootfs.pack(root, tmp_path / "two.tar.xz")

    assert (tmp_path / "one.tar.xz").read_bytes() == (tmp_path / "two.tar.xz").read_bytes()
    with tarfile.open(tmp_path / "one.tar.xz") as archive:
        assert "./etc/passwd" in archive.getnames()


def test_a_root_that_cannot_be_read_leaves_no_archive(tmp_path: Path) -> None:
    """Half a system is worse than none."""
    with pytest.raises(RuntimeError, match="tar ended"):
        rootfs.pack(tmp_path / "none", tmp_path / "out.tar.xz")
    assert not list(tmp_path.iterdir())


def test_nothing_is_removed_where_something_is_mounted(tmp_path: Path) -> None:
    """A build that a kill cut off leaves the machine's own folders in its root."""
    with small_disk.mounted(tmp_path / "rootfs/dev", 1 << 20) as disk:
        (disk / "null").touch()

        with pytest.raises(RuntimeError, match="is mounted"):
            rootfs.build(tmp_path / "none.deb", tmp_path, tmp_path, "bookworm", "http://[::1]:9")

        assert (disk / "null").exists()


def test_one_that_has_grown_stops_the_build(tmp_path: Path) -> None:
    """Nobody would notice; it is inside the setup program."""
    archive = tmp_path / rootfs.NAME
    with archive.open("wb") as file:
        file.truncate(rootfs.LIMIT_BYTES)
    rootfs.require_small(archive)
    with archive.open("ab") as file:
        file.write(b"x")

    with pytest.raises(RuntimeError, match="60,000,001 bytes"):
        rootfs.require_small(archive)


def test_the_studio_looks_for_it_by_the_name_that_is_built() -> None:
    """Both stand in code of their own."""
    assert rootfs.NAME == wsl.ROOTFS
