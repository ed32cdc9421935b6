"""The cache's folders and locks: huggingface_hub's own code is asked what they are."""

import asyncio
import contextlib
from pathlib import Path

import filelock
import pytest
from huggingface_hub import try_to_load_from_cache
from huggingface_hub.file_download import repo_folder_name
from huggingface_hub.utils import WeakFileLock

from studio.domain.downloads import FetchedFile
from studio.hub.layout import Layout, locked
from tests.fakes.hub import COMMIT, NAME, NEWER
from tests.fakes.waiting import until_async

SHA256 = "0f" * 32
FILE = FetchedFile(path="sub folder/模型.txt", bytes=5, sha256=SHA256)


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    """Return a repository with one blob, nothing placed yet."""
    made = Layout(tmp_path / "cäche", NAME)
    made.blob(FILE).parent.mkdir(parents=True)
    made.blob(FILE).write_bytes(b"hello")
    return made


def without(monkeypatch: pytest.MonkeyPatch, *ways: str) -> None:
    """Take links away, as exFAT does."""

    def fails(*_: object, **__: object) -> None:
        raise PermissionError(1, "no links here")

    for way in ways:
        monkeypatch.setattr(Path, way, fails)


def names(folder: Path) -> list[str]:
    """Return what lies in a folder."""
    return sorted(one.name for one in folder.iterdir())


def test_the_folders_are_those_of_huggingface_hub(layout: Layout, tmp_path: Path) -> None:
    """transformers finds by name what is placed."""
    layout.place(COMMIT, FILE)
    layout.note_commit("main", COMMIT)
    theirs = try_to_load_from_cache(NAME, FILE.path, cache_dir=tmp_path / "cäche", revision="main")

    assert theirs == str(layout.pointer(COMMIT, FILE))
    assert layout.folder.name == repo_folder_name(repo_id=NAME, repo_type="model")
    assert layout.lock(FILE) == (tmp_path / "cäche/.locks" / layout.folder.name / f"{SHA256}.lock")


@pytest.mark.parametrize(
    "ways", [(), ("symlink_to",), ("symlink_to", "hardlink_to")], ids=["link", "hard", "move"]
)
def test_a_placed_file_is_there_whole_whatever_the_file_system_can(
    ways: tuple[str, ...], layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A link, a second name, or the file itself; nothing else is left lying."""
    without(monkeypatch, *ways)
    assert not layout.is_here(COMMIT, FILE)

    layout.place(COMMIT, FILE)

    pointer = layout.pointer(COMMIT, FILE)
    assert layout.is_here(COMMIT, FILE)
    assert pointer.read_bytes() == b"hello"
    assert pointer.is_symlink() is (ways == ())
    assert layout.is_blob_here(FILE) is (len(ways) < 2)
    assert names(pointer.parent) == ["模型.txt"]


@pytest.mark.parametrize("ways", [(), ("symlink_to",)], ids=["link", "hard"])
def test_placing_again_or_over_a_broken_link_mends_it(
    ways: tuple[str, ...], layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a kill in between, and what a cleaner left of it."""
    pointer = layout.pointer(COMMIT, FILE)
    pointer.parent.mkdir(parents=True)
    pointer.symlink_to("nowhere")
    left = pointer.with_name(f".{SHA256[:16]}.link")  # of a killed one, whatever its number
    left.write_bytes(b"left by a kill")
    without(monkeypatch, *ways)

    layout.place(COMMIT, FILE)
    layout.place(COMMIT, FILE)

    assert pointer.read_bytes() == b"hello"
    assert names(pointer.parent) == ["模型.txt"]


def test_links_survive_a_move_of_the_whole_cache(layout: Layout, tmp_path: Path) -> None:
    """Caches are moved to larger disks."""
    layout.place(COMMIT, FILE)
    (tmp_path / "cäche").rename(tmp_path / "moved")

    assert Layout(tmp_path / "moved", NAME).pointer(COMMIT, FILE).read_bytes() == b"hello"


def test_one_content_serves_two_commits(layout: Layout) -> None:
    """A new README must not cost 130 GB."""
    layout.place(COMMIT, FILE)
    layout.place(NEWER, FILE)

    assert layout.pointer(COMMIT, FILE).samefile(layout.pointer(NEWER, FILE))


@pytest.mark.parametrize("content", [b"", b"hell", b"hello!"])
def test_a_file_of_another_size_is_not_here(content: bytes, layout: Layout) -> None:
    """Cut off by whatever wrote it."""
    layout.place(COMMIT, FILE)
    layout.blob(FILE).write_bytes(content)

    assert not layout.is_here(COMMIT, FILE)
    assert not layout.is_blob_here(FILE)


def test_what_a_branch_named_is_kept(layout: Layout) -> None:
    """Weights that change under a preset change its answers."""
    assert layout.commit_of("main") is None
    layout.note_commit("refs/pr/1", COMMIT)
    layout.note_commit("main", COMMIT)
    layout.note_commit("main", NEWER)
    layout.note_commit(COMMIT, COMMIT)

    found = [layout.commit_of(one) for one in ("main", "refs/pr/1", COMMIT)]
    assert found == [NEWER, COMMIT, COMMIT]
    assert names(layout.folder / "refs") == ["main", "refs"]


@pytest.mark.parametrize("text", [b"", b"main", b"../../x", b"\xff", COMMIT[:39].encode()])
def test_a_ref_that_holds_no_commit_counts_for_nothing(text: bytes, layout: Layout) -> None:
    """It is asked for anew, instead of becoming a folder's name."""
    ref = layout.folder / "refs/main"
    ref.parent.mkdir()
    ref.write_bytes(text)

    assert layout.commit_of("main") is None
    layout.note_commit("main", COMMIT)
    assert layout.commit_of("main") == COMMIT


async def test_huggingface_hub_waits_while_we_hold_the_lock(layout: Layout) -> None:
    """Two writers of one blob would fetch it twice."""
    lock = layout.lock(FILE)
    theirs = filelock.FileLock(lock)
    async with locked(lock, lambda: None):
        with pytest.raises(filelock.Timeout):
            theirs.acquire(blocking=False)
    theirs.acquire(blocking=False)
    theirs.release()


async def test_we_wait_while_huggingface_hub_holds_the_lock(layout: Layout) -> None:
    """And say so; let go, it is ours at once."""
    lock, waited, held = layout.lock(FILE), [], []
    lock.parent.mkdir(parents=True)

    async def hold() -> None:
        async with locked(lock, lambda: waited.append(1)):
            held.append(lock.exists())

    with WeakFileLock(lock):
        task = asyncio.ensure_future(hold())
        await until_async(lambda: bool(waited), "that it waits")
        assert held == []
    await task

    assert held == [True]
    assert not lock.exists()


async def test_a_lock_without_a_name_is_no_lock(layout: Layout) -> None:
    """The one before removes the file; who waited on that one must not go on beside the next."""
    lock = layout.lock(FILE)
    together, most = 0, 0

    async def hold() -> None:
        nonlocal together, most
        async with locked(lock, lambda: None):
            together += 1
            most = max(most, together)
            await asyncio.sleep(0)
            together -= 1

    async with asyncio.TaskGroup() as tasks:
        for _ in range(5):
            tasks.create_task(hold())

    assert most == 1
    assert names(lock.parent) == []


async def test_a_lock_is_let_go_when_its_holder_fails_or_is_cancelled(layout: Layout) -> None:
    """Else one failed download stops all later ones."""
    lock = layout.lock(FILE)
    for error in (OSError("full"), asyncio.CancelledError()):
        with contextlib.suppress(OSError, asyncio.CancelledError):
            async with locked(lock, lambda: None):
                raise error
        assert not lock.exists()
        async with asyncio.timeout(30), locked(lock, lambda: pytest.fail("it is held")):
            pass


async def test_a_lock_that_a_kill_left_lying_stops_nobody(layout: Layout) -> None:
    """The system lets go of it; the file says nothing."""
    lock = layout.lock(FILE)
    lock.parent.mkdir(parents=True)
    lock.touch()

    async with asyncio.timeout(30), locked(lock, lambda: pytest.fail("it is held")):
        pass
