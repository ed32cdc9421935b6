"""The root file system for WSL as every WSL reads it."""

import lzma
from pathlib import Path

import pytest

from studio.app import wsl_rootfs
from studio.domain.errors import StudioError


async def test_it_is_unpacked_for_the_import_and_gone_afterwards(tmp_path: Path) -> None:
    """Also when the import fails: 174 MB would stay for nothing."""
    rootfs = tmp_path / "weir-studio-rootfs.tar.xz"
    rootfs.write_bytes(lzma.compress(b"tar" * 1_000))

    with pytest.raises(RuntimeError, match="0x80070070"):
        await _fails(rootfs, tmp_path / "home")

    assert not list((tmp_path / "home").iterdir())


async def test_a_file_of_the_persons_own_is_taken_as_it_is(tmp_path: Path) -> None:
    """`--rootfs` names what WSL itself understands."""
    async with wsl_rootfs.plain(tmp_path / "my.tar.gz", tmp_path / "home") as readable:
        assert readable == tmp_path / "my.tar.gz"


@pytest.mark.parametrize("data", [lzma.compress(b"tar" * 1_000)[:-9], b"<html>no</html>"])
async def test_a_damaged_one_is_not_imported(tmp_path: Path, data: bytes) -> None:
    """Half a system is worse than none."""
    rootfs = tmp_path / "weir-studio-rootfs.tar.xz"
    rootfs.write_bytes(data)

    with pytest.raises(StudioError) as caught:
        async with wsl_rootfs.plain(rootfs, tmp_path / "home"):
            pass

    assert caught.value.code == "rootfs-damaged"
    assert not list((tmp_path / "home").iterdir())


async def test_a_full_disk_is_said_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what is needed."""
    rootfs = tmp_path / "weir-studio-rootfs.tar.xz"
    rootfs.write_bytes(lzma.compress(b"tar"))
    monkeypatch.setattr("studio.host.files.free_bytes", lambda _path: 0)

    with pytest.raises(StudioError) as caught:
        async with wsl_rootfs.plain(rootfs, tmp_path / "home"):
            pass

    assert caught.value.code == "disk-space"


async def _fails(rootfs: Path, home: Path) -> None:
    async with wsl_rootfs.plain(rootfs, home) as readable:
        assert readable.read_bytes() == b"tar" * 1_000
        raise RuntimeError("0x80070070")


async def test_how_much_of_an_import_is_written_is_known_from_anywhere(tmp_path: Path) -> None:
    """Another process asks: a window beside the terminal that imports."""
    home, image = tmp_path / "home", tmp_path / "home/wsl"
    image.mkdir(parents=True)
    assert wsl_rootfs.written_bytes(home, image) is None
    (image / "ext4.vhdx").write_bytes(b"of another Windows")
    assert wsl_rootfs.written_bytes(home, image) is None
    packed = tmp_path / "weir-studio-rootfs.tar.xz"
    packed.write_bytes(lzma.compress(b"tar" * 1_000))

    async with wsl_rootfs.plain(packed, home):
        (image / "ext4.vhdx").write_bytes(b"x" * 500)
        assert wsl_rootfs.written_bytes(home, image) == 3_500
