"""Disks that fill up, servers that lie, names that are long, and other programs at work."""

import asyncio
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from huggingface_hub import snapshot_download

from studio.domain.errors import HostLacks, StudioError
from studio.host.transfer.throttle import Throttle
from studio.hub import get
from tests.fakes import hub as fake
from tests.fakes.hub import COMMIT, NAME, NEWER, Hub, sha256
from tests.fakes.killed_models import LIMIT_S, getting, whole
from tests.fakes.waiting import until, until_async
from tests.hub.test_get import WEIGHTS, a_hub, access, content, named, refusal, request

WEIGHTS_NAME = "model.safetensors"
MOST_MEMORY = 100_000_000
_THEIRS = """
import sys
from huggingface_hub import snapshot_download
print(snapshot_download(sys.argv[1], cache_dir=sys.argv[2], token=False, max_workers=2))
"""


# -- disks -------------------------------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a disk of twelve megabytes."""
    folder = tmp_path / "a small dïsk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=12m", "weir-test", str(folder)]
    if subprocess.run(command, capture_output=True, check=False).returncode != 0:
        pytest.skip("mounting a tmpfs is not allowed here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


async def test_too_little_room_is_said_before_the_first_byte(small_disk: Path) -> None:
    """After a night of fetching it would be late."""
    files = {f"{one}.bin": random.Random(one).randbytes(4_500_000) for one in range(3)}
    with fake.running(Hub(files=files, lfs=frozenset(files))) as hub:
        error = await refusal(request(), access(hub, small_disk))

    assert error.code == "disk-space"
    assert hub.sent_bytes == 0


async def test_a_disk_that_others_fill_keeps_what_came(small_disk: Path) -> None:
    """With room again it goes on where it was."""
    files = {f"{one}.bin": random.Random(one).randbytes(2_500_000) for one in range(3)}
    size = sum(map(len, files.values()))
    ballast = small_disk / "ballast"
    with fake.running(Hub(files=files, lfs=frozenset(files), bytes_per_s=6e6)) as hub:
        way = access(hub, small_disk)
        task = asyncio.ensure_future(get.get(request(), way))
        await until_async(lambda: hub.sent_bytes > 1_500_000, "some bytes")
        ballast.write_bytes(bytes(6_500_000))
        with pytest.raises(HostLacks) as caught:
            await task
        assert not named(small_disk / "hf", ".bin") or hub.sent_bytes > size / 3
        ballast.unlink()
        found = await get.get(request(), way)

        assert caught.value.code == "disk-full"
        assert hub.sent_bytes <= size + (2 << 20)
    assert all(content(found.folder, name) == data for name, data in files.items())


# -- servers that lie --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ((200, {}, b"ten bytes."), "download-hash"),
        ((200, {}, WEIGHTS + b"more"), "download-hash"),
        ((206, {"Content-Range": "bytes 0-9/10"}, b"ten bytes."), "download-hash"),
        ((200, {"Content-Type": "text/html"}, b"<html>log in"), "login-page"),
        ((403, {}, b""), "download-failed"),
    ],
)
async def test_a_delivery_network_that_lies_is_found_out(
    answer: tuple[int, dict[str, str], bytes], code: str, tmp_path: Path
) -> None:
    """Its status says 200; nothing gets a name, and the next try of the person succeeds."""
    faults = {f"/cdn/{WEIGHTS_NAME}": [answer] * 30}
    with fake.running(a_hub(faults=faults)) as hub:
        way = access(hub, tmp_path)
        error = await refusal(request(), way)
        assert not named(tmp_path / "hf", WEIGHTS_NAME, sha256(WEIGHTS))
        faults.clear()
        found = await get.get(request(), way)

    assert error.code == code
    assert content(found.folder, WEIGHTS_NAME) == WEIGHTS


async def test_a_length_that_is_too_great_is_waited_for_and_asked_again(tmp_path: Path) -> None:
    """A server that died in the midst leaves a connection that never ends."""
    size = str(len(WEIGHTS))
    short = (200, {"Content-Length": size}, WEIGHTS[:900_000])
    faults = {f"/cdn/{WEIGHTS_NAME}": [short]}
    with fake.running(a_hub(faults=faults)) as hub:
        found = await get.get(request(), access(hub, tmp_path))

    assert content(found.folder, WEIGHTS_NAME) == WEIGHTS


async def test_a_file_that_changes_midway_never_comes_as_a_mixture(tmp_path: Path) -> None:
    """The digest of the list decides; when the file is back, it comes."""
    other = random.Random(5).randbytes(len(WEIGHTS))
    with fake.running(a_hub(bytes_per_s=12e6)) as hub:
        way = access(hub, tmp_path)
        task = asyncio.ensure_future(get.get(request(), way))
        await until_async(lambda: hub.sent_bytes > 2_000_000, "some bytes")
        hub.replaced[WEIGHTS_NAME] = other
        with pytest.raises(StudioError) as caught:
            await task
        assert not named(tmp_path / "hf", WEIGHTS_NAME, sha256(WEIGHTS), sha256(other))
        hub.replaced.clear()
        hub.bytes_per_s = None
        found = await get.get(request(), way)

    assert caught.value.code == "download-hash"
    assert content(found.folder, WEIGHTS_NAME) == WEIGHTS


async def test_a_branch_that_moves_midway_changes_nothing(tmp_path: Path) -> None:
    """All files are of the one commit that was asked for first."""
    with fake.running(a_hub(bytes_per_s=12e6)) as hub:
        task = asyncio.ensure_future(get.get(request(), access(hub, tmp_path)))
        await until_async(lambda: hub.sent_bytes > 1_000_000, "some bytes")
        hub.commit = NEWER
        found = await task

    assert found.commit == COMMIT
    assert {path.split("/")[4] for _host, path, _ in hub.asked if "/resolve/" in path} == {COMMIT}


async def test_a_hub_that_counts_requests_says_how_long_to_wait(tmp_path: Path) -> None:
    """Hugging Face says it in `RateLimit`, not in `Retry-After`."""
    busy = (429, {"RateLimit": '"resolvers";r=0;t=0'}, b"")
    late = (429, {"RateLimit": '"api";r=0;t=290'}, b"")
    with fake.running(a_hub(faults={"/resolve/": [busy]})) as hub:
        found = await get.get(request(), access(hub, tmp_path))
        hub.faults["/api/models"] = [late]
        error = await refusal(request(revision="main", update=True), access(hub, tmp_path))

    assert content(found.folder, WEIGHTS_NAME) == WEIGHTS
    assert "290 s" in error.message


async def test_a_token_that_is_revoked_midway_is_said_to_be_the_reason(tmp_path: Path) -> None:
    """ "The server answered 401" would send a person to the network's settings."""
    hub = a_hub(gated_token="hf_good", bytes_per_s=2_000_000)
    with fake.running(hub):
        way = access(hub, tmp_path, HF_TOKEN="hf_good")
        async with asyncio.TaskGroup() as tasks:
            task = tasks.create_task(refusal(request(), way))
            await until_async(lambda: hub.sent_bytes > 100_000, "the first bytes")
            hub.gated_token = "hf_other"
            hub.cut_after = 1_000

    error = task.result()
    assert error.code == "model-gated"
    assert "The token in use may not fetch it" in error.message


async def test_two_names_that_one_disk_takes_for_one_are_refused_before_the_first_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second would replace the first, whatever was fetched."""
    monkeypatch.setattr("studio.hub.names.is_case_blind", lambda _folder: True)
    with fake.running(Hub(files={"README.md": b"1", "readme.md": b"2"})) as hub:
        error = await refusal(request(), access(hub, tmp_path))
        found = await get.get(request(exclude=("readme.md",)), access(hub, tmp_path))

    assert error.code == "model-names-collide"
    assert content(found.folder, "README.md") == b"1"


async def test_two_at_once_into_one_folder_are_one_download(tmp_path: Path) -> None:
    """A double click, or a script beside the window: never a mixture, and not twice the bytes."""
    hub = a_hub(bytes_per_s=3_000_000)
    wish = request(into=str(tmp_path / "plain"))
    with fake.running(hub):
        both = await asyncio.gather(
            get.get(wish, access(hub, tmp_path)), get.get(wish, access(hub, tmp_path / "other"))
        )

    assert {one.folder for one in both} == {wish.into}
    assert content(both[0].folder, WEIGHTS_NAME) == WEIGHTS
    assert hub.sent_bytes < 1.5 * len(WEIGHTS)
    assert not named(tmp_path, ".part", ".journal")


async def test_a_folder_that_is_removed_midway_ends_in_an_error_and_comes_again(
    tmp_path: Path,
) -> None:
    """`rm -r` of what is fetched right now: nothing half-done passes for a model."""
    hub = a_hub(bytes_per_s=2_000_000)
    with fake.running(hub):
        way = access(hub, tmp_path)
        async with asyncio.TaskGroup() as tasks:
            task = tasks.create_task(refusal(request(), way))
            await until_async(lambda: hub.sent_bytes > 200_000, "the first bytes")
            shutil.rmtree(tmp_path / "hf", ignore_errors=True)
        hub.bytes_per_s = None
        found = await get.get(request(), way)

    assert task.result().code in ("not-writable", "download-failed")
    assert content(found.folder, WEIGHTS_NAME) == WEIGHTS


# -- names and numbers -------------------------------------------------------------------------


async def test_paths_of_any_script_and_length_are_kept(tmp_path: Path) -> None:
    """As long as a system allows: names of 255 bytes, and far longer paths."""
    files = {
        "長" * 80 + "/" + "ü" * 120 + ".json": b"{}",
        "a" * 250 + ".bin": random.Random(1).randbytes(5_000_000),
        "mappe mit blanks/" * 8 + "näme #1 100%?.txt": b"here",
        "b" * 200: b"two hundred",
    }
    with fake.running(Hub(files=files, lfs=frozenset(files))) as hub:
        cached = await get.get(request(), access(hub, tmp_path))
        plain = await get.get(request(into=str(tmp_path / "plain")), access(hub, tmp_path))

    theirs = snapshot_download(NAME, cache_dir=tmp_path / "hf/hub", local_files_only=True)
    assert theirs == cached.folder
    for folder in (cached.folder, plain.folder):
        assert all(content(folder, name) == data for name, data in files.items())
    assert not named(tmp_path, ".part", ".journal")


def many(count: int) -> dict[str, bytes]:
    """Return a repository of many small files."""
    return {f"shards/{one // 500}/{one:05}.npy": b"%d" % one * 40 for one in range(count)}


def get_many(count: int, folder: Path) -> int:
    """Fetch a repository of many files in a process of its own; return its memory."""
    files = many(count)
    with fake.running(Hub(files=files, lfs=frozenset([*files][::2]))) as hub:
        with getting(hub, folder) as process:
            found, memory = whole(process)
        asked = len(hub.asked)
    assert sum(1 for one in found.rglob("*.npy")) == count
    assert content(str(found), f"shards/0/{7:05}.npy") == b"7" * 40
    assert asked <= count * 1.5 + count / 1000 + 10
    assert not named(folder, ".part", ".journal", ".lock")
    return memory


def test_a_repository_of_many_files_takes_bounded_memory(tmp_path: Path) -> None:
    """Data sets and some models are thousands of small files."""
    assert get_many(400, tmp_path) <= MOST_MEMORY


@pytest.mark.soak
def test_ten_thousand_files_take_no_more_memory(tmp_path: Path) -> None:
    """The greatest that hubs advise."""
    assert get_many(10_000, tmp_path) <= MOST_MEMORY


def test_large_files_take_bounded_memory(tmp_path: Path) -> None:
    """What comes is written, not collected."""
    files = {f"{one}.bin": random.Random(one).randbytes(40_000_000) for one in range(3)}
    with (
        fake.running(Hub(files=files, lfs=frozenset(files))) as hub,
        getting(hub, tmp_path) as process,
    ):
        _found, memory = whole(process)

    assert memory <= MOST_MEMORY


# -- other programs ----------------------------------------------------------------------------


def test_huggingface_hub_and_we_share_one_download(tmp_path: Path) -> None:
    """Both at once, for the same repository and cache: each file has one writer."""
    files = {f"{one}.bin": random.Random(one).randbytes(3_000_000) for one in range(4)}
    environment = {**os.environ, "HF_HUB_DISABLE_XET": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
    with fake.running(Hub(files=files, lfs=frozenset(files), bytes_per_s=4e6)) as hub:
        environment["HF_ENDPOINT"] = hub.url
        theirs = subprocess.Popen(
            [sys.executable, "-c", _THEIRS, NAME, str(tmp_path / "hf/hub")],
            env=environment, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            until(lambda: hub.sent_bytes > 100_000, "its first bytes")
            with getting(hub, tmp_path) as ours:
                found, _memory = whole(ours)
            said, _ = theirs.communicate(timeout=LIMIT_S)
        finally:
            theirs.kill()

        assert hub.sent_bytes == sum(map(len, files.values()))
    assert (theirs.returncode, said.strip()) == (0, str(found))
    assert all((found / name).read_bytes() == data for name, data in files.items())


async def test_a_limit_that_is_set_midway_holds_at_once(tmp_path: Path) -> None:
    """A call begins, and the line is wanted for it; nothing that came is lost."""
    throttle = Throttle()
    said: list[str | None] = []
    with fake.running(a_hub(bytes_per_s=20e6)) as hub:
        getting_it = get.get(
            request(),
            access(hub, tmp_path),
            throttle=throttle,
            on_progress=lambda now: said.append(now.note),
        )
        task = asyncio.ensure_future(getting_it)
        await until_async(lambda: hub.sent_bytes > 1_000_000, "some bytes")
        throttle.hold(is_held=True)
        await until_async(lambda: not hub.under_way, "the end of what was asked for")
        before, told = hub.sent_bytes, len(said)
        await until_async(lambda: len(said) > told + 2, "three more reports")
        assert (hub.sent_bytes, "urgent" in str(said[-1])) == (before, True)
        throttle.hold(is_held=False)
        found = await task

        assert hub.sent_bytes <= len(WEIGHTS) + (1 << 20)
    assert content(found.folder, WEIGHTS_NAME) == WEIGHTS
