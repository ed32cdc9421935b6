"""One boot while it lasts."""

import pytest

from studio.app.boot_under_way import BootUnderWay
from studio.domain.boots import BootTry
from studio.domain.server import BootPhase, EngineState
from studio.serving.boots import Outlook
from tests.app.boot_samples import engine

COLD = Outlook(is_cold=True, phases_s={BootPhase.COMPILE: 60.0, BootPhase.GRAPHS: 5.0}, whole_s=65)
WARM = Outlook(is_cold=False, phases_s={BootPhase.COMPILE: 2.0, BootPhase.GRAPHS: 5.0}, whole_s=7)


def under_way(*, guess: bool, attempt: BootTry = BootTry.FIRST) -> BootUnderWay:
    """Return a boot that was guessed to be cold or warm."""
    return BootUnderWay(began=1.0, attempt=attempt, outlooks={True: COLD, False: WARM}, guess=guess)


COMPILING = engine(EngineState.STARTING, (BootPhase.COMPILE, 0.0, None), elapsed_s=1.0)


def test_the_log_corrects_the_guess_and_the_forecast_with_it() -> None:
    """A cache that was thought to be there: 4 minutes instead of 7 seconds, said at once."""
    boot = under_way(guess=False)
    before = boot.complete(COMPILING, loaded_bytes=None, to_load_bytes=None)

    boot.learn(COMPILING, {"compiled": 1})
    after = boot.complete(COMPILING, loaded_bytes=None, to_load_bytes=None)

    assert (before.is_cold, before.is_cold_certain, before.remaining_s) == (False, False, 6.0)
    assert (after.is_cold, after.is_cold_certain, after.remaining_s) == (True, True, 64.0)
    assert after.expected_boot_s == pytest.approx(65.0)
    assert after.note == "about 1 min 05 s left: compiling, cold cache (normal)"
    assert boot.forecast_s == 7


def test_an_engine_that_compiles_nothing_makes_the_guess_certain() -> None:
    """Cold is then the first boot of its kind; the log will say nothing more of it."""
    boot = under_way(guess=True)

    boot.learn(COMPILING, {"is_eager": 1})

    assert boot.is_cold
    assert boot.is_certain


def test_bytes_of_the_weights_make_the_share_and_the_sentence() -> None:
    """Only while they load: afterwards they would stand beside every phase."""
    loading = engine(EngineState.STARTING, (BootPhase.WEIGHTS, 0.0, None), elapsed_s=10.0)
    boot = under_way(guess=False)

    shown = boot.complete(loading, loaded_bytes=500, to_load_bytes=1000)
    later = boot.complete(COMPILING, loaded_bytes=1000, to_load_bytes=1000)

    assert (shown.phase_share, shown.loaded_bytes, shown.to_load_bytes) == (0.5, 500, 1000)
    assert "500 B of 1000 B (50 %)" in (shown.note or "")
    assert shown.remaining_s == pytest.approx(10.0 + 7.0)
    assert (later.phase_share, later.loaded_bytes) == (None, None)


def test_a_second_try_says_that_it_is_one() -> None:
    """Otherwise the bar seems to have begun again by itself."""
    boot = under_way(guess=False, attempt=BootTry.WARM)

    shown = boot.complete(COMPILING, loaded_bytes=None, to_load_bytes=None)

    assert (shown.note or "").startswith("second try, warm: ")


def test_before_the_first_phase_nothing_is_said() -> None:
    """An engine that has no process yet."""
    bare = engine(EngineState.STARTING)

    shown = under_way(guess=True).complete(bare, loaded_bytes=None, to_load_bytes=None)

    assert (shown.is_cold, shown.note, shown.remaining_s) == (True, None, None)
