"""What the fake service knows beside the engine: plans of real hosts, pool, alarms, remedies."""

from collections.abc import Callable
from pathlib import Path

import msgspec

from studio.domain.alarms import Alarm, AlarmList, Severity
from studio.domain.demand import Queue
from studio.domain.diagnosis import Fixed, FixRequest, Offered, RemedyList
from studio.domain.errors import ErrorInfo
from studio.domain.plans import Plan, PlanRequest
from studio.domain.pool import PoolReport, Resident, ResidentState, Room
from studio.domain.remedies import Remedy, RemedyKind

DATA = Path(__file__).resolve().parents[1] / "data" / "ui"


def recorded_plan(name: str) -> Plan:
    """Return a plan that the real planner made for a host of the catalogue."""
    return msgspec.json.decode((DATA / f"plan-{name}.json").read_bytes(), type=Plan)


SMALLER = Remedy(
    kind=RemedyKind.RESTART_WITH,
    text="Start again with a context of 1,024 tokens: longer prompts are refused.",
    settings={"max_model_len": "1024"},
)
BY_HAND = Remedy(
    kind=RemedyKind.COMMAND, text="Close the program that holds the card.", command="nvidia-smi"
)
SPILLS = Alarm(
    code="spill-swap",
    severity=Severity.HARM,
    title="1.8 GiB in swap",
    cause="The engine's memory was written to swap: every answer waits for the disk.",
    evidence=("VmSwap 1.8 GiB",),
    remedies=(SMALLER,),
    since=1_796_000_000.0,
    raised_at=1_796_000_010.0,
)
POOL_REPORT = PoolReport(
    at=1_796_000_000.0,
    tokens=68_605,
    used_tokens=30_000,
    residents=(
        Resident(
            request_id="r1",
            key="Open WebUI",
            model="chat",
            state=ResidentState.WRITING,
            age_s=12.0,
            prompt_tokens=18_000,
            generated_tokens=420,
            is_estimated=False,
        ),
        Resident(request_id="r2", model="chat", age_s=0.4, prompt_tokens=9_000),
    ),
    room=Room(tokens=38_605, sentence="Room for one more conversation of 20k tokens."),
)


def offered(number: int | None, about: str, remedy: Remedy) -> Offered:
    """Return one remedy with its number."""
    return Offered(number=number, about=about, remedy=remedy, command=remedy.command)


class FakeServing:
    """Routes and their state; `fixes` and `plans` are what was asked."""

    def __init__(self) -> None:
        self.plan: Plan | ErrorInfo = recorded_plan("processor")
        self.pool: PoolReport = PoolReport(at=0.0, room=Room(sentence="Nothing is served."))
        self.alarms: tuple[Alarm, ...] = ()
        self.offered: tuple[Offered, ...] = ()
        self.fixed: Fixed | ErrorInfo = ErrorInfo(code="nothing-to-fix", message="All is well.")
        self.plans: list[PlanRequest] = []
        self.fixes: list[FixRequest] = []

    def answer(self, route: str, body: bytes) -> Callable[[], object] | None:
        """Return how a route is answered; None: it is not one of these."""
        if route.startswith("/alarms/"):
            code, _, deed = route.removeprefix("/alarms/").partition("/")
            return lambda: self._mute(code, is_muted=deed == "mute")
        routes: dict[str, Callable[[], object]] = {
            "/plan": lambda: self._plan(body),
            "/pool": lambda: self.pool,
            "/alarms": lambda: AlarmList(active=self.alarms, is_watched=True),
            "/gateway/queue": Queue,
            "/remedies": lambda: self._fix(body) if body else RemedyList(offered=self.offered),
        }
        return routes.get(route)

    def _plan(self, body: bytes) -> object:
        self.plans.append(msgspec.json.decode(body, type=PlanRequest))
        return self.plan

    def _fix(self, body: bytes) -> object:
        self.fixes.append(msgspec.json.decode(body, type=FixRequest))
        return self.fixed

    def _mute(self, code: str, *, is_muted: bool) -> object:
        self.alarms = tuple(
            msgspec.structs.replace(one, is_muted=is_muted) if one.code == code else one
            for one in self.alarms
        )
        return AlarmList(active=self.alarms, is_watched=True)
