"""What is kept of a boot."""

from studio.app.boot_record import recorded
from studio.app.boot_under_way import BootUnderWay
from studio.domain.boots import BootOutcome, BootRecord, BootTry
from studio.domain.server import BootPhase, EngineSnapshot, EngineState
from studio.domain.units import GIB
from studio.serving import phases
from studio.serving.boots import Outlook
from tests.app.boot_samples import REFUSED, about, engine
from tests.fakes import recordings

BOOTED = engine(
    EngineState.READY,
    (BootPhase.WEIGHTS, 0.0, 8.0),
    (BootPhase.COMPILE, 8.0, 70.0),
    boot_s=93.33,
)


def kept(
    now: EngineSnapshot, outcome: BootOutcome, facts: dict[str, int | float | str]
) -> BootRecord:
    """Return the record of a boot."""
    boot = BootUnderWay(
        began=1.0, attempt=BootTry.WARM, outlooks={True: Outlook(whole_s=90.0)}, guess=True
    )
    boot.learn(
        engine(EngineState.STARTING, (BootPhase.WEIGHTS, 0.0, 8.0), (BootPhase.COMPILE, 8.0, None)),
        facts,
    )
    start = about(held_bytes=5, driver="580", card_bytes=7, card_names=("GPU-1",))
    return recorded(start, boot, now, outcome, facts, at="2026-11-29T12:00:00+00:00")


def test_a_recorded_boot_on_a_card_is_kept_with_its_ledger() -> None:
    """The bytes are the engine's own, to the byte."""
    known, reader = phases.Known(), phases.Reader()
    for line in recordings.lines(recordings.ENGINE / "cuda-0.32" / "w3-compiled.log"):
        if (sign := reader.read(line)) is not None:
            known.learn(sign)

    record = kept(BOOTED, BootOutcome.SERVED, dict(known.facts))

    assert (record.outcome, record.attempt, record.is_cold, record.is_cold_certain) == (
        BootOutcome.SERVED,
        BootTry.WARM,
        True,
        True,
    )
    assert record.phases_s == {"weights": 8.0, "compile": 62.0}
    assert (record.boot_s, record.forecast_s) == (93.33, 90.0)
    assert (record.pool_tokens, record.max_model_len) == (493_062, 65_536)
    assert record.activation_peak_bytes == 2_522_877_952
    assert record.graph_pool_bytes == 71_303_168
    assert record.kv_error_bytes == 0
    assert (record.held_bytes, record.driver, record.card_bytes) == (5, "580", 7)
    assert "torch_compile_cache" in (record.compile_cache or "")


def test_a_refused_boot_keeps_its_code_and_the_phases_that_it_finished() -> None:
    """What it was compiling when it was refused has no end."""
    failed = EngineSnapshot(state=EngineState.FAILED, preset="p", error=REFUSED)

    record = kept(failed, BootOutcome.FAILED, {"kv_gib": 3.5, "saved": 1, "max_model_len": 4096})

    assert record.error == "kv-cache-too-small"
    assert record.phases_s == {"weights": 8.0}
    assert record.boot_s is None
    assert record.kv_bytes == round(3.5 * GIB)
    assert record.compile_cache == "/cache"


def test_an_engine_that_keeps_nothing_has_no_cache() -> None:
    """Its next boot will be cold again, and that is known before."""
    record = kept(BOOTED, BootOutcome.SERVED, {"cache_off": 1, "compile_cache": "/x"})

    assert record.compile_cache is None
