"""What boots took, and what that says of the next one."""

import dataclasses

from studio.domain.boots import BootHistory, BootOutcome, BootRecord
from studio.domain.server import BootPhase
from studio.serving import boots
from tests.serving.boot_samples import PLACE, phases, record


def history(*records: BootRecord) -> BootHistory:
    """Return a history of these boots."""
    return BootHistory(boots=records)


def test_the_forecast_is_the_median_of_the_last_boots_of_the_same_temperature() -> None:
    """One slow disk must not double every later forecast, and a cold boot says little of a warm."""
    times = [300.0, 30.0, 32.0, 31.0, 90.0, 31.5]  # the first is too old to count
    known = history(
        *(record(boot_s=s, phases_s={"weights": s / 2}) for s in times),
        record(is_cold=True, boot_s=200.0),
    )

    found = boots.outlook(known, PLACE, is_cold=False, published_s=99.0)

    assert found.whole_s == 31.5
    assert found.phases_s == {BootPhase.WEIGHTS: 15.75}


def test_boots_with_the_same_settings_go_first_and_other_places_never_count() -> None:
    """A longer context changes the time; another card or runtime is another machine."""
    known = history(
        record(boot_s=20.0),
        record(boot_s=60.0, settings={"dtype": "float32", "max_model_len": 9}),
        record(boot_s=900.0, settings={"dtype": "float32", "enforce_eager": False}),
        record(boot_s=1.0, runtime_id="r2"),
        record(boot_s=2.0, cards="GPU-1"),
        record(boot_s=3.0, preset="q"),
    )
    longer = dataclasses.replace(PLACE, settings={"dtype": "float32", "max_model_len": 8})
    other = dataclasses.replace(PLACE, settings={"dtype": "bfloat16"})

    assert boots.outlook(known, PLACE, is_cold=False).whole_s == 20.0
    assert boots.outlook(known, longer, is_cold=False).whole_s == 40.0
    assert boots.outlook(known, other, is_cold=False).whole_s is None


def test_without_boots_here_the_published_figure_is_used_then_the_other_temperature() -> None:
    """Unknown is said only when nobody knows anything."""
    cold_only = history(record(is_cold=True, boot_s=53.0))

    def whole(known: BootHistory, **more: float) -> float | None:
        return boots.outlook(known, PLACE, is_cold=False, **more).whole_s

    assert whole(history(), published_s=33.0, rough_s=60.0) == 33.0
    assert whole(cold_only, published_s=33.0) == 33.0
    assert whole(cold_only, rough_s=99.0) == 53.0
    assert whole(history(), rough_s=99.0) == 99.0
    assert whole(history()) is None


def test_what_a_refused_boot_took_counts_for_its_phases_but_not_for_the_whole() -> None:
    """Its weights were loaded as always; its end came early."""
    refused = record(
        outcome=BootOutcome.FAILED, boot_s=None, phases_s={"interpreter": 12.0, "weights": 17.0}
    )

    found = boots.outlook(history(record(), refused), PLACE, is_cold=False)

    assert found.whole_s == 30.0
    assert found.phases_s[BootPhase.WEIGHTS] == 16.0
    assert found.phases_s[BootPhase.FIRST_TOKEN] == 5.0


def test_a_phase_that_most_boots_do_not_have_will_not_come() -> None:
    """One boot that compiled by accident must not promise a compilation for ever."""
    odd = record(phases_s={"compile": 40.0, "weights": 15.0})

    found = boots.outlook(history(record(), record(), odd), PLACE, is_cold=False)

    assert BootPhase.COMPILE not in found.phases_s


def test_a_boot_will_be_cold_unless_one_like_it_left_its_cache_here() -> None:
    """Said before it begins, so that four minutes are no surprise."""

    def guess(*records: BootRecord, there: bool = True) -> bool:
        return boots.guess_is_cold(history(*records), PLACE, lambda _path: there)

    assert guess()
    assert not guess(record())
    assert not guess(record(is_cold=True))
    assert guess(record(), there=False)
    assert guess(record(settings={"dtype": "bfloat16"}))
    assert guess(record(runtime_id="r2"))
    assert guess(record(compile_cache=None, is_cold=True))


def test_a_boot_that_died_before_it_compiled_leaves_nothing_for_the_next() -> None:
    """It is as cold as the first; one that was refused its KV cache had compiled all."""
    early = record(outcome=BootOutcome.FAILED, is_cold=True, phases_s={"interpreter": 9.0})
    refused = record(
        outcome=BootOutcome.FAILED, is_cold=True, phases_s={"weights": 9.0, "compile": 40.0}
    )

    assert boots.guess_is_cold(history(early), PLACE, lambda _path: True)
    assert not boots.guess_is_cold(history(refused), PLACE, lambda _path: True)


def test_the_history_is_bounded_for_each_place_and_in_all() -> None:
    """A preset that is started all day must not push out the one of every month."""
    known = history(record(preset="monthly"))
    for number in range(40):
        known = boots.with_boot(known, record(boot_s=float(number)))

    daily = [one.boot_s for one in known.boots if one.preset == "p"]
    assert daily == [float(n) for n in range(40 - boots.MOST_OF_A_PLACE, 40)]
    assert known.boots[0].preset == "monthly"

    for number in range(2 * boots.MOST):
        known = boots.with_boot(known, record(preset=f"p{number}"))
    assert len(known.boots) == boots.MOST


def test_only_phases_that_ended_have_a_duration() -> None:
    """The phase that an engine died in says nothing of how long it takes."""
    found = boots.durations(phases((BootPhase.CONFIG, 1.0, 3.5), (BootPhase.WEIGHTS, 3.5, None)))

    assert found == {"config": 2.5}


def test_the_last_boot_that_served_is_that_of_the_same_settings_if_there_is_one() -> None:
    """A pool is compared with its like."""
    same, other = record(pool_tokens=1), record(pool_tokens=2, settings={})
    failed = record(outcome=BootOutcome.FAILED, pool_tokens=None)

    assert boots.last_served(history(same, other, failed), PLACE) is same
    assert boots.last_served(history(other, failed), PLACE) is other
    assert boots.last_served(history(failed), PLACE) is None
