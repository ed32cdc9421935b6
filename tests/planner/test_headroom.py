"""The ladder of observed engines."""

from pathlib import Path

import pytest

from studio.domain.plans import HeadroomOutcome
from studio.domain.units import MIB
from studio.host.documents import read_toml
from studio.planner.headroom import Rung, Rungs, ladder, warning

ROOT = Path(__file__).resolve().parents[2]
RUNGS = read_toml(ROOT / "presets" / "planner" / "headroom.toml", Rungs).rungs


def test_the_ladder_of_the_catalogue_stands_in_order_and_has_both_sides() -> None:
    """Engines that ran say nothing of how near the edge is."""
    found = ladder(RUNGS, ("27b-huge",), is_wsl=False)

    assert [rung.bytes // MIB for rung in found] == [576, 436, 396]
    assert found[-1].outcome is HeadroomOutcome.DIES
    assert all(rung.source for rung in found)


def test_a_copy_of_a_preset_is_held_against_the_same_ladder() -> None:
    """A person's own preset dies where the bundled one does."""
    assert ladder(RUNGS, ("my-huge", "27b-huge"), is_wsl=False) == ladder(
        RUNGS, ("27b-huge",), is_wsl=False
    )


def test_what_was_seen_under_windows_is_not_said_elsewhere() -> None:
    """There is no spilling outside Windows: the engine dies there."""
    linux = ladder(RUNGS, ("27b-batch-fp8",), is_wsl=False)
    windows = ladder(RUNGS, ("27b-batch-fp8",), is_wsl=True)

    assert HeadroomOutcome.SPILLS not in {rung.outcome for rung in linux}
    assert HeadroomOutcome.SPILLS in {rung.outcome for rung in windows}


def test_other_presets_have_no_ladder() -> None:
    """Nobody has watched a small model die."""
    assert ladder(RUNGS, ("cpu-demo",), is_wsl=False) == ()


@pytest.mark.parametrize(("left", "is_wary"), [(600, False), (397, False), (396, True), (20, True)])
def test_less_than_what_killed_an_engine_is_warned_of(left: int, is_wary: bool) -> None:
    """The boot succeeds; the first burst of eight requests is what kills it."""
    found = ladder(RUNGS, ("27b-huge",), is_wsl=False)

    text = warning(found, left * MIB)

    assert (text is not None) is is_wary
    if text is not None:
        assert "396.0 MiB left died" in text


def test_what_is_left_unknown_is_no_warning() -> None:
    """Without a figure there is nothing to compare."""
    assert warning(ladder(RUNGS, ("27b-huge",), is_wsl=False), None) is None


def test_a_ladder_that_knows_no_end_does_not_warn() -> None:
    """All that ran is no reason to be wary."""
    good = Rung(
        mib=50, outcome=HeadroomOutcome.RUNS, profiles=("p",), case="a test", source="a test"
    )

    assert warning(ladder((good,), ("p",), is_wsl=False), 1) is None
