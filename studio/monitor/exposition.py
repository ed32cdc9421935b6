"""What the Studio knows now → the text that Prometheus reads. Pure.

Format: text exposition 0.0.4. What is not known is left out: a gauge that stays at its last value,
or falls to zero, would lie. Names and units follow Prometheus' own advice: base units, `_total` on
counters, ratios from 0 to 1. They are documented in docs/user/metrics.md and never change.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import msgspec

from studio.domain.alarms import Alarm
from studio.domain.cards import CardSample
from studio.domain.control import KeyInfo
from studio.domain.metrics import Tick
from studio.domain.server import EngineSnapshot, EngineState

MEDIA_TYPE = b"text/plain; version=0.0.4; charset=utf-8"


class Metric(NamedTuple):
    """One family."""

    name: str
    kind: str
    help: str
    factor: float = 1.0


def _gauge(name: str, text: str, factor: float = 1.0) -> Metric:
    return Metric(name, "gauge", text, factor)


def _counter(name: str, text: str) -> Metric:
    return Metric(name, "counter", text)


OF_TICK: Mapping[str, Metric] = {
    "pool_tokens": _gauge("weir_pool_tokens", "Tokens that the KV pool holds."),
    "pool_used_tokens": _gauge("weir_pool_used_tokens", "Tokens in the pool now."),
    "pool_used_share": _gauge("weir_pool_used_ratio", "How full the pool is."),
    "running": _gauge("weir_requests_running", "Requests that the engine works on."),
    "waiting": _gauge("weir_requests_waiting", "Requests that wait in the engine."),
    "prefill_tokens_per_s": _gauge(
        "weir_prefill_tokens_per_second", "Prompt tokens computed a second."
    ),
    "decode_tokens_per_s": _gauge("weir_decode_tokens_per_second", "Tokens generated a second."),
    "ttft_s": _gauge("weir_ttft_seconds", "Mean time to the first token, of the last ones."),
    "ttft_p50_s": _gauge("weir_ttft_p50_seconds", "Half of the first tokens of a minute."),
    "ttft_p95_s": _gauge("weir_ttft_p95_seconds", "95 % of the first tokens of a minute."),
    "itl_p50_s": _gauge("weir_token_interval_p50_seconds", "Half of the times between tokens."),
    "itl_p95_s": _gauge("weir_token_interval_p95_seconds", "95 % of the times between tokens."),
    "end_to_end_p50_s": _gauge(
        "weir_request_p50_seconds", "Half of the requests that ended in the last minute."
    ),
    "end_to_end_p95_s": _gauge(
        "weir_request_p95_seconds", "95 % of the requests that ended in the last minute."
    ),
    "draft_accepted_share": _gauge(
        "weir_draft_tokens_accepted_ratio", "Drafted tokens that were accepted, over ten seconds."
    ),
    "step_s": _gauge("weir_step_seconds", "Mean time of one step while it generates."),
    "external_hit_share": _gauge(
        "weir_external_hit_ratio", "Prompt tokens found behind a connector, over a minute."
    ),
    "kv_load_bytes_per_s": _gauge(
        "weir_kv_load_bytes_per_second", "From the KV tier in host memory back onto the card."
    ),
    "kv_store_bytes_per_s": _gauge(
        "weir_kv_store_bytes_per_second", "From the card to the KV tier in host memory."
    ),
    "tokens_per_step": _gauge("weir_tokens_per_step", "Tokens for each step with speculation."),
    "prefix_hit_share": _gauge(
        "weir_prefix_hit_ratio", "Prompt tokens found in the prefix cache, over a minute."
    ),
    "preemptions": _counter(
        "weir_preemptions_total", "Requests put back because the pool was full."
    ),
    "requests_total": _counter(
        "weir_requests_finished_total", "Requests that the engine finished."
    ),
    "spill_bytes": _gauge("weir_spill_harmful_bytes", "Bytes that lie where they hurt."),
    "memory_used_bytes": _gauge("weir_memory_used_bytes", "Memory of the machine in use."),
    "memory_bytes": _gauge("weir_memory_bytes", "Memory of the machine."),
    "engine_rss_bytes": _gauge("weir_engine_resident_bytes", "Memory of the engine's processes."),
}
OF_CARD: Mapping[str, Metric] = {
    "memory_total_bytes": _gauge("weir_card_memory_bytes", "Memory of the card."),
    "memory_used_bytes": _gauge("weir_card_memory_used_bytes", "Memory of the card in use."),
    "utilisation_share": _gauge("weir_card_utilisation_ratio", "Time in which a kernel ran."),
    "controller_share": _gauge(
        "weir_card_memory_controller_ratio", "Time in which the memory was read or written."
    ),
    "power_w": _gauge("weir_card_power_watts", "Power drawn."),
    "power_limit_w": _gauge("weir_card_power_limit_watts", "Power allowed."),
    "sm_clock_mhz": _gauge("weir_card_sm_clock_hertz", "Clock of the processors.", 1e6),
    "memory_clock_mhz": _gauge("weir_card_memory_clock_hertz", "Clock of the memory.", 1e6),
    "temperature_c": _gauge("weir_card_temperature_celsius", "Temperature."),
    "pcie_rx_bytes_per_s": _gauge("weir_card_pcie_receive_bytes_per_second", "Bytes to it."),
    "pcie_tx_bytes_per_s": _gauge("weir_card_pcie_transmit_bytes_per_second", "Bytes from it."),
    "ecc_uncorrected": _counter(
        "weir_card_ecc_uncorrected_total", "Memory errors since the driver was loaded."
    ),
}
OF_SPILL: Mapping[str, Metric] = {
    "bytes": _gauge("weir_spill_bytes", "Bytes that lie beside the pool, by kind."),
    "bytes_per_s": _gauge("weir_spill_bytes_per_second", "Bytes that move, by kind."),
    "share": _gauge("weir_spill_pressure_ratio", "Time lost waiting for memory, by kind."),
}
OF_KEY: Mapping[str, Metric] = {
    "requests": _counter("weir_key_requests_total", "Requests of a key."),
    "errors": _counter("weir_key_errors_total", "Requests of a key that failed."),
    "prompt_tokens": _counter("weir_key_prompt_tokens_total", "Prompt tokens of a key."),
    "cached_tokens": _counter("weir_key_cached_tokens_total", "Prompt tokens found in the cache."),
    "generated_tokens": _counter("weir_key_generated_tokens_total", "Tokens generated for a key."),
}
BUILD = _gauge("weir_build_info", "The Studio that answers; always 1.")
STARTED = _gauge("weir_service_start_time_seconds", "When the service started.")
UP = _gauge("weir_engine_up", "1 when requests are answered.")
STATE = _gauge("weir_engine_state", "1 for the state that the engine is in, 0 for the others.")
RESTARTS = _gauge("weir_engine_restarts", "How often the engine was started again after a death.")
WAITING = _gauge("weir_requests_waiting_by_reason", "Requests that wait, and why.")
ACCEPTED = _gauge("weir_draft_accepted_ratio", "Drafts whose guess at this position was taken.")
ALARM = _gauge("weir_alarm_active", "1 for each alarm that holds.")
IN_FLIGHT = _gauge("weir_gateway_in_flight", "Requests that the gateway has sent to the engine.")
HELD = _gauge("weir_gateway_waiting", "Requests that wait for an engine on its way.")
TAKEN = _counter("weir_gateway_requests_total", "Requests that went to the engine.")
ALL = (
    BUILD, STARTED, UP, STATE, RESTARTS, IN_FLIGHT, HELD, TAKEN, WAITING, ACCEPTED, ALARM,
    *OF_TICK.values(), *OF_CARD.values(), *OF_SPILL.values(), *OF_KEY.values(),
)  # fmt: skip

Labels = Mapping[str, str]
Sample = tuple[Labels, float]


class Now(NamedTuple):
    """What is known at one instant."""

    version: str
    started_at: float
    engine: EngineSnapshot
    tick: Tick | None
    in_flight: int
    waiting: int
    requests: int
    keys: tuple[KeyInfo, ...] = ()
    alarms: tuple[Alarm, ...] = ()


def text(now: Now) -> bytes:
    """Return the whole text."""
    return "".join(_lines(now)).encode()


def _lines(now: Now) -> Iterator[str]:
    engine, tick = now.engine, now.tick
    yield from _family(BUILD, [({"version": now.version}, 1)])
    yield from _family(STARTED, [({}, now.started_at)])
    labels = {"preset": engine.preset or "", "runtime": engine.runtime or ""}
    yield from _family(UP, [(labels, float(engine.is_serving))])
    states = [({"state": one.value}, float(one is engine.state)) for one in EngineState]
    yield from _family(STATE, states)
    yield from _family(RESTARTS, [({}, engine.restarts)])
    yield from _family(IN_FLIGHT, [({}, now.in_flight)])
    yield from _family(HELD, [({}, now.waiting)])
    yield from _family(TAKEN, [({}, now.requests)])
    yield from _family(ALARM, [(_of_alarm(one), 1) for one in now.alarms])
    if tick is not None:
        yield from _families(OF_TICK, [({}, tick)])
        reasons = (tick.waiting_by_reason or {}).items()
        yield from _family(WAITING, [({"reason": reason}, count) for reason, count in reasons])
        taken = enumerate(tick.acceptance or (), 1)
        yield from _family(ACCEPTED, [({"position": str(n)}, share) for n, share in taken])
        yield from _families(OF_CARD, [(_of_card(card), card) for card in tick.cards or ()])
        flows = [({"kind": one.kind.value, "where": one.where or ""}, one) for one in tick.spill]
        yield from _families(OF_SPILL, flows)
    yield from _families(OF_KEY, [({"key": one.name, "id": one.id}, one) for one in now.keys])


def _of_card(card: CardSample) -> Labels:
    return {"card": str(card.index), "name": card.name, "uuid": card.uuid or ""}


def _of_alarm(alarm: Alarm) -> Labels:
    return {"code": alarm.code, "severity": alarm.severity.value, "where": alarm.where or ""}


def _families(
    table: Mapping[str, Metric], records: Iterable[tuple[Labels, msgspec.Struct]]
) -> Iterator[str]:
    """Yield one family for each field, over all records that know it."""
    known = list(records)
    for field, metric in table.items():
        values = [(labels, getattr(record, field)) for labels, record in known]
        yield from _family(metric, [(la, value) for la, value in values if value is not None])


def _family(metric: Metric, samples: Iterable[Sample]) -> Iterator[str]:
    is_first = True
    for labels, value in samples:
        if is_first:
            yield f"# HELP {metric.name} {metric.help}\n# TYPE {metric.name} {metric.kind}\n"
            is_first = False
        yield f"{metric.name}{_labels(labels)} {_number(value * metric.factor)}\n"


def _labels(labels: Labels) -> str:
    inside = ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items())
    return f"{{{inside}}}" if inside else ""


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))
