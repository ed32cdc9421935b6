"""Models whose process is killed while they come: what looks whole is whole, little is lost."""

import hashlib
import random
from pathlib import Path

import pytest
from huggingface_hub import snapshot_download
from huggingface_hub.errors import LocalEntryNotFoundError

from tests.fakes import hub as fake
from tests.fakes.hub import COMMIT, NAME, Hub, blob_id, sha256
from tests.fakes.killed_downloads import kept_bytes, random_points
from tests.fakes.killed_models import LIMIT_S, getting, kill_when, whole
from tests.fakes.waiting import until

MOST_LOST = 1 << 20
LIMIT = 6_000_000
RATE = 24_000_000.0
CALM_RATE = 8_000_000.0
"""A busy machine lets a process wait for a tenth of a second, and so much waits in its buffers."""
SMALL_BUFFER = 16 << 10
"""Of the server's sockets: the system would keep 4 MB of each back, which have not left it yet."""


def a_model(choice: random.Random, mebibytes: int) -> dict[str, bytes]:
    """Return two large files, a few of the size of one request, and many small ones."""
    large = {f"model-{one}-of-2.safetensors": choice.randbytes(mebibytes << 19) for one in (1, 2)}
    middle = {f"part {one}.bin": choice.randbytes(1_500_000) for one in range(4)}
    small = {f"ä/{one}.json": choice.randbytes(choice.randrange(1, 9_000)) for one in range(24)}
    return {**large, **middle, **small}


def kept(folder: Path, files: dict[str, bytes]) -> int:
    """Return how many bytes a next run will find; fail where something only looks whole."""
    by_name = {sha256(data): data for data in files.values()}
    blobs = folder / "hf/hub/models--owner--model/blobs"
    found = 0
    for name, data in by_name.items():
        if (blobs / name).exists():
            assert hashlib.sha256((blobs / name).read_bytes()).hexdigest() == name
            found += len(data)
        elif (blobs / f"{name}.part").exists():
            found += kept_bytes(blobs / name, data)
    return found


def require_honest(folder: Path, files: dict[str, bytes]) -> None:
    """Fail where another program would take something for whole that is not."""
    cache = folder / "hf/hub"
    snapshot = cache / "models--owner--model/snapshots" / COMMIT
    # A kill between a link and its renaming leaves it, under a name that no model file has.
    here = [
        one
        for one in snapshot.rglob("*")
        if one.is_file() and not (one.name.startswith(".") and one.name.endswith(".link"))
    ]
    assert all(one.read_bytes() == files[str(one.relative_to(snapshot))] for one in here)
    if len(here) < len(files):
        with pytest.raises(LocalEntryNotFoundError):
            snapshot_download(NAME, cache_dir=cache, local_files_only=True)


def torture(
    folder: Path, *, kills: int, mebibytes: int, seed: int, limit: int = 0, buffer: int | None
) -> list[int]:
    """Kill a download at random points; return what each kill cost."""
    choice = random.Random(seed)
    files = a_model(choice, mebibytes)
    size = sum(map(len, files.values()))
    lost: list[int] = []
    rate = RATE if limit else CALM_RATE
    made = Hub(files=files, lfs=frozenset(files), bytes_per_s=rate, send_buffer=buffer)
    with fake.running(made) as hub:
        for point in random_points(kills, size, choice):
            with getting(hub, folder, limit=limit) as process:
                assert kill_when(hub, process, point + sum(lost)), "it ended before it was killed"
            lost.append(hub.sent_bytes - sum(lost) - kept(folder, files))
            require_honest(folder, files)
        with getting(hub, folder) as process:
            found, _memory = whole(process)

        assert hub.sent_bytes == size + sum(lost)
    assert all((found / name).read_bytes() == data for name, data in files.items())
    assert not [*(folder / "hf").rglob("*.part*")]
    return lost


def test_a_kill_costs_at_most_a_mebibyte(tmp_path: Path) -> None:
    """Three kills of one download; counted is what has left the server. `make soak` kills more."""
    lost = torture(tmp_path, kills=3, mebibytes=8, seed=1, buffer=SMALL_BUFFER)

    assert max(lost) <= MOST_LOST, lost


def test_a_kill_under_a_limit_costs_no_more(tmp_path: Path) -> None:
    """Two more. What is not read waits in the buffers of both ends, megabytes of them: so only
    as much is asked for as may come. Both ends have the buffers here that the system gives them.
    """
    lost = torture(tmp_path, kills=2, mebibytes=6, seed=2, limit=LIMIT, buffer=None)

    assert max(lost) <= MOST_LOST, lost


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(3, 8))
def test_many_kills_cost_at_most_a_mebibyte_each(tmp_path: Path, seed: int) -> None:
    """A hundred in all, twenty of each download, half of them under a limit."""
    first, second = tmp_path / "free", tmp_path / "limited"
    lost = torture(first, kills=10, mebibytes=40, seed=seed, buffer=SMALL_BUFFER)
    lost += torture(second, kills=10, mebibytes=30, seed=seed, limit=LIMIT, buffer=None)

    assert max(lost) <= MOST_LOST, lost


def test_two_processes_at_once_fetch_a_model_once(tmp_path: Path) -> None:
    """A terminal and the service may both have been asked; each file has one writer."""
    files = a_model(random.Random(9), 4)
    size = sum(map(len, files.values()))
    with fake.running(Hub(files=files, lfs=frozenset(files), bytes_per_s=RATE / 4)) as hub:
        with getting(hub, tmp_path) as first, getting(hub, tmp_path) as second:
            folders = {whole(first)[0], whole(second)[0]}

        assert hub.sent_bytes == size
    assert len(folders) == 1


def test_small_files_are_proven_by_gits_name_of_them(tmp_path: Path) -> None:
    """What is no LFS file has no sha256; a kill leaves those whole or absent too."""
    files = {f"{one}.txt": random.Random(one).randbytes(50_000) for one in range(60)}
    with fake.running(Hub(files=files)) as hub:
        with getting(hub, tmp_path, limit=1_000_000) as process:
            blobs = tmp_path / "hf/hub/models--owner--model/blobs"
            until(lambda: len([*blobs.glob("*")]) > 10, "some files")
            process.kill()
            process.wait(LIMIT_S)
        names = {blob_id(data): data for data in files.values()}
        for one in blobs.iterdir():
            if one.name in names:
                assert one.read_bytes() == names[one.name]
        with getting(hub, tmp_path) as process:
            found, _memory = whole(process)
    assert all((found / name).read_bytes() == data for name, data in files.items())
