"""The ground before a start: who was ended, what was removed, and what is waited for."""

import asyncio
import dataclasses
import os
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from studio.domain.errors import HostLacks
from studio.domain.hardware import Gpu
from studio.host import orphans, shm
from studio.serving import cards, ground
from studio.serving.command import Launch
from studio.serving.ground import Cleared, Ground
from tests.serving.keeping import fake_launch

GIB = 1 << 30


@pytest.fixture(autouse=True)
def region_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a folder of the test's own in the place of /dev/shm, and take the long waits out."""
    folder = tmp_path / "shm"
    folder.mkdir()
    real = shm.remove_stale
    monkeypatch.setattr(shm, "remove_stale", lambda known=(): real(known, folder))
    monkeypatch.setattr(cards, "LOOK_S", 0.001)
    monkeypatch.setattr(cards, "WITHIN_S", 0.05)
    return folder


def launch(home: Path, **environment: str) -> Launch:
    """Return a launch with a variable or two."""
    made = fake_launch(home, home)
    return dataclasses.replace(made, environment={**made.environment, **environment})


def put(path: Path, data: bytes = b"x") -> None:
    """Make a file."""
    path.write_bytes(data)


def names(folder: Path) -> list[str]:
    """Return what lies in a folder."""
    return [path.name for path in folder.iterdir()]


async def none() -> Sequence[Gpu]:
    """Tell of no card."""
    return ()


async def test_a_clear_ground_needs_no_words(tmp_path: Path) -> None:
    """A start is silent where nothing had to be done."""
    said: list[str | None] = []

    assert await Ground(tmp_path, none).clear(launch(tmp_path), said.append) is None
    assert [one for one in said if one] == []


async def test_stale_regions_and_sockets_are_removed_and_said(
    tmp_path: Path, region_folder: Path
) -> None:
    """Gigabytes that nobody uses any more."""
    made = launch(tmp_path)
    put(region_folder / "vllm_offload_1.mmap", b"x" * 8192)
    put(Path(made.socket))

    words = await Ground(tmp_path, none).clear(made, lambda _note: None)

    assert words == "Removed 1 region of shared memory that an ended engine left (8.0 KiB)."
    assert names(region_folder) == []
    assert names(tmp_path) == ["shm"]


@pytest.mark.parametrize(("value", "stays"), [("1", True), ("0", False), ("", False)])
async def test_regions_stay_where_that_was_asked_for(
    tmp_path: Path, region_folder: Path, value: str, *, stays: bool
) -> None:
    """Engines of other containers share the folder, and cannot be seen from here."""
    put(region_folder / "vllm_offload_1.mmap")

    await Ground(tmp_path, none).clear(launch(tmp_path, **{shm.KEEP: value}), lambda _note: None)

    assert bool(names(region_folder)) is stays


async def test_a_start_without_room_on_its_card_is_refused(tmp_path: Path) -> None:
    """Only for the memory that the plan is certain of."""

    async def look() -> Sequence[Gpu]:
        return (Gpu(index=0, name="RTX 4090", free_bytes=GIB, processes=()),)

    tight = dataclasses.replace(launch(tmp_path), cards=(0,), card_needs={0: 2 * GIB})
    small = dataclasses.replace(launch(tmp_path), cards=(0,), card_needs={0: GIB // 2})

    with pytest.raises(HostLacks) as caught:
        await Ground(tmp_path, look).clear(tight, lambda _note: None)
    await Ground(tmp_path, look).clear(small, lambda _note: None)

    assert caught.value.code == "card-memory-held"


def test_who_was_ended_is_named() -> None:
    """And who could not be."""
    words = Cleared(
        ended=(
            orphans.Ended(pid=7, name="VLLM::EngineCore"),
            orphans.Ended(pid=8, name="VLLM::Worker_TP0"),
            orphans.Ended(pid=9, name="python", is_gone=False),
        )
    ).words

    assert words == (
        "Ended 2 processes that an earlier run left: VLLM::EngineCore (7), VLLM::Worker_TP0 (8). "
        "Still there although killed: python (9)."
    )


def test_what_an_ended_engine_used_is_removed_after_it(tmp_path: Path, region_folder: Path) -> None:
    """Also under names that say nothing; and only when nothing of it lives."""
    (region_folder / "psm_x").write_bytes(b"x")
    made = Ground(tmp_path, none)
    assert made.released() == ()
    orphans.own(tmp_path, os.getpid())
    orphans.add_regions(tmp_path, ["psm_x"])
    kept = orphans.recorded(tmp_path)
    assert kept is not None
    dead = orphans.Ownership(session=999_999_999, started_at=0.0, regions=kept.regions)
    orphans.record_file(tmp_path).write_bytes(msgspec.json.encode(dead))

    assert [one.name for one in made.released()] == ["psm_x"]
    assert orphans.recorded(tmp_path) is None


def test_a_user_is_named_only_where_it_is_another() -> None:
    """`of root` on one's own machine tells nothing."""
    assert ground.user_of(os.getpid()) is None
    assert ground.user_of(999_999_999) is None


async def test_a_machine_without_cards_is_looked_at_in_no_time() -> None:
    """The driver that is missing must not hold up a start on the processor."""
    async with asyncio.timeout(30):
        assert list(await ground.look()) == []
