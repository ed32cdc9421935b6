"""The fake service's history, requests and alarms that are over: `FakeMonitor(service)`."""

import fnmatch
import math
import time
import urllib.parse
from collections.abc import Iterator

import msgspec

from studio.domain.alarms import Alarm, AlarmList, Mute, Severity
from studio.domain.history import (
    HistoryAnswer,
    HistoryEvent,
    HistoryEventKind,
    HistoryPage,
    HistoryRow,
    SeriesPoints,
)
from studio.domain.keys import RequestEntry
from studio.domain.series import patterns, unit_of
from tests.ui.fake_service import START, FakeService

ENGINE_SERIES = (
    "pool_tokens", "pool_used_tokens", "decode_tokens_per_s", "prefill_tokens_per_s", "running",
    "waiting", "ttft_p50_s", "ttft_p95_s", "itl_p50_s", "itl_p95_s", "end_to_end_p50_s",
    "end_to_end_p95_s", "tokens_per_step", "draft_accepted_share", "prefix_hit_share",
    "preemptions", "memory_used_bytes", "engine_rss_bytes", "spill.swap.bytes",
    "spill.cpu-kv-tier.bytes", "spill.swap.bytes_per_s", "spill.memory-pressure.share",
)  # fmt: skip
CARD_SERIES = (
    "utilisation_share",
    "memory_used_bytes",
    "power_w",
    "temperature_c",
    "sm_clock_mhz",
)
_LEVELS = {
    "pool_tokens": (68_605.0, 0.0),
    "pool_used_tokens": (34_000.0, 24_000.0),
    "decode_tokens_per_s": (128.0, 34.0),
    "prefill_tokens_per_s": (1_400.0, 900.0),
    "running": (4.0, 3.0),
    "waiting": (0.6, 0.9),
    "ttft_p50_s": (0.17, 0.05),
    "ttft_p95_s": (0.42, 0.2),
    "itl_p50_s": (0.021, 0.004),
    "itl_p95_s": (0.034, 0.01),
    "end_to_end_p50_s": (4.2, 1.5),
    "end_to_end_p95_s": (11.0, 4.0),
    "tokens_per_step": (3.6, 0.7),
    "draft_accepted_share": (0.62, 0.1),
    "prefix_hit_share": (0.43, 0.2),
    "preemptions": (3.0, 0.0),
    "memory_used_bytes": (13e9, 1e9),
    "engine_rss_bytes": (2.4e9, 1e8),
    "spill.swap.bytes": (0.4e9, 0.5e9),
    "spill.cpu-kv-tier.bytes": (3.1e9, 1.4e9),
    "spill.swap.bytes_per_s": (2e6, 2e6),
    "spill.memory-pressure.share": (0.02, 0.02),
    "utilisation_share": (0.86, 0.14),
    "power_w": (291.0, 60.0),
    "temperature_c": (67.0, 6.0),
    "sm_clock_mhz": (1_785.0, 120.0),
}
EVENTS = (
    (-840.0, HistoryEventKind.SERVICE_STARTED, "service", ""),
    (-790.0, HistoryEventKind.BOOT, "cpu-demo",
     "Ready after 49.8 s, warm; pool 68,605 tokens."),
    (-520.0, HistoryEventKind.ALARM, "spill-swap",
     "0.4 GiB in swap. The engine's memory was written to swap."),
    (-300.0, HistoryEventKind.DEATH, "cpu-demo", "The engine was killed. (engine-killed)"),
    (-244.0, HistoryEventKind.BOOT, "cpu-demo",
     "Ready after 46.1 s, warm; pool 68,605 tokens."),
    (-243.0, HistoryEventKind.SETTINGS, "cpu-demo", "max_num_seqs=8."),
)  # fmt: skip
GAP = (-300.0, -244.0)
"""Nothing is known while the engine is dead."""
ENDED = Alarm(
    code="throttled-heat",
    severity=Severity.WARNING,
    title="Card 0 slowed down by its heat",
    cause="The card is at 84 °C and runs at 1,410 of 1,980 MHz.",
    since=START - 700,
    raised_at=START - 690,
    ended_at=START - 510,
    where="card 0",
)


def value_at(name: str, at: float) -> float:
    """Return what a series was at a moment: the same whenever it is asked."""
    head, _, field = name.partition(".")
    is_card = head.startswith("card")
    level, swing = _LEVELS[field if is_card and field in _LEVELS else name]
    shift = float(head[4:]) * 1.7 if is_card else float(len(name))
    wave = math.sin(at / 47 + shift) * 0.6 + math.sin(at / 11 + 2 * shift) * 0.4
    found = max(0.0, level + swing * wave)
    return float(round(found)) if name in ("running", "waiting", "preemptions") else found


def request(number: int, **fields: object) -> RequestEntry:
    """Return one request of an afternoon."""
    at = START - 40.0 * number
    base = RequestEntry(
        at=time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(at)) + ".250",
        request_id=f"req-{number:05}",
        key_id="k1",
        key="Open WebUI" if number % 3 else "Cline on the laptop",
        route="/v1/chat/completions",
        model="smollm2-135m",
        address="127.0.0.1",
        status=200,
        code=None,
        is_stream=True,
        has_client_left=False,
        is_estimated=False,
        ttft_s=0.12 + number % 7 / 50,
        duration_s=2.4 + number % 11 / 3,
        prompt_tokens=1_200 + number * 37 % 5_000,
        cached_tokens=number * 53 % 1_100,
        generated_tokens=180 + number * 29 % 400,
        tok_s=86.0 + number * 7 % 40,
    )
    return msgspec.structs.replace(base, **fields)


def afternoon(count: int) -> tuple[RequestEntry, ...]:
    """Return requests, oldest first, a few of which went wrong."""
    wrong: dict[int, dict[str, object]] = {
        4: {"status": 400, "code": "key-context", "generated_tokens": None, "ttft_s": None,
            "tok_s": None, "reason": "The prompt of 9,120 tokens is longer than 8,192."},
        9: {"has_client_left": True, "is_estimated": True, "status": 499},
        15: {"adjusted": ("`max_tokens` lowered from 16,384 to 7,000",)},
    }  # fmt: skip
    return tuple(request(number, **wrong.get(number, {})) for number in reversed(range(count)))


class FakeMonitor:
    """State as attributes; `asked` is what came."""

    def __init__(self, service: FakeService, *, cards: int = 0) -> None:
        self.service = service
        self.known: tuple[str, ...] = ENGINE_SERIES + tuple(
            f"card{card}.{field}" for card in range(cards) for field in CARD_SERIES
        )
        self.entries: tuple[RequestEntry, ...] = ()
        self.events = EVENTS
        self.ended: tuple[Alarm, ...] = ()
        self.mutes: tuple[Mute, ...] = ()
        self.asked: list[tuple[str, dict[str, str]]] = []
        service.queried.append(self.answer)

    @property
    def now(self) -> float:
        """Return the newest second."""
        ticks = self.service.history
        return ticks[-1].at if ticks else START

    def answer(self, route: str, query: str) -> object:
        """Return what is asked of the monitor; None: it is something else."""
        values = dict(urllib.parse.parse_qsl(query))
        if route == "/alarms" and (self.ended or self.mutes):
            active = self.service.serving.alarms
            return AlarmList(active=active, ended=self.ended, mutes=self.mutes, is_watched=True)
        match route:
            case "/history/series":
                found: object = self._series(values)
            case "/history/rows":
                found = self._rows(values)
            case "/requests":
                found = self.entries
            case _:
                return None
        self.asked.append((route, values))
        return found

    def _names(self, values: dict[str, str]) -> list[str]:
        wanted = patterns(values.get("series", "pool").split(","))
        return [name for one in wanted for name in fnmatch.filter(self.known, one)]

    def _series(self, values: dict[str, str]) -> HistoryAnswer:
        since, until = float(values["since"]), float(values["until"])
        step_s = float(max(1, math.ceil((until - since) / (int(values["points"]) - 1))))
        return HistoryAnswer(
            since=since,
            until=until,
            step_s=step_s,
            series=tuple(
                SeriesPoints(
                    name=name,
                    unit=unit_of(name),
                    points=tuple(self._points(name, since, until, step_s)),
                )
                for name in self._names(values)
            ),
            events=tuple(
                HistoryEvent(at=self.now + at, kind=kind, name=name, detail=detail)
                for at, kind, name, detail in self.events
                if since <= self.now + at <= until
            ),
            known=self.known,
        )

    def _points(
        self, name: str, since: float, until: float, step_s: float
    ) -> Iterator[tuple[float, float | None, float | None, float | None]]:
        at = float(math.floor(since))
        is_engine = not name.startswith(("card", "memory"))
        while at < until:
            mean = value_at(name, at)
            spread = 0.0 if step_s <= 1 or name == "pool_tokens" else mean * 0.18
            if is_engine and self.now + GAP[0] <= at <= self.now + GAP[1]:
                yield at, None, None, None
            else:
                yield at, mean - spread, mean, mean + spread
            at += step_s

    def _rows(self, values: dict[str, str]) -> HistoryPage:
        since, names = math.floor(float(values["since"])), self._names(values)
        rows = tuple(
            HistoryRow(at=at, values={name: (value_at(name, at),) * 3 for name in names})
            for at in range(since, since + 3)
        )
        is_first = sum(route == "/history/rows" for route, _ in self.asked) == 0
        return HistoryPage(
            step_s=float(values.get("step", "1")),
            rows=rows,
            next_at=since + 3.0 if is_first else None,
            known=self.known,
        )
