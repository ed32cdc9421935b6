"""Verdicts of shipped presets and of model folders against what was measured on such machines."""

from pathlib import Path

import pytest

from studio.domain.plans import PlanVerdict
from studio.domain.units import MIB
from tests.app.test_plans import plan

SPILL_MIB = (227, 238)
"""238 to 250 MB: what Windows moved out of a 4090 at a share of 0.93."""


@pytest.mark.parametrize(
    ("preset", "host", "share", "is_clean"),
    [
        ("27b-batch-fp8", "rtx4090-wsl2", 0.90, True),
        ("27b-batch-fp8", "rtx4090-wsl2", 0.91, True),
        ("27b-batch-fp8", "rtx4090-wsl2", 0.92, True),
        ("27b-batch-fp8", "rtx4090-wsl2", 0.93, False),
        ("27b-batch-fp8", "rtx4090-wsl2", 0.95, False),
        ("27b-batch-kvarn", "rtx4090-wsl2", 0.89, True),
        ("27b-batch-kvarn", "rtx4090-wsl2", 0.90, False),
        ("27b-batch-kvarn", "rtx4090-wsl2", 0.93, False),
        ("27b-batch-int4", "rtx4090-wsl2", 0.93, True),
        ("27b-long", "rtx4090-wsl2", 0.93, True),
        ("27b-batch-fp8", "rtx3090-linux", 0.94, True),
        ("27b-batch-fp8", "rtx3090-linux", 0.945, True),
        ("27b-batch-fp8", "rtx3090-linux", 0.95, False),
    ],
)
async def test_a_share_fits_where_it_was_seen_to_run(
    tmp_path: Path, preset: str, host: str, share: float, is_clean: bool
) -> None:
    """What an engine takes beside its share decides: a share that spills must not be called fit."""
    found = await plan(
        tmp_path, preset=preset, host=host, overrides={"gpu_memory_utilization": str(share)}
    )

    assert (found.verdict is PlanVerdict.FITS) is is_clean


async def test_what_is_left_over_is_what_was_left_over(tmp_path: Path) -> None:
    """23 MB at 0.92 and 238 to 250 MB too much at 0.93; 174 and 54 MiB on bare metal."""

    async def left(host: str, share: str) -> float:
        overrides = {"gpu_memory_utilization": share}
        found = await plan(tmp_path, preset="27b-batch-fp8", host=host, overrides=overrides)
        return (found.headroom_bytes or 0) / MIB

    assert await left("rtx4090-wsl2", "0.92") == pytest.approx(22, abs=5)
    assert -SPILL_MIB[1] <= await left("rtx4090-wsl2", "0.93") <= -SPILL_MIB[0] + 5
    assert await left("rtx3090-linux", "0.94") == pytest.approx(174, abs=5)
    assert await left("rtx3090-linux", "0.945") == pytest.approx(54, abs=5)


@pytest.mark.parametrize(
    ("preset", "host", "share", "offered"),
    [
        ("27b-batch-fp8", "rtx4090-wsl2", "0.95", "0.92"),
        ("27b-batch-fp8", "rtx4090-wsl2", "0.97", "0.92"),
        ("27b-batch-fp8", "rtx4090-wsl2", "0.98", "0.92"),
        ("27b-long", "rtx4090-wsl2", "0.97", "0.93"),
        ("27b-batch-fp8", "rtx3090-linux", "0.96", "0.94"),
    ],
)
async def test_the_largest_share_that_fits_is_offered(
    tmp_path: Path, preset: str, host: str, share: str, offered: str
) -> None:
    """At 50 % of the card no pool is left; a person is offered what runs."""
    found = await plan(
        tmp_path, preset=preset, host=host, overrides={"gpu_memory_utilization": share}
    )

    assert found.verdict is PlanVerdict.FITS_IF
    assert [(one.knob, one.value) for one in found.reductions] == [
        ("gpu_memory_utilization", offered)
    ]
