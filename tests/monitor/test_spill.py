"""Spill by kind: what is measured, above what, how fast and since when."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.domain.readings import (
    AdapterReadings,
    EngineReading,
    HostReading,
    Intent,
    PathReport,
    SpillLook,
)
from studio.domain.spill import SpillFlow, SpillKind
from studio.domain.units import GIB, MIB
from studio.monitor.baseline import Baselines
from studio.monitor.spill import SpillMeter, total_bytes
from tests.monitor.scenes import CARD, ENGINE, GROUP, HOST, windows

LOOK = SpillLook(at=100.0, monotonic_s=10.0, is_running=True, host=HOST, engine=ENGINE)


def look(second: int, **changes: object) -> SpillLook:
    """Return the look of one second."""
    return msgspec.structs.replace(LOOK, at=100.0 + second, monotonic_s=10.0 + second, **changes)


def flow(flows: tuple[SpillFlow, ...], kind: SpillKind) -> SpillFlow:
    """Return the one flow of a kind."""
    (found,) = [one for one in flows if one.kind is kind]
    return found


def kinds(flows: tuple[SpillFlow, ...]) -> set[SpillKind]:
    """Return which kinds are told of."""
    return {one.kind for one in flows}


def test_only_what_can_occur_here_is_told_of() -> None:
    """A box with Linux and no tier has no row for Windows or for tiers."""
    flows = SpillMeter(Baselines()).flows(LOOK)

    assert kinds(flows) == {SpillKind.SWAP, SpillKind.MEMORY_PRESSURE, SpillKind.PAGE_THRASH}


def test_swap_has_bytes_rates_and_a_beginning() -> None:
    """Which way it goes says whether it grows or hurts."""
    meter = SpillMeter(Baselines())
    meter.flows(look(0))

    for second in range(1, 6):
        host = msgspec.structs.replace(
            HOST, swapped_out_bytes=10 * MIB * second, swapped_in_bytes=2 * MIB * second
        )
        engine = msgspec.structs.replace(ENGINE, swap_bytes=100 * MIB * second)
        flows = meter.flows(look(second, host=host, engine=engine))

    swap = flow(flows, SpillKind.SWAP)
    assert swap.bytes == 500 * MIB
    assert swap.in_bytes_per_s == pytest.approx(10 * MIB)
    assert swap.out_bytes_per_s == pytest.approx(2 * MIB)
    assert swap.bytes_per_s == pytest.approx(12 * MIB)
    assert swap.since == 101.0
    assert total_bytes(flows) == 500 * MIB


def test_without_an_engine_its_swap_is_not_known_and_not_zero() -> None:
    """And why is said."""
    flows = SpillMeter(Baselines()).flows(look(0, engine=None, is_running=False))

    swap = flow(flows, SpillKind.SWAP)
    assert (swap.bytes, swap.note) == (None, "No engine runs.")
    assert total_bytes(flows) is None


def test_shared_memory_counts_above_its_idle_baseline() -> None:
    """86 MB were there before."""
    baselines = Baselines()
    meter = SpillMeter(baselines)
    for second in range(5):
        baselines.learn(windows(86_000_000), 10.0 + second, is_running=False)

    flows = meter.flows(look(6, adapters=windows(1_886_000_000)))

    wddm = flow(flows, SpillKind.WDDM_SHARED)
    assert (wddm.bytes, wddm.where, wddm.note) == (1_800_000_000, CARD.name, None)
    assert wddm.since == 106.0
    assert wddm.is_harmful


def test_an_assumed_baseline_is_said() -> None:
    """An engine that was started with the service left no time to look."""
    flows = SpillMeter(Baselines()).flows(look(0, adapters=windows(1_400_000_000)))

    wddm = flow(flows, SpillKind.WDDM_SHARED)
    assert wddm.bytes == 1_000_000_000
    assert wddm.note is not None
    assert "not known yet" in wddm.note


def test_windows_that_does_not_answer_is_unknown_with_its_reason() -> None:
    """Never zero."""
    silent = AdapterReadings(note="Windows has not answered for some seconds.")

    flows = SpillMeter(Baselines()).flows(look(0, adapters=silent))

    wddm = flow(flows, SpillKind.WDDM_SHARED)
    assert (wddm.bytes, wddm.note) == (None, silent.note)
    assert total_bytes(flows) is None


def test_what_is_known_to_lie_there_counts_beside_what_is_not() -> None:
    """It is at least that."""
    engine = msgspec.structs.replace(ENGINE, swap_bytes=GIB)
    silent = AdapterReadings(note="Silent.")

    assert (
        total_bytes(SpillMeter(Baselines()).flows(look(0, engine=engine, adapters=silent))) == GIB
    )


def test_a_first_reading_of_a_file_is_no_thrash() -> None:
    """Weights have to come in once; only what was thrown out and read again hurts."""
    once, again = SpillMeter(Baselines()), SpillMeter(Baselines())

    for second in range(6):
        engine = msgspec.structs.replace(
            ENGINE, major_faults=500 * second, disk_read_bytes=50 * MIB * second
        )
        host = msgspec.structs.replace(HOST, refault_bytes=40 * MIB * second)
        first = once.flows(look(second, engine=engine))
        second_time = again.flows(look(second, engine=engine, host=host))

    assert flow(first, SpillKind.PAGE_THRASH).bytes_per_s == 0.0
    assert flow(second_time, SpillKind.PAGE_THRASH).bytes_per_s == pytest.approx(40 * MIB)
    assert flow(second_time, SpillKind.PAGE_THRASH).since is not None


def test_the_engines_own_group_witnesses_before_the_machine() -> None:
    """Somebody else's thrashing is not the engine's."""
    meter = SpillMeter(Baselines())
    for second in range(6):
        engine = msgspec.structs.replace(
            ENGINE, major_faults=500 * second, disk_read_bytes=50 * MIB * second, group=GROUP
        )
        host = msgspec.structs.replace(HOST, refault_bytes=900 * MIB * second)
        flows = meter.flows(look(second, engine=engine, host=host))

    assert flow(flows, SpillKind.PAGE_THRASH).bytes_per_s == 0.0


def test_a_process_that_came_or_went_makes_no_rate() -> None:
    """Its gigabytes were not read in this second."""
    meter = SpillMeter(Baselines())
    meter.flows(look(0))
    joined = msgspec.structs.replace(
        ENGINE, pids=ENGINE.pids | {7}, disk_read_bytes=90 * GIB, major_faults=10**6
    )

    flows = meter.flows(look(1, engine=joined))

    assert flow(flows, SpillKind.PAGE_THRASH).bytes_per_s is None


def test_a_preset_that_reads_from_the_disk_is_not_accused_of_it() -> None:
    """Embeddings on the disk are the point; what they read is shown as such."""
    meter = SpillMeter(Baselines())
    for second in range(3):
        engine = msgspec.structs.replace(ENGINE, disk_read_bytes=80 * MIB * second)
        flows = meter.flows(look(second, engine=engine, intent=Intent(has_ple_disk=True)))

    thrash, ple = flow(flows, SpillKind.PAGE_THRASH), flow(flows, SpillKind.PLE_DISK)
    assert (thrash.bytes_per_s, thrash.note) == (
        None,
        "Not judged: this preset reads from the disk by design.",
    )
    assert ple.bytes_per_s == pytest.approx(80 * MIB)
    assert not ple.is_harmful


def test_a_tier_shows_what_went_in_and_what_came_back() -> None:
    """More cannot lie there than fits."""
    meter = SpillMeter(Baselines())
    tier = Intent(cpu_kv_bytes=2 * GIB)
    for second in range(5):
        flows = meter.flows(
            look(
                second,
                intent=tier,
                stored_bytes=float(GIB * second),
                loaded_bytes=float(100 * MIB * second),
            )
        )

    kept = flow(flows, SpillKind.CPU_KV_TIER)
    assert (kept.bytes, kept.where) == (2 * GIB, "of 2.00 GiB")
    assert kept.in_bytes_per_s == pytest.approx(GIB)
    assert kept.out_bytes_per_s == pytest.approx(100 * MIB)
    assert total_bytes(flows) == 0


def test_an_arena_is_counted_once_and_its_traffic_is_the_links() -> None:
    """Every rank maps the same experts."""
    engine = msgspec.structs.replace(ENGINE, shared_bytes=60 * GIB)
    meant = Intent(has_expert_ring=True, has_host_kv=True)

    flows = SpillMeter(Baselines()).flows(
        look(0, engine=engine, intent=meant, link_bytes_per_s=9e9)
    )

    ring, history = flow(flows, SpillKind.EXPERT_RING), flow(flows, SpillKind.HOST_KV)
    assert (ring.bytes, ring.out_bytes_per_s) == (60 * GIB, 9e9)
    assert history.bytes is None
    assert history.note is not None
    assert history.out_bytes_per_s is None, "it cannot be told from the ring's"


def test_failed_fast_paths_are_named() -> None:
    """Each with the engine's own reason."""
    failed = PathReport(failed=(("batch_gemm", "library missing"), ("long_context", None)))

    flows = SpillMeter(Baselines()).flows(look(0, paths=failed))

    named = [(one.where, one.note) for one in flows if one.kind is SpillKind.SLOW_PATH]
    assert named == [("batch_gemm", "library missing"), ("long_context", None)]


def test_all_paths_well_is_zero_and_no_answer_is_unknown() -> None:
    """The difference matters."""
    well = SpillMeter(Baselines()).flows(look(0, paths=PathReport()))
    silent = SpillMeter(Baselines()).flows(look(0, paths=PathReport(note="No answer.")))

    assert flow(well, SpillKind.SLOW_PATH).bytes == 0
    assert flow(silent, SpillKind.SLOW_PATH).note == "No answer."


def test_a_failed_reading_does_not_begin_a_spill_anew() -> None:
    """Since when is a matter of hours, not of one second without an answer."""
    meter = SpillMeter(Baselines())
    swapped = msgspec.structs.replace(ENGINE, swap_bytes=GIB)
    meter.flows(look(0, engine=swapped))
    meter.flows(look(1, engine=None))

    assert flow(meter.flows(look(2, engine=swapped)), SpillKind.SWAP).since == 100.0
    meter.flows(look(3))
    assert flow(meter.flows(look(4, engine=swapped)), SpillKind.SWAP).since == 104.0


COUNTS = st.one_of(st.none(), st.integers(min_value=0, max_value=1 << 60))


@given(st.lists(st.tuples(COUNTS, COUNTS, COUNTS, st.floats(-5, 20)), max_size=30))
def test_rates_are_never_negative_nor_endless(
    readings: list[tuple[int | None, int | None, int | None, float]],
) -> None:
    """Counters that begin anew, go missing or jump; clocks that are set."""
    meter, now = SpillMeter(Baselines()), 10.0
    for faults, read, out, step in readings:
        now += step
        engine = EngineReading(
            pids=frozenset((1,)), major_faults=faults, disk_read_bytes=read, swap_bytes=read
        )
        host = HostReading(swapped_out_bytes=out, swapped_in_bytes=out, refault_bytes=read)
        seen = meter.flows(
            SpillLook(at=now, monotonic_s=now, is_running=True, engine=engine, host=host)
        )
        for one in seen:
            for rate in (one.bytes_per_s, one.in_bytes_per_s, one.out_bytes_per_s):
                assert rate is None or 0 <= rate < float("inf")
