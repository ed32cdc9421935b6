"""History, pool, speed and scraping of a Studio that runs over the fake engine."""

import time
from pathlib import Path

import pytest

from studio.app.insight import slower
from studio.domain.control import UpRequest
from studio.domain.events import PoolChanged
from studio.domain.history import HistoryEventKind
from studio.domain.speed import SpeedVerdict, SpeedVerdictKind
from studio.monitor.scene import Slower
from tests.app.running import fake_paths, running
from tests.fakes.waiting import until_async


async def test_a_boot_and_its_pool_are_known_afterwards(tmp_path: Path) -> None:
    """From the start of the service to its end, in the file and on the bus."""
    with fake_paths(tmp_path) as paths:
        async with running(paths) as made:
            await made.studio.up(UpRequest())
            await until_async(
                lambda: any(one.pool.room.seats == 16 for one in made.of(PoolChanged)),
                "a pool that is known, without the question that the boot ends with",
            )
            pool = await made.studio.insight.pool.report()
            speed = await made.studio.insight.speed.report()
            assert pool.tokens
            assert pool.room.sentence.startswith("Room for")
            assert pool.seats == 16
            assert speed.preset == pool.preset
            assert speed.verdict.missing

        async with running(paths) as again:
            answer = await again.studio.insight.past.series(["*"], 0, time.time() + 9)

    kinds = [one.kind.value for one in answer.events if one.kind is not HistoryEventKind.BADGE]
    assert kinds == ["service-started", "boot", "stopped", "service-stopped", "service-started"]
    assert "pool_tokens" in {one.name for one in answer.series}


@pytest.mark.parametrize(
    ("kind", "ratio", "found"),
    [
        (SpeedVerdictKind.SLOWER, 0.35, Slower(sentence="S.", share=0.35)),
        (SpeedVerdictKind.SLOWER, None, None),
        (SpeedVerdictKind.AS_EXPECTED, 0.98, None),
        (SpeedVerdictKind.NOT_COMPARABLE, 0.2, None),
    ],
)
def test_only_what_can_be_compared_makes_an_alarm(
    kind: SpeedVerdictKind, ratio: float | None, found: Slower | None
) -> None:
    """Another load than the figure's is no slowness."""
    assert slower(SpeedVerdict(kind=kind, sentence="S.", ratio=ratio)) == found
