"""What killed engines leave, swept when none runs; nothing else, and nothing of others."""

import os
from pathlib import Path

from studio.runtimes import litter
from studio.runtimes.versions import collect
from tests.runtimes.standin import StandIn
from tests.runtimes.test_versions import engine_from, update

NAME = f"vllm_dist_{'0a' * 16}"


def left_in(stand_in: StandIn) -> Path:
    """Write what an engine leaves, and things that look alike."""
    folder = stand_in.paths.cache / "engine"
    folder.mkdir(parents=True)
    (folder / NAME).write_bytes(b"x" * 10)
    os.utime(folder / NAME, (2**31, 2**31))  # a clock that was set back: the file is of tomorrow
    (folder / "vllm_dist_notes.txt").write_text("a person's")
    (folder / f"vllm_dist_{'0b' * 16}").mkdir()
    (folder / f"vllm_dist_{'0c' * 16}").symlink_to(folder / "vllm_dist_notes.txt")
    (folder / "vllm").mkdir()
    return folder


def test_only_what_the_engine_makes_is_removed(stand_in: StandIn) -> None:
    """A name alone is not enough; a link would lead elsewhere."""
    folder = left_in(stand_in)

    assert litter.sweep(stand_in.paths) == [folder / NAME]

    assert len(list(folder.iterdir())) == 4
    assert litter.sweep(stand_in.paths) == []


def test_while_an_engine_runs_nothing_is_touched(stand_in: StandIn) -> None:
    """It may be its own: the processes of an engine meet in such a file."""
    record = update(stand_in, 1)
    folder = left_in(stand_in)

    with engine_from(stand_in, record):
        assert litter.sweep(stand_in.paths) == []
        assert collect(stand_in.paths, dry_run=False).removals == ()
    assert (folder / NAME).exists()
    done = collect(stand_in.paths, dry_run=False)
    assert [one.path for one in done.removals] == [str(folder / NAME)]
    assert done.bytes == 10
    assert not (folder / NAME).exists()
