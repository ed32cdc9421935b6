"""What a service says of history, pool, speed and scraping."""

from collections.abc import Callable, Mapping

from studio.domain.history import (
    HistoryAnswer,
    HistoryEvent,
    HistoryEventKind,
    HistoryPage,
    HistoryRow,
    HistoryState,
    SeriesPoints,
)
from studio.domain.pool import PoolReport, Resident, ResidentState, Room
from studio.domain.scrape import ScrapeInfo, ScrapeToken
from studio.domain.speed import (
    KeySpeed,
    SpeedCause,
    SpeedFigure,
    SpeedReport,
    SpeedVerdict,
    SpeedVerdictKind,
)

SINCE = 1_780_000_000.0
ANSWER = HistoryAnswer(
    since=SINCE,
    until=SINCE + 100,
    step_s=1,
    series=(
        SeriesPoints(
            name="decode_tokens_per_s",
            unit="tok/s",
            points=(
                *((SINCE + s, 40.0, 50.0, 60.0) for s in range(50)),
                (SINCE + 50, None, None, None),
                *((SINCE + s, 0.0, 10.0, 20.0) for s in range(80, 100)),
            ),
        ),
        SeriesPoints(name="spill_bytes", unit="B"),
    ),
    events=(
        HistoryEvent(
            at=SINCE + 5, kind=HistoryEventKind.BOOT, name="27b-mtp", detail="Ready after 81 s."
        ),
        HistoryEvent(at=SINCE + 9, kind=HistoryEventKind.SERVICE_STOPPED, name="service"),
    ),
    known=("decode_tokens_per_s", "pool_used_tokens", "spill_bytes"),
)
PAGES = (
    HistoryPage(
        step_s=60,
        rows=(
            HistoryRow(at=SINCE, values={"decode_tokens_per_s": (1.0, 2.5, 4.0)}),
            HistoryRow(at=SINCE + 60),
        ),
        next_at=SINCE + 120,
        known=ANSWER.known,
    ),
    HistoryPage(
        step_s=60,
        rows=(HistoryRow(at=SINCE + 120, values={"spill_bytes": (0.0, 0.0, 0.0)}),),
        known=ANSWER.known,
    ),
)
STATE = HistoryState(
    file="/home/ada/weir-studio/history.db",
    bytes=12 << 20,
    most_bytes=256 << 20,
    oldest_at=SINCE,
    series=3,
    note="The history could not be read.",
)
POOL = PoolReport(
    at=SINCE,
    preset="27b-mtp",
    tokens=68_605,
    used_tokens=23_100,
    used_share=0.337,
    blocks=380,
    used_blocks=128,
    block_tokens=448,
    context_tokens=65_536,
    seats=8,
    concurrency=1.047,
    running=2,
    waiting=3,
    waiting_by_reason={"capacity": 3, "deferred": 0},
    residents=(
        Resident(
            request_id="b1946ac92492d2347c6235b4d2611184",
            key="laptop",
            state=ResidentState.WRITING,
            age_s=12.3,
            prompt_tokens=20_480,
            generated_tokens=512,
        ),
        Resident(request_id="a", key="日本", age_s=0.4, prompt_tokens=1_050, is_estimated=False),
    ),
    other_tokens=1_058,
    prefix_hit_share=0.86,
    external_hit_share=0.02,
    preemptions=4,
    forecast_tokens=68_605,
    forecast_error_tokens=0,
    forecast_note="The pool is what was forecast, to the token.",
    room=Room(sentence="Nothing more fits now: three requests wait already."),
)
SPEED = SpeedReport(
    at=SINCE,
    preset="27b-mtp",
    card="NVIDIA GeForce RTX 3090 at 350 W",
    running=2,
    decode_tokens_per_s=82.0,
    decode_tokens_per_s_each=41.0,
    prefill_tokens_per_s=1_200.0,
    tokens_per_step=3.1,
    acceptance=(0.8, 0.6, 0.4),
    step_s=0.069,
    ttft_p50_s=0.17,
    ttft_p95_s=1.2,
    itl_p50_s=0.024,
    itl_p95_s=0.031,
    keys=(KeySpeed(key="laptop", requests=12, generated_tokens=4_000, ttft_p50_s=0.2),),
    verdict=SpeedVerdict(
        kind=SpeedVerdictKind.SLOWER,
        cause=SpeedCause.DRAFTER,
        sentence="41.0 tok/s, published 52.0 tok/s on this card at 350 W: step time is as"
        " published, the drafter's guesses are taken less often (2.1 of 7).",
        figure=SpeedFigure(decode_tokens_per_s=52.0, card="RTX 3090", source="HyperQwen, speed"),
    ),
)
SCRAPE = ScrapeInfo(is_on=True, url="http://127.0.0.1:40001/metrics", port=40_001)
TOKEN = ScrapeToken(token="weir-metrics-abc")


def readers(
    query: Mapping[str, str], asked: list[dict[str, str]]
) -> dict[str, Callable[[], object]]:
    """Return what answers each path; what was asked is noted in `asked`."""
    is_first = float(query.get("since", "0")) < SINCE + 120
    answers: dict[str, object] = {
        "/history/series": ANSWER,
        "/history/rows": PAGES[0 if is_first else 1],
        "/history/state": STATE,
        "/pool": POOL,
        "/speed": SPEED,
        "/scrape": SCRAPE,
        "/scrape/token": TOKEN,
    }

    def noted(answer: object) -> Callable[[], object]:
        def read() -> object:
            asked.append(dict(query))
            return answer

        return read

    return {path: noted(answer) for path, answer in answers.items()}
