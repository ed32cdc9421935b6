"""Values for a model that no preset knows."""

from collections.abc import Callable, Mapping

from studio.domain.geometry import ModelGeometry
from studio.domain.units import GIB, MIB
from studio.planner import propose
from studio.planner.budget import Budget
from studio.planner.card_ledger import Ground
from studio.planner.engine import engine
from studio.planner.outcome import Outcome
from studio.planner.work import Attempt, Subject, work_out
from tests.planner.plan_samples import HYBRID, LLAMA, card, host

WEIGHTS = 269_000_000
PROCESSES = 2_500_000_000


def trying(
    subject: Subject, kv_bytes: int | None = None
) -> Callable[[Mapping[str, object]], Outcome]:
    """Return what settings come to, with pinned bytes or with so many."""

    def tried(settings: Mapping[str, object]) -> Outcome:
        pinned = settings.get("kv_cache_memory_bytes", kv_bytes)
        known = pinned if isinstance(pinned, int) else None
        error = None if known is None else 0
        cards = subject.ground.host.gpus
        return work_out(
            subject,
            Attempt(
                settings=settings,
                cards=cards,
                budget=Budget(kv_bytes=known, kv_error_bytes=error, error_bytes=0),
            ),
        )

    return tried


def on_processor(model: ModelGeometry, free: int) -> propose.Proposal:
    """Return values for a machine without cards and so much free memory."""
    subject = Subject(
        engine=engine("cpu-vllm-0.32.0"),
        ground=Ground(host=host(memory_free_bytes=free)),
        target=model,
    )
    return propose.for_memory(
        subject, trying(subject), weights_bytes=WEIGHTS, processes_bytes=PROCESSES
    )


def on_cards(
    model: ModelGeometry, name: str, capability: str, kv_bytes: int | None
) -> propose.Proposal:
    """Return values for one card whose profiler leaves so many bytes."""
    one = card(capability=capability, free=24 * GIB)
    found = engine(name, capability=tuple(int(part) for part in capability.split(".")))
    subject = Subject(engine=found, ground=Ground(host=host(one)), target=model)
    return propose.for_cards(subject, trying(subject, kv_bytes), ranks=1)


def test_a_small_model_gets_its_whole_context_and_no_more_memory_than_it_can_use() -> None:
    """Sixteen full conversations are the most that its seats can hold."""
    found = on_processor(LLAMA, 40 * GIB)

    assert found.settings["max_model_len"] == 8192
    assert found.settings["max_num_seqs"] == 16
    assert found.outcome.fits
    assert found.outcome.resident_requests is not None
    assert 16 <= found.outcome.resident_requests < 18
    assert found.settings["kv_cache_memory_bytes"] % (64 * MIB) == 0


def test_a_machine_with_little_memory_gets_a_small_pool_that_still_starts() -> None:
    """Half of what is left; the rest is the machine's."""
    found = on_processor(LLAMA, 3 * GIB)

    assert found.outcome.fits
    assert found.settings["kv_cache_memory_bytes"] <= 512 * MIB


def test_a_hybrid_model_on_a_processor_avoids_what_kills_it() -> None:
    """float32 and cached states both end the engine at its first request there."""
    found = on_processor(HYBRID, 40 * GIB)

    assert found.settings["dtype"] == "bfloat16"
    assert found.settings["enable_prefix_caching"] is False
    assert found.settings["enforce_eager"] is True


def test_two_requests_of_full_length_are_resident() -> None:
    """One conversation that fills the pool makes every other one wait."""
    found = on_cards(HYBRID, "vllm-0.32.0", "8.6", 5 * GIB)

    assert found.outcome.resident_requests is not None
    assert found.outcome.resident_requests >= propose.RESIDENT
    longer = {**found.settings, "max_model_len": found.settings["max_model_len"] + 1024}
    subject = Subject(
        engine=engine("vllm-0.32.0", capability=(8, 6)), ground=Ground(host=host()), target=HYBRID
    )
    assert (trying(subject, 5 * GIB)(longer).resident_requests or 0) < propose.RESIDENT


def test_a_card_that_can_keeps_a_short_context_in_eight_bits() -> None:
    """Twice the tokens; a 3090 has no such kernels."""
    newer = on_cards(HYBRID, "vllm-0.32.0", "8.9", GIB)
    older = on_cards(HYBRID, "vllm-0.32.0", "8.6", GIB)

    assert newer.settings["kv_cache_dtype"] == "fp8"
    assert older.settings["kv_cache_dtype"] == "auto"
    assert newer.settings["max_model_len"] > older.settings["max_model_len"]


def test_a_volta_card_computes_in_half() -> None:
    """It has no bfloat16."""
    assert on_cards(LLAMA, "sm70-1cat-1.5.2", "7.0", 4 * GIB).settings["dtype"] == "half"


def test_unknown_bytes_give_a_modest_context() -> None:
    """Better a small one that starts than the model's own that does not."""
    assert on_cards(HYBRID, "vllm-0.32.0", "8.6", None).settings["max_model_len"] <= 8192
