"""What boots taught, on disk."""

import asyncio
from pathlib import Path

import pytest

from studio.app.boots_seen import BootsSeen, Served
from studio.domain.units import GIB, MIB
from tests.planner.plan_samples import card

SERVED = Served(
    preset="27b-mtp",
    runtime_id="r1",
    settings={"gpu_memory_utilization": 0.93, "speculative_config": {"method": "mtp"}},
    cards=(card(),),
)


async def test_a_boot_is_kept_and_read_again(tmp_path: Path) -> None:
    """The next service knows what this one saw."""
    path = tmp_path / "calibration.json"

    await BootsSeen(path).learn(SERVED, {"kv_bytes": 4 * GIB}, boot_s=200.0)
    await BootsSeen(path).learn(SERVED, {"kv_bytes": 5 * GIB}, boot_s=80.0)

    boots = BootsSeen(path).known().boots
    assert [(one.is_cold, one.kv_bytes, one.boot_s) for one in boots] == [
        (True, 4 * GIB, 200.0),
        (False, 5 * GIB, 80.0),
    ]
    assert boots[0].cards == "GPU-0"
    assert path.stat().st_mode & 0o777 == 0o600


async def test_a_download_s_speed_is_kept_when_it_says_something(tmp_path: Path) -> None:
    """A tokenizer of two megabytes says more of latency than of speed."""
    seen = BootsSeen(tmp_path / "calibration.json")

    await seen.learn_download(2 * MIB, 1.0)
    assert seen.known().download_bytes_per_s is None
    await seen.learn_download(100 * MIB, 4.0)
    assert seen.known().download_bytes_per_s == 25 * MIB
    await seen.learn_download(100 * MIB, 0.0)
    assert seen.known().download_bytes_per_s == 25 * MIB


async def test_a_measured_line_is_kept_for_its_card(tmp_path: Path) -> None:
    """Beside what boots taught, and for no other card."""
    seen = BootsSeen(tmp_path / "calibration.json")

    await seen.learn(SERVED, {}, boot_s=1.0)
    await seen.learn_line("GPU-0", 22 * GIB)

    assert seen.known().lines == {"GPU-0": 22 * GIB}
    assert len(seen.known().boots) == 1


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"boots": 7}', b"\xff"])
async def test_a_broken_file_is_replaced_by_the_next_boot(tmp_path: Path, data: bytes) -> None:
    """It holds nothing that cannot be learnt again."""
    path = tmp_path / "calibration.json"
    path.write_bytes(data)

    assert BootsSeen(path).known().boots == ()
    await BootsSeen(path).learn(SERVED, {}, boot_s=1.0)

    assert len(BootsSeen(path).known().boots) == 1


async def test_a_disk_that_takes_nothing_fails_no_start(tmp_path: Path) -> None:
    """The engine serves; only the next forecast is no better."""
    (tmp_path / "folder").write_bytes(b"")

    await BootsSeen(tmp_path / "folder" / "calibration.json").learn(SERVED, {}, boot_s=1.0)


async def test_what_is_learnt_at_the_same_time_is_all_kept(tmp_path: Path) -> None:
    """The monitor measures a line while a boot is written down."""
    seen = BootsSeen(tmp_path / "calibration.json")

    await asyncio.gather(
        seen.learn(SERVED, {}, boot_s=1.0),
        *(seen.learn_line(f"GPU-{number}", number) for number in range(8)),
        seen.learn_download(100 * MIB, 1.0),
    )

    known = seen.known()
    assert len(known.lines) == 8
    assert len(known.boots) == 1
    assert known.download_bytes_per_s == 100 * MIB
