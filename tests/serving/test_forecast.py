"""What is left of a boot, while it boots."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.domain.server import BootPhase, PhaseForecast, PhaseTime
from studio.serving import forecast
from studio.serving.boots import Outlook
from tests.serving.boot_samples import phases

USUAL = Outlook(
    is_cold=True,
    phases_s={
        BootPhase.CONFIG: 10.0,
        BootPhase.WEIGHTS: 20.0,
        BootPhase.COMPILE: 60.0,
        BootPhase.GRAPHS: 10.0,
    },
    whole_s=100.0,
)
LOADING = ((BootPhase.CONFIG, 0.0, 10.0), (BootPhase.WEIGHTS, 10.0, None))


def at(
    elapsed_s: float, *spans: tuple[BootPhase, float, float | None], share: float | None = None
) -> forecast.Progress:
    """Return a boot's progress."""
    return forecast.Progress(phases=phases(*spans), elapsed_s=elapsed_s, share=share)


def test_what_is_left_is_the_rest_of_the_phase_and_all_later_ones() -> None:
    """The plain case."""
    found = forecast.left(USUAL, at(15.0, *LOADING))

    assert (found.remaining_s, found.later_s, found.is_late) == (85.0, 70.0, False)


def test_a_phase_that_takes_longer_pushes_what_comes_after_it() -> None:
    """The end moves; it does not come nearer while nothing moves."""
    found = forecast.left(USUAL, at(36.0, *LOADING))

    assert found.remaining_s == 70.0
    assert not found.is_late


def test_a_phase_that_took_half_as_long_again_is_late_and_its_end_is_unknown() -> None:
    """A bar that stands at 99 % is a lie; what is known is what comes after."""
    found = forecast.left(USUAL, at(41.0, *LOADING))

    assert found.is_late
    assert (found.remaining_s, found.later_s, found.usual_s) == (None, 70.0, 20.0)


def test_a_share_is_believed_more_the_further_it_is() -> None:
    """A quarter of the weights in 20 s: 60 s more by the share, none by the history."""
    found = forecast.left(USUAL, at(30.0, *LOADING, share=0.25))

    assert found.remaining_s == pytest.approx(70.0 + 0.25 * 60.0)
    assert forecast.left(USUAL, at(30.0, *LOADING, share=0.01)).remaining_s == 70.0


def test_a_late_phase_that_says_how_far_it_is_keeps_its_end() -> None:
    """Loading from a slow disk is late, and still ends when its bytes are in."""
    found = forecast.left(USUAL, at(60.0, *LOADING, share=0.5))

    assert found.is_late
    assert found.remaining_s == pytest.approx(70.0 + 25.0)


def test_a_slow_machine_is_expected_to_stay_slow_by_half() -> None:
    """Configuration took twice its time: the rest is forecast half as long again.

    Measured: with eight builders on two cores a boot of 75 s took 150 s, evenly in all phases.
    """
    slow = ((BootPhase.CONFIG, 0.0, 20.0), (BootPhase.WEIGHTS, 20.0, None))
    fast = ((BootPhase.CONFIG, 0.0, 5.0), (BootPhase.WEIGHTS, 5.0, None))
    stuck = ((BootPhase.CONFIG, 0.0, 900.0), (BootPhase.WEIGHTS, 900.0, None))

    assert forecast.left(USUAL, at(20.0, *slow)).remaining_s == pytest.approx(90.0 * 1.5)
    assert forecast.left(USUAL, at(5.0, *fast)).remaining_s == pytest.approx(90.0 * 0.75)
    assert forecast.left(USUAL, at(900.0, *stuck)).remaining_s == pytest.approx(90.0 * 4)


def test_with_a_published_figure_only_the_whole_is_known() -> None:
    """On the first boot; beyond it nobody knows."""
    published = Outlook(whole_s=100.0)

    assert forecast.left(published, at(30.0, *LOADING)).remaining_s == 70.0
    over = forecast.left(published, at(120.0, *LOADING))
    assert (over.remaining_s, over.is_late) == (None, False)
    assert forecast.left(published, at(151.0, *LOADING)).is_late


def test_nothing_known_is_nothing_said() -> None:
    """An unknown is shown as unknown."""
    assert forecast.left(Outlook(), at(30.0, *LOADING)) == forecast.Left()


def test_a_phase_that_boots_here_never_had_leaves_only_what_comes_after_it() -> None:
    """A warm-up of a newer engine."""
    found = forecast.left(USUAL, at(40.0, (BootPhase.PROFILE, 35.0, None)))

    assert (found.remaining_s, found.later_s) == (None, 10.0)


def test_phases_are_told_as_they_were_and_as_they_should_be() -> None:
    """What was skipped is left out; a phase cannot come any more once a later one began."""
    told = forecast.per_phase(
        USUAL, phases((BootPhase.WEIGHTS, 2.0, 9.0), (BootPhase.COMPILE, 9.0, None))
    )

    assert told == (
        PhaseForecast(phase=BootPhase.WEIGHTS, expected_s=7.0),
        PhaseForecast(phase=BootPhase.COMPILE, expected_s=60.0),
        PhaseForecast(phase=BootPhase.GRAPHS, expected_s=10.0),
    )


@given(
    elapsed=st.floats(0, 1e6),
    start=st.floats(0, 1e6),
    share=st.none() | st.floats(0, 1),
    phase=st.sampled_from(list(BootPhase)),
    times=st.dictionaries(st.sampled_from(list(BootPhase)), st.floats(0, 1e5)),
    whole=st.none() | st.floats(0, 1e6),
)
def test_what_is_left_is_never_negative(
    elapsed: float,
    start: float,
    share: float | None,
    phase: BootPhase,
    times: dict[BootPhase, float],
    whole: float | None,
) -> None:
    """Whatever a clock, a log or a history says."""
    progress = forecast.Progress(
        phases=(PhaseTime(phase=phase, started_s=start),), elapsed_s=elapsed, share=share
    )

    found = forecast.left(Outlook(phases_s=times, whole_s=whole), progress)

    assert found.remaining_s is None or found.remaining_s >= 0
    assert found.later_s is None or found.later_s >= 0
