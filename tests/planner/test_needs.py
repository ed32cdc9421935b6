"""What a plan takes of the host beside its cards."""

import pytest

from studio.domain.hardware import ContainerFacts
from studio.domain.plans import LedgerPlace
from studio.domain.units import GIB, MIB
from studio.planner import needs
from studio.planner.needs import Demands
from studio.planner.outcome import Lack
from tests.planner.plan_samples import host


def test_enough_of_everything_is_said_as_a_ledger_without_reasons() -> None:
    """The person sees what is taken even when nothing is missing."""
    found = needs.of(Demands(memory_bytes=5 * GIB, disk_bytes=20 * GIB), {}, host())

    assert [(one.place, one.bytes) for one in found.items] == [
        (LedgerPlace.MEMORY, 5 * GIB),
        (LedgerPlace.DISK, 20 * GIB),
    ]
    assert found.shortfalls == ()
    assert found.warnings == ()


def test_a_container_s_limit_is_what_there_is() -> None:
    """The machine's 64 GiB are not ours when the container is ended at 4."""
    small = host(container=ContainerFacts(kind="docker", memory_limit_bytes=4 * GIB))

    found = needs.of(Demands(memory_bytes=5 * GIB), {}, small)

    assert [one.lack for one in found.shortfalls] == [Lack.MEMORY]
    assert "5.00 GiB of memory; this machine has 4.00 GiB" in found.shortfalls[0].sentence


def test_memory_that_others_hold_is_only_warned_of() -> None:
    """They may let go of it, and refusing a start for a browser's sake is a nuisance."""
    found = needs.of(Demands(memory_bytes=5 * GIB), {}, host(memory_free_bytes=3 * GIB))

    assert found.shortfalls == ()
    assert "3.00 GiB is free now" in found.warnings[0]


@pytest.mark.parametrize("name", ["kv_offload_gib", "kv_offloading_size"])
def test_a_cpu_tier_needs_memory_and_shared_memory(name: str) -> None:
    """Its region is a file in /dev/shm: a container's 64 MiB make the engine die after loading."""
    found = needs.of(Demands(), {name: 8}, host(shm_bytes=64 * MIB))

    assert [one.place for one in found.items] == [LedgerPlace.MEMORY, LedgerPlace.SHM]
    assert [one.lack for one in found.shortfalls] == [Lack.SHM]
    assert "--shm-size" in found.shortfalls[0].sentence


def test_a_tier_of_zero_is_no_tier() -> None:
    """`kv_offload_gib=0` is how it is switched off."""
    assert needs.kv_tier_bytes({"kv_offload_gib": 0}) == 0
    assert needs.kv_tier_bytes({"kv_offload_gib": True}) == 0


def test_a_small_shm_is_warned_of_when_several_workers_talk_through_it() -> None:
    """One worker needs none of it."""
    small = host(shm_bytes=64 * MIB)

    assert needs.of(Demands(), {"tensor_parallel_size": 2}, small).warnings != ()
    assert needs.of(Demands(), {"tensor_parallel_size": 1}, small).warnings == ()


def test_a_full_disk_is_a_reason() -> None:
    """It would be found out after an hour of downloading."""
    found = needs.of(Demands(disk_bytes=35 * GIB), {}, host(disk_free_bytes=20 * GIB))

    assert [one.lack for one in found.shortfalls] == [Lack.DISK]


def test_what_is_not_known_is_no_reason() -> None:
    """A host file may say nothing of its disk."""
    unknown = host(disk_free_bytes=None, memory_bytes=None, memory_free_bytes=None)

    assert needs.of(Demands(memory_bytes=GIB, disk_bytes=GIB), {}, unknown).shortfalls == ()


def test_moving_parts_into_memory_counts_there() -> None:
    """The embedding and the vision tower do not vanish when they leave the card."""
    settings = {"embed_uva": True, "vision": True, "vision_cpu_offload_gb": 1}

    found = needs.of(Demands(embedding_bytes=3 * GIB), settings, host())

    assert [(one.name, one.bytes) for one in found.items] == [
        ("embedding", 3 * GIB),
        ("vision", 1_000_000_000),
    ]
