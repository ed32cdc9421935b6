"""Why a pool differs from the last one, from the ledgers of both boots."""

from studio.domain.units import GIB, MIB
from studio.serving.pool_change import why
from tests.serving.boot_samples import record

WAS = record(
    pool_tokens=500_000,
    is_cold=False,
    kv_bytes=32 * GIB,
    weights_bytes=50 * GIB,
    activation_peak_bytes=GIB,
    non_torch_bytes=200 * MIB,
    graph_pool_bytes=70 * MIB,
    held_bytes=0,
    driver="580.1",
)


def test_the_same_pool_needs_no_words() -> None:
    """Nor does the first one."""
    assert why(WAS, WAS) == ()
    assert why(None, WAS) == ()
    assert why(record(pool_tokens=None), WAS) == ()


def test_a_cold_boot_after_a_warm_one_is_told_in_bytes_and_in_its_cause() -> None:
    """The figures are those that both engines printed; the direction is right."""
    now = record(
        pool_tokens=480_000,
        is_cold=True,
        kv_bytes=31 * GIB,
        weights_bytes=50 * GIB,
        activation_peak_bytes=2 * GIB - 10 * MIB,
        non_torch_bytes=210 * MIB,
        graph_pool_bytes=70 * MIB,
        held_bytes=0,
        driver="580.1",
    )

    head, *causes = why(WAS, now)

    assert "20,000 tokens smaller" in head
    assert "500,000 then, 480,000 now" in head
    assert causes[0] == "The trial run took 1014.0 MiB more."
    assert causes[1].startswith("This boot compiled while it measured memory")
    assert len(causes) == 2


def test_settings_card_driver_and_tries_are_named() -> None:
    """Everything that both boots know."""
    now = record(
        pool_tokens=400_000,
        settings={"dtype": "bfloat16", "max_num_seqs": 1024},
        held_bytes=3 * GIB,
        driver="590.2",
        without_graph_estimate=True,
        kv_bytes=28 * GIB,
    )

    said = " ".join(why(WAS, now))

    assert "`dtype` was float32 and is bfloat16." in said
    assert "`max_num_seqs` was not set and is 1,024." in said
    assert "Other programs held 3.00 GiB more of the card." in said
    assert "The driver was 580.1 and is 590.2." in said
    assert "No memory was set aside for CUDA graphs" in said
    assert "Memory was set aside for CUDA graphs again" in " ".join(why(now, WAS))


def test_a_pinned_pool_is_not_explained_by_what_lies_beside_it() -> None:
    """Its bytes come from the settings alone."""
    pinned = {"kv_cache_memory_bytes": 5}
    was = record(pool_tokens=10, settings=pinned, activation_peak_bytes=0)
    now = record(pool_tokens=20, settings=pinned, activation_peak_bytes=GIB)

    assert why(was, now)[1:] == ("What changed cannot be seen in what the engine said.",)


def test_a_larger_pool_is_explained_too() -> None:
    """A warm boot after a cold one."""
    cold = record(pool_tokens=400_000, is_cold=True, kv_bytes=30 * GIB)

    head, *causes = why(cold, WAS)

    assert "larger" in head
    assert causes == [
        "The boot before compiled while it measured memory, which left less for the pool."
    ]
