"""Load and disks: what is told of many requests, and when a disk is full."""

import pytest

from studio.domain.units import GIB, MIB
from studio.monitor.scene import DiskRoom
from tests.monitor.causes import booted, preempting, with_scene, with_tick


@pytest.mark.parametrize(
    ("free", "total", "is_told"),
    [
        (GIB, 1000 * GIB, True),
        (3 * GIB, 1000 * GIB, False),
        (GIB, 10 * GIB, False),
        (MIB, 16 * MIB, False),
        (100_000, 16 * MIB, True),
        (0, 0, True),
    ],
)
def test_a_disk_is_full_by_share_and_by_bytes(free: int, total: int, is_told: bool) -> None:
    """A small disk with a tenth left is well, and so is a large one with 3 GiB."""
    film = booted()
    room = DiskRoom(holds="logs", mount="/var", free_bytes=free, total_bytes=total)

    film.play(3, with_scene(disks=(room,)))

    assert (film.codes == ["disk-nearly-full"]) is is_told


def test_one_request_that_waits_is_told_as_one() -> None:
    """Words agree with their figures."""
    film = booted()

    film.play(40, with_tick(waiting=1, running=4))

    assert film.judge.active[0].title == "One request waiting"


def test_thrown_out_requests_are_counted_over_a_minute() -> None:
    """A burst of four in an hour is no pool that is too small."""
    film = booted()

    film.play(40, preempting(0.1))

    assert film.told == []


def test_a_pool_whose_rest_is_too_small_for_the_next_one_is_named() -> None:
    """Seen on a real engine: 22 waited, 2 of 16 seats taken, a quarter of the pool free."""
    film = booted()
    reasons = {"capacity": 22, "deferred": 0}

    film.play(40, with_tick(waiting=22, running=2, pool_used_share=0.75, waiting_by_reason=reasons))

    alarm = film.judge.active[0]
    assert alarm.code == "requests-waiting"
    assert "the pool is 75 % full, and the next one does not fit" in alarm.cause
    assert any("shorter contexts" in remedy.text for remedy in alarm.remedies)


def test_whose_blocks_come_back_from_the_tier_waits_for_nobody() -> None:
    """Seen on an H200 with a tier of 16 GiB: two of three at any time, at 1.7 GB/s."""
    film = booted()
    at_work = {"waiting": 2, "running": 1, "pool_used_share": 0.41}
    put_off = {"capacity": 0, "deferred": 2}

    film.play(40, with_tick(**at_work, waiting_by_reason=put_off, kv_load_bytes_per_s=1.7e9))
    assert film.told == []

    film.play(40, with_tick(**at_work, waiting_by_reason=put_off, kv_load_bytes_per_s=0.0))
    assert "blocks from a KV tier" in film.judge.active[0].cause


def test_others_wait_as_before_while_blocks_come_back() -> None:
    """A tier at work excuses nobody but those that it serves."""
    film = booted()
    reasons = {"capacity": 3, "deferred": 2}

    film.play(
        40, with_tick(waiting=5, running=1, waiting_by_reason=reasons, kv_load_bytes_per_s=1e9)
    )

    assert film.judge.active[0].title == "Three requests waiting"
