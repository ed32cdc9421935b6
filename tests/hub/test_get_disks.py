"""Models on real disks of a kind: one without links, and one that is full at the worst moment."""

import functools
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from huggingface_hub import snapshot_download

from studio.domain.errors import HostLacks
from studio.host.sharing import Way
from studio.host.transfer.journal import Journal
from studio.host.transfer.part import PartFile
from studio.hub import get, layout
from studio.hub.layout import Layout
from studio.models import assemble
from tests.fakes import hub as fake
from tests.fakes.hub import NAME, Hub, sha256
from tests.fakes.mounted import fill, small_ext4, without_links
from tests.hub.test_get import access, content, named, request

FILES = {
    "config.json": b'{"model_type": "llama"}',
    "sub mappe/naïve 模型.txt": "grüß".encode(),
    "empty.py": b"",
    "middle.bin": random.Random(2).randbytes(700_000),
    "model.safetensors": random.Random(3).randbytes(6_000_000),
}
SIZE = sum(map(len, FILES.values()))
LFS = frozenset({"model.safetensors", "middle.bin"})


def all_here(folder: str) -> bool:
    """Return whether every file is right."""
    return all(content(folder, name) == data for name, data in FILES.items())


# -- without links -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def stick(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Mount a disk as people keep models on; one for all tests here."""
    with without_links(tmp_path_factory.mktemp("disks") / "ein stíck") as folder:
        yield folder


async def test_a_cache_on_a_disk_without_links_is_found_by_the_real_huggingface_hub(
    stick: Path,
) -> None:
    """And costs no byte a second time."""
    place = stick / "cache"
    with fake.running(Hub(files=FILES, lfs=LFS)) as hub:
        found = await get.get(request(), access(hub, place))
        before = hub.sent_bytes
        again = await get.get(request(), access(hub, place))
    theirs = snapshot_download(NAME, cache_dir=place / "hf/hub", local_files_only=True)

    assert theirs == found.folder
    assert all_here(theirs)
    assert (hub.sent_bytes, again.fetched_bytes) == (before, 0)
    assert not any(one.is_symlink() for one in place.rglob("*"))
    assert not named(place, ".part", ".journal", ".lock", ".link")


async def test_a_plain_folder_on_a_disk_without_links_is_whole(stick: Path) -> None:
    """A stick for a machine without network."""
    with fake.running(Hub(files=FILES, lfs=LFS)) as hub:
        found = await get.get(request(into=str(stick / "plain")), access(hub, stick / "home"))

    assert all_here(found.folder)
    assert not named(stick / "plain", ".part", ".journal")


def test_weights_for_a_made_model_are_copied_where_no_link_is_possible(stick: Path) -> None:
    """And counted as copied, which `prepare` then says; a link that is none would be an error."""
    folder = stick / "base"
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(bytes(2 << 20))
    (file,) = assemble.layer(folder, "base").files

    held, way = assemble.bring(file, stick / "made", "base")

    assert way is Way.COPY
    assert held.sha256 == sha256(bytes(2 << 20))
    assert (stick / "made/model.safetensors").read_bytes() == bytes(2 << 20)


# -- full --------------------------------------------------------------------------------------


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a disk that is soon full."""
    with small_ext4(tmp_path / "a small dïsk") as folder:
        yield folder


def full_before(
    owner: object, name: str, disk: Path, monkeypatch: pytest.MonkeyPatch, *, at: int = 1
) -> None:
    """Let the disk be full when something is called the `at`-th time."""
    real: Callable[..., object] = getattr(owner, name)
    calls = [0]

    @functools.wraps(real)
    def first_fills(*known: object, **named: object) -> object:
        calls[0] += 1
        if calls[0] == at:
            fill(disk)
        return real(*known, **named)

    monkeypatch.setattr(owner, name, first_fills)


@pytest.mark.parametrize(
    ("owner", "name", "at"),
    [
        (layout, "_try_lock", 1),
        (PartFile, "try_open", 3),
        (Journal, "reserve", 1),
        (PartFile, "publish", 2),
        (Layout, "place", 1),
        (Layout, "note_commit", 1),
    ],
    ids=["the lock", "a part", "the journal", "the name", "the link", "the record"],
)
async def test_a_disk_that_is_full_at_any_moment_loses_nothing(
    owner: object, name: str, at: int, disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sentence says how much is missing; with room again it goes on where it was."""
    with fake.running(Hub(files=FILES, lfs=LFS)) as hub:
        way = access(hub, disk)
        with monkeypatch.context() as patch:
            full_before(owner, name, disk, patch, at=at)
            with pytest.raises(HostLacks) as caught:
                await get.get(request(), way)
        (disk / "ballast").unlink()
        before = hub.sent_bytes
        found = await get.get(request(), way)

        # Another file may look for its room before the first one meets the end of the disk.
        assert caught.value.code in ("disk-full", "disk-space")
        known = caught.value.data
        missing = known["missing_bytes" if caught.value.code == "disk-full" else "needed_bytes"]
        assert isinstance(missing, int)
        assert hub.sent_bytes <= SIZE + (1 << 20)
        assert hub.sent_bytes - before <= SIZE
    words = ("of {} is missing", "every file of {} is here", "is free.")
    assert any(one.format(NAME) in caught.value.message for one in words)
    assert (missing == 0) == (name == "note_commit")
    assert all_here(found.folder)
    assert not named(disk / "hf", ".part", ".journal")


async def test_a_disk_with_too_little_room_says_how_much_before_it_begins(disk: Path) -> None:
    """After a night of fetching it would be late."""
    fill(disk, but=SIZE // 2)
    with fake.running(Hub(files=FILES, lfs=LFS)) as hub:
        with pytest.raises(HostLacks) as caught:
            await get.get(request(), access(hub, disk))

        assert hub.sent_bytes == 0
    assert caught.value.code == "disk-space"
    assert caught.value.data["needed_bytes"] == SIZE
