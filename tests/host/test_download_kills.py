"""Processes that are killed while they download: next to nothing is fetched again."""

import random
from pathlib import Path

import pytest

from tests.fakes import hostile
from tests.fakes.killed_downloads import LIMIT_S, downloading, kill_at, random_points

MOST_LOST = 1 << 20
SMALL_BUFFER = 16 << 10


def check(tmp_path: Path, *, kills: int, size: int, seed: int) -> None:
    """Kill a download at random points; the file is right, and no kill costs more than a MiB."""
    choice = random.Random(seed)
    data = choice.randbytes(size)
    with hostile.serving({"/f": data}) as server:
        server.bytes_per_s = 12_000_000
        server.send_buffer = SMALL_BUFFER

        lost = kill_at(server, "/f", data, tmp_path / "ü f", random_points(kills, size, choice))

        assert len(lost) == kills
        assert max(lost) <= MOST_LOST, lost
        assert server.sent == size + sum(lost)
    assert (tmp_path / "ü f").read_bytes() == data
    assert [path.name for path in tmp_path.iterdir()] == ["ü f"]


def test_a_kill_costs_at_most_a_mebibyte(tmp_path: Path) -> None:
    """Three kills of one download."""
    check(tmp_path, kills=3, size=16 << 20, seed=1)


def test_two_processes_at_once_fetch_a_file_once(tmp_path: Path) -> None:
    """One waits for the other; the window and a terminal may both have asked."""
    data = random.Random(3).randbytes(8 << 20)
    with hostile.serving({"/f": data}) as server:
        server.bytes_per_s = 4_000_000
        with (
            downloading(server.url("/f"), data, tmp_path / "f") as first,
            downloading(server.url("/f"), data, tmp_path / "f") as second,
        ):
            assert (first.wait(LIMIT_S), second.wait(LIMIT_S)) == (0, 0)

        assert server.sent == len(data)
    assert (tmp_path / "f").read_bytes() == data


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(5))
def test_many_kills_cost_at_most_a_mebibyte_each(tmp_path: Path, seed: int) -> None:
    """A hundred kills in all, twenty of each download."""
    check(tmp_path, kills=20, size=96 << 20, seed=seed)
