"""Processes that are killed while they download: next to nothing is fetched again."""

import random
from pathlib import Path

import pytest

from tests.fakes import hostile
from tests.fakes.killed_downloads import kill_at, random_points

MOST_LOST = 1 << 20


def check(tmp_path: Path, *, kills: int, size: int, seed: int) -> None:
    """Kill a download at random points; the file is right, and no kill costs more than a MiB."""
    choice = random.Random(seed)
    data = choice.randbytes(size)
    with hostile.serving({"/f": data}) as server:
        server.bytes_per_s = 12_000_000

        lost = kill_at(server, "/f", data, tmp_path / "ü f", random_points(kills, size, choice))

        assert len(lost) == kills
        assert max(lost) <= MOST_LOST, lost
        assert server.sent == size + sum(lost)
    assert (tmp_path / "ü f").read_bytes() == data
    assert [path.name for path in tmp_path.iterdir()] == ["ü f"]


def test_a_kill_costs_at_most_a_mebibyte(tmp_path: Path) -> None:
    """Three kills of one download."""
    check(tmp_path, kills=3, size=16 << 20, seed=1)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(5))
def test_many_kills_cost_at_most_a_mebibyte_each(tmp_path: Path, seed: int) -> None:
    """A hundred kills in all, twenty of each download."""
    check(tmp_path, kills=20, size=96 << 20, seed=seed)
