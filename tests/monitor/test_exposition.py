"""What Prometheus reads: its own parser understands it, and every name is documented."""

import re
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from studio.domain.alarms import Alarm, Severity
from studio.domain.cards import CardSample
from studio.domain.control import KeyInfo
from studio.domain.metrics import Tick
from studio.domain.server import EngineSnapshot, EngineState
from studio.domain.spill import SpillFlow, SpillKind
from studio.monitor import exposition
from studio.monitor.exposition import Now

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "user" / "metrics.md"

NOW = Now(
    version="0.1.0",
    started_at=1_780_000_000.25,
    engine=EngineSnapshot(state=EngineState.READY, preset='a "strange"\nname\\', restarts=2),
    tick=Tick(
        at=1.0,
        pool_tokens=68_605,
        pool_used_share=0.25,
        decode_tokens_per_s=101.5,
        preemptions=3,
        waiting_by_reason={"capacity": 2},
        acceptance=(0.8, 0.5),
        cards=(
            CardSample(index=0, name="RTX 3090", power_w=250.5, sm_clock_mhz=1_395),
            CardSample(index=1, name="RTX 3090", power_w=0.0),
        ),
        spill=(SpillFlow(kind=SpillKind.SWAP, bytes=0), SpillFlow(kind=SpillKind.WDDM_SHARED)),
    ),
    in_flight=1,
    waiting=0,
    requests=99,
    alarms=(
        Alarm(
            code="spill-swap",
            severity=Severity.HARM,
            title="Swap",
            cause="Too much.",
            since=1,
            raised_at=2,
        ),
    ),
    keys=(
        KeyInfo(id="k1", name="laptop", prefix="sk", created_at="", prompt_tokens=12),
        KeyInfo(id="k2", name="日本", prefix="sk", created_at=""),
    ),
)


def samples(now: Now) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """Return what Prometheus' own parser reads."""
    families = text_string_to_metric_families(exposition.text(now).decode())
    return {
        (one.name, tuple(sorted(one.labels.items()))): one.value
        for family in families
        for one in family.samples
    }


def value(now: Now, name: str, **labels: str) -> float | None:
    """Return one value; labels that are not named may be anything."""
    for (found, given), number in samples(now).items():
        if found == name and labels.items() <= dict(given).items():
            return number
    return None


def test_values_and_labels_arrive_as_they_are() -> None:
    """Quotes, line ends and other scripts included; units are Prometheus' own."""
    assert value(NOW, "weir_pool_tokens") == 68_605
    assert value(NOW, "weir_decode_tokens_per_second") == 101.5
    assert value(NOW, "weir_preemptions_total") == 3
    assert value(NOW, "weir_requests_waiting_by_reason", reason="capacity") == 2
    assert value(NOW, "weir_draft_accepted_ratio", position="2") == 0.5
    assert value(NOW, "weir_engine_up", preset='a "strange"\nname\\') == 1
    assert value(NOW, "weir_engine_state", state="ready") == 1
    assert value(NOW, "weir_engine_state", state="failed") == 0
    assert value(NOW, "weir_card_sm_clock_hertz", card="0") == 1_395e6
    assert value(NOW, "weir_key_prompt_tokens_total", key="laptop") == 12
    assert value(NOW, "weir_alarm_active", code="spill-swap", severity="harm") == 1
    assert value(NOW, "weir_key_requests_total", key="日本") == 0
    assert value(NOW, "weir_service_start_time_seconds") == 1_780_000_000.25


def test_zero_is_there_and_unknown_is_not() -> None:
    """A gauge that shows zero where nothing is known raises false alarms."""
    assert value(NOW, "weir_card_power_watts", card="1") == 0
    assert value(NOW, "weir_spill_bytes", kind="swap") == 0
    assert value(NOW, "weir_spill_bytes", kind="wddm-shared") is None
    assert value(NOW, "weir_ttft_seconds") is None
    assert value(NOW._replace(tick=None), "weir_pool_tokens") is None


def test_each_family_is_announced_once() -> None:
    """The format wants all samples of a family together, below one heading."""
    text = exposition.text(NOW).decode()

    headings = re.findall(r"# TYPE (\S+) ", text)
    assert len(headings) == len(set(headings))
    assert text.endswith("\n")


def test_every_name_is_documented_and_no_other() -> None:
    """Dashboards are built on them, so they never change."""
    documented = set(re.findall(r"`(weir_\w+)`", DOCUMENT.read_text(encoding="utf-8")))

    assert {metric.name for metric in exposition.ALL} == documented


def test_names_follow_the_rules_of_prometheus() -> None:
    """Counters end in `_total`, and nothing else does."""
    for metric in exposition.ALL:
        assert re.fullmatch(r"weir_[a-z0-9_]+", metric.name)
        assert metric.name.endswith("_total") == (metric.kind == "counter")
