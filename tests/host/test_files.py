"""Files are whole or absent, whatever the disk does."""

import contextlib
import errno
import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from studio.domain.errors import HostLacks
from studio.host import files

LONG_NAME = "n" * 240
HOLDER = """
import sys
from pathlib import Path
from studio.host.files import exclusive
with exclusive(Path(sys.argv[1])) as is_ours:
    print(is_ours, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """Return a folder on a disk of one MiB."""
    folder = tmp_path / "tiny disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "weir-test", str(folder)]
    mounted = subprocess.run(command, capture_output=True, check=False)
    if mounted.returncode != 0:
        pytest.skip(f"mounting a tmpfs is not allowed here: {mounted.stderr.decode().strip()}")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_write_makes_the_folders_and_leaves_nothing_beside(tmp_path: Path) -> None:
    """A `.settings.json.x1b2` that stays confuses whoever looks into the folder."""
    path = tmp_path / "a blank" / "größe" / "settings.json"

    files.write_atomic(path, b"one", mode=0o600)
    files.write_atomic(path, b"two", mode=0o640)

    assert path.read_bytes() == b"two"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert [entry.name for entry in path.parent.iterdir()] == ["settings.json"]


def test_a_secret_is_never_readable_by_others_not_even_for_a_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A token that is written first and locked away afterwards can be read in between."""
    seen: list[int] = []
    replace = Path.replace

    def look(self: Path, target: Path) -> Path:
        seen.append(stat.S_IMODE(self.stat().st_mode))
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", look)
    previous = os.umask(0)
    try:
        files.write_atomic(tmp_path / "token", b"secret", mode=0o600)
    finally:
        os.umask(previous)

    assert seen == [0o600]


def test_a_full_disk_keeps_the_old_file_and_says_so(tiny_disk: Path) -> None:
    """Half of settings.json would stop the next start."""
    path = tiny_disk / "settings.json"
    files.write_atomic(path, b"the old one")

    with pytest.raises(HostLacks) as caught:
        files.write_atomic(path, b"x" * (2 << 20))

    assert caught.value.code == "disk-full"
    assert str(tiny_disk) in caught.value.message
    assert "WEIR_HOME" in (caught.value.hint or "")
    assert path.read_bytes() == b"the old one"
    assert [entry.name for entry in tiny_disk.iterdir()] == ["settings.json"]


@pytest.mark.parametrize("where", ["file/in/a/file", f"folder/{LONG_NAME}{LONG_NAME}"])
def test_what_cannot_be_written_is_named(tmp_path: Path, where: str) -> None:
    """A traceback with `ENOTDIR` says nothing to a person."""
    (tmp_path / "file").write_text("in the way")

    with pytest.raises(HostLacks) as caught:
        files.write_atomic(tmp_path / where, b"x")

    assert caught.value.code == "not-writable"
    assert str(tmp_path) in caught.value.message


def test_a_folder_in_the_place_of_the_file_is_an_error_and_no_litter(tmp_path: Path) -> None:
    """The rename fails last, when the file beside is there already."""
    (tmp_path / "settings.json").mkdir()

    with pytest.raises(HostLacks):
        files.write_atomic(tmp_path / "settings.json", b"x")

    assert [entry.name for entry in tmp_path.iterdir()] == ["settings.json"]


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (errno.ENOSPC, "disk-full"),
        (errno.EDQUOT, "disk-full"),
        (errno.EROFS, "not-writable"),
        (errno.EACCES, "not-writable"),
    ],
)
def test_the_system_s_refusals_get_stable_codes(number: int, code: str) -> None:
    """A quota is a full disk to the person who has it."""
    error = files.from_os_error(OSError(number, os.strerror(number)), Path("/data/x"))

    assert error.code == code
    assert error.hint


def test_only_what_a_killed_write_left_is_removed(tmp_path: Path) -> None:
    """A person's hidden files, folders and links look alike and stay."""
    descriptor, cut_off = tempfile.mkstemp(dir=tmp_path, prefix=".current.")
    os.close(descriptor)
    kept = {".current", ".hidden", ".a.lock", ".note.txt", "current"}
    for name in kept:
        (tmp_path / name).write_text("mine")
    (tmp_path / ".folder.12345678").mkdir()
    (tmp_path / ".link.12345678").symlink_to("current")

    files.remove_unfinished(tmp_path)
    files.remove_unfinished(tmp_path / "not there")

    assert not Path(cut_off).exists()
    assert {path.name for path in tmp_path.iterdir()} == {
        *kept,
        ".folder.12345678",
        ".link.12345678",
    }


def test_a_private_folder_is_closed_even_if_it_was_open(tmp_path: Path) -> None:
    """Made by an older version, or by hand, with a lax umask."""
    folder = tmp_path / "service"
    folder.mkdir(mode=0o755)

    files.make_private(folder)

    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.skipif(os.getuid() != 0, reason="only root can make a folder that is another user's")
def test_somebody_else_s_folder_is_not_taken_for_ours(tmp_path: Path) -> None:
    """A folder in /tmp with a name that can be guessed may have been made as a trap."""
    theirs, link = tmp_path / "weir-0-abc", tmp_path / "weir-0-def"
    theirs.mkdir()
    os.chown(theirs, 65534, 65534)
    link.symlink_to(tmp_path)
    os.chown(link, 65534, 65534, follow_symlinks=False)

    for folder in (theirs, link):
        with pytest.raises(HostLacks, match="another user"):
            files.make_private(folder, must_be_own=True)
    files.make_private(tmp_path / "ours", must_be_own=True)


def test_free_bytes_of_a_place_that_is_not_there_yet(tiny_disk: Path) -> None:
    """The home is made after its disk was looked at."""
    free = files.free_bytes(tiny_disk / "not" / "yet")

    assert 0 < free <= 1 << 20


def test_a_lack_of_space_says_how_much(tiny_disk: Path) -> None:
    """The person must know how much to free."""
    files.require_space(tiny_disk, 1024, "The note")

    with pytest.raises(HostLacks) as caught:
        files.require_space(tiny_disk / "models", 5 << 30, "The model")

    error = caught.value
    assert error.code == "disk-space"
    assert "The model needs 5.00 GiB" in error.message
    assert error.data["needed_bytes"] == 5 << 30
    assert isinstance(error.data["free_bytes"], int)


def test_a_file_and_its_bytes_have_one_digest(tmp_path: Path) -> None:
    """Larger than one piece of reading."""
    data = os.urandom((1 << 20) + 17)
    (tmp_path / "data").write_bytes(data)

    assert files.sha256_file(tmp_path / "data") == files.sha256_bytes(data)
    assert files.sha256_bytes(b"") == (
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    )


def test_a_folder_s_size_counts_each_inode_once_and_follows_no_link(tmp_path: Path) -> None:
    """uv links from its cache; a link to / must not be walked."""
    folder = tmp_path / "runtime"
    (folder / "deep").mkdir(parents=True)
    (folder / "a").write_bytes(b"x" * 1000)
    os.link(folder / "a", folder / "deep" / "b")
    (folder / "up").symlink_to("/")
    (folder / "dangling").symlink_to("nowhere")

    assert files.folder_bytes(folder) == 1000 + len("nowhere")
    assert files.folder_bytes(tmp_path / "missing") == 0


def test_files_without_an_inode_are_each_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Windows tells none while it lists a folder."""

    class Item:
        path = "x"

        def is_dir(self) -> bool:
            return False

        def stat(self, *, follow_symlinks: bool) -> os.stat_result:
            assert not follow_symlinks
            return os.stat_result((0o100644, 0, 0, 1, 0, 0, 500, 0, 0, 0))

    @contextlib.contextmanager
    def listed(_folder: str) -> Iterator[list[Item]]:
        yield [Item(), Item()]

    monkeypatch.setattr(os, "scandir", listed)

    assert files.folder_bytes(tmp_path) == 1000


def test_only_one_holds_a_lock_and_a_killed_holder_frees_it(tmp_path: Path) -> None:
    """Two services on one home would fight over the engine; a stale lock would bar both."""
    lock = tmp_path / "new folder" / "lock"
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(lock)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"True\n"
        with files.exclusive(lock) as is_ours:
            assert not is_ours
        holder.kill()
        holder.wait(20)

        with files.exclusive(lock) as is_ours:
            assert is_ours
            with files.exclusive(lock) as again:
                assert not again
    finally:
        holder.kill()
        holder.communicate(timeout=20)


def test_a_lock_is_free_after_an_error_inside(tmp_path: Path) -> None:
    """A service that fails to start must not bar the next one."""
    with contextlib.suppress(RuntimeError), files.exclusive(tmp_path / "lock"):
        raise RuntimeError

    with files.exclusive(tmp_path / "lock") as is_ours:
        assert is_ours
