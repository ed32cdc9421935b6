"""Archives, the hostile ones above all: nothing may be written outside the folder."""

import contextlib
import io
import os
import subprocess
import tarfile
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from studio.domain.errors import Damaged, HostLacks
from studio.host.archive import unpack

Member = tuple[tarfile.TarInfo, bytes]


def file(name: str, data: bytes = b"x", mode: int = 0o644) -> Member:
    """Return a file member."""
    info = tarfile.TarInfo(name)
    info.size, info.mode = len(data), mode
    return info, data


def special(name: str, kind: bytes, target: str = "") -> Member:
    """Return a member that is no file."""
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info, b""


def make(path: Path, *members: Member, mode: str = "w:gz") -> Path:
    """Write an archive."""
    with tarfile.open(path, mode) as tar:  # type-checked as a literal elsewhere
        for info, data in members:
            tar.addfile(info, io.BytesIO(data))
    return path


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_files_links_and_modes_arrive(tmp_path: Path, mode: str) -> None:
    """An interpreter's archive holds programs, and links to them under other names."""
    archive = make(
        tmp_path / "a.tar",
        special("python", tarfile.DIRTYPE),
        file("python/bin/python3.11", b"#!", 0o4755),
        special("python/bin/python3", tarfile.SYMTYPE, "python3.11"),
        special("python/lib/up", tarfile.SYMTYPE, "../bin/python3.11"),
        special("python/lib/hard", tarfile.LNKTYPE, "python/bin/python3.11"),
        file("./python/lib/ä ö.py", b"text"),
        mode=mode,
    )
    seen: list[int] = []

    unpack(archive, tmp_path / "out", on_bytes=seen.append)

    root = tmp_path / "out" / "python"
    assert (root / "bin" / "python3").readlink() == Path("python3.11")
    assert (root / "lib" / "up").read_bytes() == b"#!"
    assert (root / "lib" / "hard").samefile(root / "bin" / "python3.11")
    assert (root / "lib" / "ä ö.py").read_text() == "text"
    assert (root / "bin" / "python3.11").stat().st_mode & 0o7777 == 0o755 & ~umask()
    assert seen == [2, 6]


@pytest.mark.parametrize(
    "members",
    [
        [file("../escaped")],
        [file("a/../../escaped")],
        [file("/tmp/weir-escaped")],
        [file("a\\..\\escaped")],
        [special("l", tarfile.SYMTYPE, "/etc"), file("l/escaped")],
        [special("l", tarfile.SYMTYPE, ".."), file("l/escaped")],
        [special("a/l", tarfile.SYMTYPE, "../../escaped")],
        [special("d", tarfile.DIRTYPE), special("l", tarfile.SYMTYPE, "d"), file("l/through")],
        [special("l", tarfile.SYMTYPE, "."), special("l/deep", tarfile.DIRTYPE)],
        [special("hard", tarfile.LNKTYPE, "../../outside")],
        [special("l", tarfile.SYMTYPE, "d"), special("hard", tarfile.LNKTYPE, "l/x")],
        [special("device", tarfile.CHRTYPE)],
        [special("device", tarfile.BLKTYPE)],
        [special("pipe", tarfile.FIFOTYPE)],
    ],
    ids=lambda members: " ".join(info.name for info, _data in members),
)
def test_what_would_leave_the_folder_is_refused(tmp_path: Path, members: list[Member]) -> None:
    """A mirror is a stranger; its archive must not overwrite a person's files."""
    box = tmp_path / "box"
    box.mkdir()
    archive = make(tmp_path / "evil.tar.gz", *members)

    with pytest.raises(Damaged) as caught:
        unpack(archive, box / "in" / "out")

    assert caught.value.code == "archive-unsafe"
    assert not [path for path in box.rglob("*") if "escaped" in path.name]
    assert {path.name for path in tmp_path.iterdir()} == {"box", "evil.tar.gz"}
    assert not Path("/tmp/weir-escaped").exists()


def test_a_name_twice_does_not_follow_a_link(tmp_path: Path) -> None:
    """A link, then a file of the same name: written through, the file would land at its target."""
    archive = make(tmp_path / "a.tar", special("x", tarfile.SYMTYPE, "y"), file("x", b"data"))

    with pytest.raises(HostLacks):
        unpack(archive, tmp_path / "out")

    assert not (tmp_path / "out" / "y").exists()


def test_an_archive_that_grows_past_its_limit_is_stopped(tmp_path: Path) -> None:
    """Ten kilobytes of zeros can fill a disk."""
    archive = make(tmp_path / "bomb.tar.gz", file("a", bytes(600_000)), file("b", bytes(600_000)))

    with pytest.raises(Damaged) as caught:
        unpack(archive, tmp_path / "out", max_bytes=1_000_000)

    assert caught.value.code == "archive-unsafe"
    assert not (tmp_path / "out" / "b").exists()


def test_an_archive_of_nothing_but_air_is_stopped(tmp_path: Path) -> None:
    """A hundred kilobytes that become a hundred megabytes: no archive of programs does that."""
    archive = make(tmp_path / "bomb.tar.xz", file("a", bytes(100_000_000)), mode="w:xz")

    with pytest.raises(Damaged) as caught:
        unpack(archive, tmp_path / "out")

    assert caught.value.code == "archive-unsafe"
    assert archive.stat().st_size < 200_000
    assert not (tmp_path / "out" / "a").exists()


@pytest.mark.parametrize("mode", ["w:gz", "w:xz", "w:bz2"])
@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME])
def test_a_header_that_would_fill_the_memory_is_stopped(
    tmp_path: Path, mode: str, kind: bytes
) -> None:
    """The library reads a header whole, before anybody could look at its size."""
    info, _ = special("x", kind)
    info.size = 50_000_000
    archive = tmp_path / "bomb.tar"
    with tarfile.open(archive, mode) as tar:
        tar.fileobj.write(info.tobuf(tarfile.USTAR_FORMAT))
        tar.fileobj.write(bytes(50_000_000))

    tracemalloc.start()
    try:
        with pytest.raises(Damaged) as caught:
            unpack(archive, tmp_path / "out")
        _now, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert caught.value.code == "archive-unsafe"
    assert most < 20_000_000


def test_a_file_with_holes_counts_in_full(tmp_path: Path) -> None:
    """It takes no room in the archive and all of it on the disk."""
    sparse = tmp_path / "sparse"
    with sparse.open("wb") as out:
        out.truncate(100_000_000)
    archive = tmp_path / "a.tar"
    made = subprocess.run(
        ["tar", "--sparse", "-cf", str(archive), "-C", str(tmp_path), "sparse"],
        check=False, capture_output=True,
    )  # fmt: skip
    if made.returncode != 0:
        pytest.skip("this machine's tar makes no sparse archives")

    with pytest.raises(Damaged) as caught:
        unpack(archive, tmp_path / "out")

    assert caught.value.code == "archive-unsafe"


@pytest.mark.parametrize(
    "member",
    [
        special("l", tarfile.LNKTYPE, "/etc/passwd"),
        special("l", tarfile.LNKTYPE, "missing"),
        special("l", tarfile.SYMTYPE, "a/../../../escaped"),
        special("l", tarfile.CONTTYPE),
    ],
    ids=["absolute hard link", "hard link to nothing", "detour", "contiguous"],
)
def test_odd_links_and_kinds_end_in_words(tmp_path: Path, member: Member) -> None:
    """Never in a traceback, never outside."""
    archive = make(tmp_path / "a.tar", member)

    with contextlib.suppress(Damaged, HostLacks):
        unpack(archive, tmp_path / "out")

    assert [path.name for path in tmp_path.iterdir() if path.name != "out"] == ["a.tar"]


def cut(data: bytes) -> bytes:
    """Return the first half."""
    return data[: len(data) // 2]


def flipped(data: bytes) -> bytes:
    """Return the data with its middle overwritten."""
    middle = len(data) // 2
    return data[:middle] + bytes(16) + data[middle + 16 :]


@pytest.mark.parametrize("spoil", [cut, flipped, lambda _data: b"<html>", lambda _data: b""])
@pytest.mark.parametrize("mode", ["w:gz", "w:xz", "w:bz2"])
def test_a_broken_archive_is_called_so(
    tmp_path: Path, mode: str, spoil: Callable[[bytes], bytes]
) -> None:
    """Half a download, a bad disk, a login page: one clear sentence for all."""
    archive = make(tmp_path / "a.tar", file("a", os.urandom(200_000)), mode=mode)
    archive.write_bytes(spoil(archive.read_bytes()))

    with pytest.raises(Damaged) as caught:
        unpack(archive, tmp_path / "out")

    assert caught.value.code == "archive-damaged"


def umask() -> int:
    """Return this process's umask."""
    current = os.umask(0)
    os.umask(current)
    return current
