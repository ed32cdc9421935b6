"""States of `weir top` for tests: made-up ticks of machines with no, one and eight cards."""

import math

from studio.cli.top_state import State
from studio.domain.alarms import Alarm, Severity
from studio.domain.cards import CardSample
from studio.domain.control import GatewayInfo, KeyInfo
from studio.domain.demand import NextStep, PresetQueue, Queue, QueuedRequest, Reason
from studio.domain.keys import RequestEntry
from studio.domain.metrics import Tick
from studio.domain.pool import PoolReport, Resident, ResidentState, Room
from studio.domain.remedies import Remedy, RemedyKind
from studio.domain.server import EngineSnapshot, EngineState
from studio.domain.speed import KeySpeed, SpeedReport, SpeedVerdict, SpeedVerdictKind
from studio.domain.spill import SpillFlow, SpillKind

NOW = 1_764_417_600.0
CHAT = "/v1/chat/completions"
GIB = 1 << 30
MIB = 1 << 20
ENGINE = EngineSnapshot(
    state=EngineState.READY,
    preset="27b-dflash2",
    served_name="qwen",
    boot_s=81.0,
    is_cold=False,
    pool_tokens=68_605,
)
QUIET = (
    SpillFlow(kind=SpillKind.SWAP, bytes=0, bytes_per_s=0.0),
    SpillFlow(kind=SpillKind.MEMORY_PRESSURE, share=0.0),
    SpillFlow(kind=SpillKind.CPU_KV_TIER, bytes=GIB, bytes_per_s=3.0 * MIB),
    SpillFlow(kind=SpillKind.EXPERT_RING, note="The engine does not say."),
)
SPILLED = (
    SpillFlow(
        kind=SpillKind.WDDM_SHARED, bytes=1_900 * MIB, since=NOW - 40, where="RTX 4090",
        bytes_per_s=600.0 * MIB,
    ),
    SpillFlow(kind=SpillKind.SWAP, note="Another container's swap is not seen."),
)  # fmt: skip
ALARM = Alarm(
    code="spill-wddm",
    severity=Severity.HARM,
    title="1.8 GiB in system memory",
    cause="The KV pin exceeds this host's line by 1.8 GiB.",
    evidence=("shared memory 1.86 GiB above its idle baseline for 40 s",),
    remedies=(
        Remedy(
            kind=RemedyKind.RESTART_WITH,
            text="Lower kv_cache_memory_bytes to 4,100,000,000 and restart.",
            settings={"kv_cache_memory_bytes": "4100000000"},
        ),
    ),
    since=NOW - 40,
    raised_at=NOW - 35,
    where="card 0",
)
NOTICE = Alarm(
    code="disk-low",
    severity=Severity.NOTICE,
    title="The disk fills up",
    cause="12 GiB are left.",
    since=NOW - 900,
    raised_at=NOW - 880,
)


POOL = PoolReport(
    at=NOW,
    residents=(
        Resident(
            request_id="req-7f3a0c51b7d2",
            key="laptop",
            state=ResidentState.WRITING,
            age_s=4.2,
            prompt_tokens=25_120,
            generated_tokens=310,
        ),
        Resident(request_id="req-1", key=None, age_s=0.4),
    ),
    room=Room(tokens=26_070, sentence="Room for one more conversation of 20,000 tokens."),
)
SPEED = SpeedReport(
    at=NOW,
    keys=(KeySpeed(key="laptop", tok_s_p50=41.3),),
    verdict=SpeedVerdict(
        kind=SpeedVerdictKind.SLOWER,
        sentence="41 tok/s, published 52 on this card at 350 W: steps are as published, the"
        " drafter's guesses are taken less often (2.1 of 7).",
    ),
)


def card(index: int = 0, **more: object) -> CardSample:
    """Return a busy card."""
    known: dict[str, object] = {
        "index": index,
        "uuid": f"GPU-{index}",
        "name": "NVIDIA GeForce RTX 3090",
        "memory_total_bytes": 24 * GIB,
        "memory_used_bytes": round(22.1 * GIB),
        "utilisation_share": 0.98,
        "controller_share": 0.61,
        "power_w": 248.3,
        "power_limit_w": 250.0,
        "sm_clock_mhz": 1_695,
        "memory_clock_mhz": 9_501,
        "temperature_c": 71,
        "throttle": ("sw-power-cap",),
        "pcie_rx_bytes_per_s": 120.0 * MIB,
        "pcie_tx_bytes_per_s": 3.0 * MIB,
        "ecc_uncorrected": 0,
    }
    return CardSample(**{**known, **more})


def ticks(
    cards: tuple[CardSample, ...] | None,
    spill: tuple[SpillFlow, ...] = QUIET,
    count: int = 120,
) -> list[Tick]:
    """Return ticks whose speeds go up and down, with a gap."""
    found = []
    for number in range(count):
        wave = 100 + 40 * math.sin(number / 9)
        is_gap = number % 50 == 20
        found.append(
            Tick(
                at=NOW - count + number + 1,
                pool_tokens=68_605,
                pool_used_tokens=42_535,
                pool_used_share=0.62,
                running=2,
                waiting=1,
                decode_tokens_per_s=None if is_gap else wave,
                prefill_tokens_per_s=900.0 if number % 17 == 0 else 0.0,
                ttft_s=0.174 if number % 17 == 1 else None,
                ttft_p50_s=0.174,
                ttft_p95_s=0.31,
                itl_p50_s=0.0253,
                itl_p95_s=0.031,
                step_s=0.0262,
                acceptance=(0.81, 0.62, 0.4),
                waiting_by_reason={"capacity": 1, "deferred": 0},
                tokens_per_step=3.1,
                prefix_hit_share=0.71,
                preemptions=0,
                requests_total=1_234,
                spill_bytes=sum(flow.bytes or 0 for flow in spill if flow.is_harmful),
                memory_used_bytes=11 * GIB,
                memory_bytes=24 * GIB,
                engine_rss_bytes=4 * GIB,
                cards=cards,
                spill=spill,
            )
        )
    return found


def keys(*names: str) -> list[KeyInfo]:
    """Return keys that were used."""
    return [
        KeyInfo(
            id=f"k{number}",
            name=name,
            prefix="sk-weir-01",
            created_at="2025-11-29T10:00:00+00:00",
            last_used_at="2025-11-29T11:59:00+00:00" if number else None,
            running=2 if number == 1 else 0,
            requests=10 * number,
            errors=number,
            prompt_tokens=1_000_000 * number,
            cached_tokens=700_000 * number,
            generated_tokens=30_000 * (9 - number),
        )
        for number, name in enumerate(names)
    ]


def requests(count: int) -> list[RequestEntry]:
    """Return requests, the last of which failed."""
    return [
        RequestEntry(
            at=f"2025-11-29T11:{number:02d}:00+00:00",
            request_id=f"r{number}",
            key_id="k1",
            key="laptop",
            route="/v1/chat/completions",
            model="qwen",
            address="127.0.0.1",
            status=503 if number == count - 1 else 200,
            code="engine-cut-off" if number == count - 1 else None,
            is_stream=True,
            has_client_left=False,
            is_estimated=False,
            ttft_s=0.31,
            duration_s=4.2,
            prompt_tokens=8_190,
            cached_tokens=8_064,
            generated_tokens=None if number == count - 1 else 512,
        )
        for number in range(count)
    ]


def state(
    cards: tuple[CardSample, ...] | None, spill: tuple[SpillFlow, ...] = QUIET, **more: object
) -> State:
    """Return a state of a service that serves."""
    found = State(
        engine=ENGINE,
        base_url="http://127.0.0.1:18020/v1",
        gateway=GatewayInfo(in_flight=3, waiting=1, requests=1_234),
        keys=keys("default", "laptop", "agent"),
        requests=requests(12),
        alarms=(),
        pool=POOL,
        speed=SPEED,
    )
    found.fill(ticks(cards, spill))
    for name, value in more.items():
        setattr(found, name, value)
    return found


QUEUE = Queue(
    presets=(
        PresetQueue(
            preset="27b-long",
            served_name="qwen-long",
            requests=(
                QueuedRequest(since=NOW - 31, key="laptop", route=CHAT, is_stream=True),
                QueuedRequest(since=NOW - 2, key="phone", route=CHAT, is_stream=False),
            ),
        ),
    ),
    waiting=2,
    next=NextStep(preset="27b-long", reason=Reason.RESIDENCE, at=NOW + 50),
)
STATES: dict[str, State] = {
    "none": state(None),
    "one": state((card(),)),
    "eight": state(tuple(card(n, name="NVIDIA H200") for n in range(8))),
    "no-card-listed": state(()),
    "unknown": state(
        (CardSample(index=0, name="NVIDIA GeForce RTX 3090", faults=("power: not supported",)),),
        (SpillFlow(kind=SpillKind.SWAP, note="The kernel does not tell."),),
        tick=None,
    ),
    "faulty": state((CardSample(index=0, name="card", faults=("power: not supported",)),)),
    "lost": state((card(), card(1, is_lost=True, utilisation_share=None))),
    "spilled": state((card(),), SPILLED, alarms=(NOTICE, ALARM)),
    "wide-names": state(
        (card(name="显卡" * 30), card(1, name="RTX " + "x" * 200)),
        keys=keys("默认密钥" * 10, "e\u0301" * 40, "tab\tand\x1b[31mred"),
    ),
    "queued": state((card(),), queue=QUEUE),
    "gone": state((card(),), gone="weir down"),
    "stopped": State(engine=EngineSnapshot(), keys=[], requests=[]),
    "empty": State(),
}
