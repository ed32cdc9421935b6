"""What this machine's boots teach the next forecast."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from studio.domain.units import GIB
from studio.planner import calibration
from studio.planner.calibration import Boot, Calibration
from tests.planner.plan_samples import card

SETTINGS = {"gpu_memory_utilization": 0.93, "max_num_seqs": 8, "seed": 0}


def boot(settings: dict[str, object] | None = None, **more: object) -> Boot:
    """Return a boot of one preset on one card."""
    fields: dict[str, object] = {
        "runtime_id": "r1",
        "preset": "27b-mtp",
        "cards": "GPU-0",
        "at": "2026-11-29T10:00:00+00:00",
        "is_cold": False,
        "settings": calibration.shaping(settings if settings is not None else SETTINGS),
        **more,
    }
    return Boot(**fields)


def match(known: Calibration, settings: dict[str, object], **more: object) -> object:
    """Return what is known of the preset with these settings."""
    place = {"runtime_id": "r1", "preset": "27b-mtp", "cards": ["GPU-0"], **more}
    return calibration.match(known, settings=settings, **place)


def test_exact_bytes_of_the_ledger_are_kept_for_each_card() -> None:
    """The ledger sums over the workers; a card's plan speaks of one."""
    facts = {"kv_bytes": 10 * GIB, "weights_bytes": 30 * GIB, "kv_gib": 1.0, "pool_tokens": 5}

    seen = calibration.observed(
        facts,
        runtime_id="r1",
        preset="p",
        cards=["GPU-1", "GPU-0"],
        settings=SETTINGS,
        is_cold=True,
        boot_s=200.0,
        card_bytes=24 * GIB,
        at="2026-11-29",
    )

    assert (seen.kv_bytes, seen.kv_error_bytes) == (5 * GIB, 0)
    assert seen.weights_bytes == 15 * GIB
    assert seen.cards == "GPU-0+GPU-1"
    assert "seed" not in seen.settings


def test_a_log_without_a_ledger_gives_rounded_bytes_and_says_how_rounded() -> None:
    """An engine without our patch prints GiB with two decimals."""
    seen = calibration.observed(
        {"kv_gib": 4.25},
        runtime_id="r1",
        preset="p",
        cards=[],
        settings={},
        is_cold=False,
        boot_s=None,
        card_bytes=None,
        at="now",
    )

    assert seen.kv_bytes == round(4.25 * GIB)
    assert seen.kv_error_bytes == round(0.005 * GIB)
    assert seen.cards == calibration.NO_CARD


def test_the_same_settings_are_found_and_others_are_told_apart() -> None:
    """What shapes memory counts; a seed does not."""
    known = calibration.with_boot(Calibration(), boot(kv_bytes=1))

    same = match(known, {**SETTINGS, "seed": 7})
    other = match(known, {**SETTINGS, "max_num_seqs": 4})

    assert same.is_same
    assert not other.is_same
    assert other.changed == ("max_num_seqs",)


def test_another_card_runtime_or_preset_teaches_nothing() -> None:
    """A 4090's boot says nothing of a 3090's."""
    known = calibration.with_boot(Calibration(), boot())

    assert match(known, SETTINGS, cards=["GPU-1"]) is None
    assert match(known, SETTINGS, runtime_id="r2") is None
    assert match(known, SETTINGS, preset="27b-long") is None
    assert match(known, SETTINGS, runtime_id=None) is None


def test_a_warm_boot_goes_before_a_cold_one() -> None:
    """Cold boots leave up to 0.9 GiB less to the pool."""
    known = calibration.with_boot(Calibration(), boot(is_cold=True, kv_bytes=1))
    known = calibration.with_boot(known, boot(is_cold=False, kv_bytes=2))
    known = calibration.with_boot(known, boot(is_cold=True, kv_bytes=3))

    found = match(known, SETTINGS)

    assert found.boot.kv_bytes == 2
    assert [one.kv_bytes for one in known.boots] == [2, 3]


def test_the_first_boot_of_a_kind_is_the_cold_one() -> None:
    """A changed setting compiles anew."""
    place = {"runtime_id": "r1", "preset": "27b-mtp", "cards": ["GPU-0"]}
    known = Calibration()
    assert calibration.is_first(known, settings=SETTINGS, **place)

    known = calibration.with_boot(known, boot())

    assert not calibration.is_first(known, settings=SETTINGS, **place)
    assert calibration.is_first(known, settings={**SETTINGS, "max_num_seqs": 2}, **place)


def test_boot_times_are_the_newest_of_each_kind() -> None:
    """A forecast of last year's driver is no forecast."""
    known = Calibration()
    for is_cold, seconds in ((True, 250.0), (False, 90.0), (False, 80.0)):
        known = calibration.with_boot(known, boot(is_cold=is_cold, boot_s=seconds))

    times = calibration.boot_times(known, runtime_id="r1", preset="27b-mtp", cards=["GPU-0"])

    assert (times.cold_s, times.warm_s) == (250.0, 80.0)


@given(st.lists(st.integers(0, 500), max_size=200))
def test_the_file_does_not_grow_without_end(seats: list[int]) -> None:
    """A person who tries every setting must not wait for a file of megabytes at each plan."""
    known = Calibration()
    for count in seats:
        known = calibration.with_boot(known, boot({"max_num_seqs": count}))

    assert len(known.boots) <= min(calibration.MOST_BOOTS, len(set(seats)))
    assert msgspec.json.decode(msgspec.json.encode(known), type=Calibration) == known


def test_structured_settings_are_compared_by_their_content() -> None:
    """`speculative_config` is a mapping, whose order says nothing."""
    one = calibration.shaping({"speculative_config": {"method": "mtp", "k": 4}})
    other = calibration.shaping({"speculative_config": {"k": 4, "method": "mtp"}})

    assert one == other
    assert isinstance(one["speculative_config"], str)


def test_a_card_without_an_id_goes_by_name_and_number() -> None:
    """Old drivers give none; two such cards must not be one."""
    named = calibration.names_of([card(0, uuid=None), card(1)])

    assert named == ("NVIDIA GeForce RTX 3090 0", "GPU-1")
