"""The sentence about a boot."""

import pytest

from studio.domain.server import BootPhase
from studio.domain.units import GIB
from studio.serving.boot_words import DOING, MAY_MEAN, Scene, note, spoken, temperature
from studio.serving.forecast import Left


@pytest.mark.parametrize(
    ("scene", "expected"),
    [
        (
            Scene(phase=BootPhase.COMPILE, spent_s=10, left=Left(remaining_s=221.0), is_cold=True),
            "about 3 min 40 s left: compiling, cold cache (normal)",
        ),
        (
            Scene(phase=BootPhase.COMPILE, spent_s=1, left=Left(remaining_s=31.0), is_cold=False),
            "about 30 s left: compiling, warm cache",
        ),
        (
            Scene(
                phase=BootPhase.WEIGHTS,
                spent_s=9,
                left=Left(remaining_s=62.0),
                share=0.5,
                loaded_bytes=9 * GIB,
                to_load_bytes=18 * GIB,
            ),
            "about 1 min left: loading weights, 9.00 GiB of 18.00 GiB (50 %)",
        ),
        (
            Scene(phase=BootPhase.GRAPHS, spent_s=3, left=Left(), share=0.4),
            "capturing graphs, 40 %",
        ),
        (
            Scene(phase=BootPhase.SERVER, spent_s=1, left=Left(remaining_s=0.4)),
            "a few seconds left: opening the server",
        ),
    ],
)
def test_the_sentence_says_how_long_and_what(scene: Scene, expected: str) -> None:
    """What people read while they wait."""
    assert note(scene) == expected


def test_what_takes_longer_than_usual_says_what_that_may_mean() -> None:
    """The numbers of both, and where to look."""
    said = note(
        Scene(phase=BootPhase.WEIGHTS, spent_s=120.0, left=Left(usual_s=40.0, is_late=True))
    )

    assert said.startswith("longer than usual: 2 min instead of 40 s in loading weights; ")
    assert "disk" in said


def test_beyond_a_published_figure_nobody_claims_to_know_what_is_usual_here() -> None:
    """There is nothing of this machine to compare with."""
    scene = Scene(phase=BootPhase.COMPILE, spent_s=300.0, left=Left(is_late=True), is_cold=True)

    assert note(scene) == "longer than published: compiling, cold cache (normal)"


def test_every_phase_has_words() -> None:
    """A phase that is added must not break the line of a boot."""
    assert set(DOING) == set(MAY_MEAN) == set(BootPhase)


def test_spans_are_as_exact_as_a_forecast_deserves() -> None:
    """`about 37.2 s left` promises what nobody can keep."""
    assert [spoken(s) for s in (0.0, 7.0, 58.0, 119.0, 126.0, 3600.0)] == [
        "a few seconds",
        "5 s",
        "1 min",
        "2 min",
        "2 min 10 s",
        "1 h 00 min",
    ]


def test_a_guess_is_called_one() -> None:
    """Cold or warm is known for certain only from the engine's log."""
    assert temperature(is_cold=True, is_certain=True) == "cold"
    assert temperature(is_cold=False, is_certain=False) == "warm (a guess)"
    assert temperature(is_cold=None, is_certain=False) is None
