"""What only the home page knows: the plan of what is marked, the pool, alarms, queue, remedies."""

import msgspec

from studio.domain.alarms import Alarm, AlarmList, MuteRequest
from studio.domain.demand import Queue
from studio.domain.diagnosis import Fixed, FixRequest, Match, Offered, RemedyList
from studio.domain.errors import ErrorInfo
from studio.domain.events import AlarmChanged, EngineChanged, Event, PoolChanged, QueueChanged
from studio.domain.plans import Plan, PlanRequest
from studio.domain.pool import PoolReport
from studio.ui.area import Area
from studio.ui.bridge import Bridge


class Served(msgspec.Struct, frozen=True, kw_only=True):
    """All of it as it stands; None is not known."""

    plan: Plan | None = None
    plan_problem: ErrorInfo | None = None
    """Why there is no plan."""
    pool: PoolReport | None = None
    alarms: tuple[Alarm, ...] = ()
    queue: Queue | None = None
    offered: tuple[Offered, ...] = ()
    """What can be done about failure, slow paths and alarms, numbered by the service."""
    failure: Match | None = None
    """What failed last; None: nothing since it served."""
    is_planning: bool = False
    is_fixing: bool = False
    problem: ErrorInfo | None = None


class ServingArea(Area):
    """Follows the events; asks for a plan whenever another one is wanted, and drops stale ones."""

    def __init__(self, bridge: Bridge) -> None:
        super().__init__(bridge)
        self._now = Served()
        self._wanted: PlanRequest | None = None
        self._last_fix: FixRequest | None = None
        self._cause: object = None
        self._stale: set[str] = set()
        """Questions whose answer under way may be older than what was heard since."""
        bridge.opened.connect(self._on_opened)
        bridge.arrived.connect(self._on_arrived)

    @property
    def now(self) -> Served:
        """Return what is known."""
        return msgspec.structs.replace(
            self._now,
            is_planning="plan" in self.pending,
            is_fixing="fix" in self.pending,
            problem=self.problem,
        )

    def want_plan(self, request: PlanRequest | None) -> None:
        """Have `request` planned, unless it is or was just now."""
        if request != self._wanted:
            self._wanted = request
            self._keep(plan=None, plan_problem=None)
            self._plan()

    def plan_again(self) -> None:
        """Ask for the same plan once more: the machine may have changed."""
        self._plan()

    def fix(self, number: int, *, consent: bool = False) -> None:
        """Take the remedy of that number, as it was shown."""
        about = next((one.about for one in self._now.offered if one.number == number), None)
        self._last_fix = FixRequest(number=number, about=about, consent=consent)
        self._fix(self._last_fix)

    def fix_with_consent(self) -> bool:
        """Take the last remedy again with a yes; False when none was refused."""
        if self._last_fix is None or self.problem is None:
            return False
        self._fix(msgspec.structs.replace(self._last_fix, consent=True))
        return True

    def fix_again(self) -> bool:
        """Take the last remedy again; False when none was refused."""
        if self._last_fix is None or self.problem is None:
            return False
        self._fix(self._last_fix)
        return True

    def mute(self, code: str) -> None:
        """Silence an alarm as long as it holds."""
        request = MuteRequest(is_once=True)
        self.ask("mute", lambda client: client.mute_alarm(code, request), self._take_alarms)

    def unmute(self, code: str) -> None:
        """Hear of an alarm again."""
        self.ask("mute", lambda client: client.unmute_alarm(code), self._take_alarms)

    def _fix(self, request: FixRequest) -> None:
        self.problem = None
        self.ask("fix", lambda client: client.fix(request), self._on_fixed)

    def _on_fixed(self, _fixed: Fixed) -> None:
        self._last_fix = None
        self._look()

    def _plan(self) -> None:
        request = self._wanted
        if request is None:
            return

        def done(plan: Plan) -> None:
            if self._is_fresh("plan") and request == self._wanted:
                self._keep(plan=plan, plan_problem=None)
            else:
                self._plan()

        def failed(error: ErrorInfo) -> None:
            if self._is_fresh("plan") and request == self._wanted:
                self._keep(plan=None, plan_problem=error)
            else:
                self._plan()

        if not self.ask("plan", lambda client: client.plan(request), done, failed):
            self._stale.add("plan")

    def _is_fresh(self, name: str) -> bool:
        """Tell whether nothing happened since the question was asked; asked once."""
        fresh = name not in self._stale
        self._stale.discard(name)
        return fresh

    def _look(self) -> None:
        if not self.ask(
            "remedies", lambda client: client.remedies(), self._take_remedies, self._miss_remedies
        ):
            self._stale.add("remedies")

    def _take_remedies(self, found: RemedyList) -> None:
        if self._is_fresh("remedies"):
            self._keep(offered=found.offered, failure=found.failure)
        else:
            self._look()

    def _miss_remedies(self, _error: ErrorInfo) -> None:
        self._stale.discard("remedies")

    def _take_alarms(self, found: AlarmList) -> None:
        self._keep(alarms=found.active)

    def _take_first_alarms(self, found: AlarmList) -> None:
        if self._is_fresh("alarms"):
            self._take_alarms(found)
        else:
            self._ask_alarms()

    def _ask_alarms(self) -> None:
        self.ask("alarms", lambda client: client.alarms(), self._take_first_alarms, _ignore)

    def _take_pool(self, pool: PoolReport) -> None:
        if self._now.pool is None:  # an event that came meanwhile is newer
            self._keep(pool=pool)

    def _take_queue(self, queue: Queue) -> None:
        if self._now.queue is None:
            self._keep(queue=queue)

    def _keep(self, **fields: object) -> None:
        self._now = msgspec.structs.replace(self._now, **fields)
        self.changed.emit()

    def _on_opened(self, _opening: object) -> None:
        self._now = Served()
        self._stale.clear()
        self._ask_alarms()
        self.ask("pool", lambda client: client.pool(), self._take_pool, _ignore)
        self.ask("queue", lambda client: client.queue(), self._take_queue, _ignore)
        self._look()
        self._plan()

    def _on_arrived(self, events: tuple[Event, ...]) -> None:
        for event in events:
            match event:
                case PoolChanged(pool=pool):
                    self._keep(pool=pool)
                case QueueChanged(queue=queue):
                    self._keep(queue=queue)
                case AlarmChanged(alarm=alarm):
                    others = tuple(one for one in self._now.alarms if one.code != alarm.code)
                    mine = (alarm,) if alarm.ended_at is None else ()
                    self._keep(alarms=(*mine, *others))
                    if "alarms" in self.pending:
                        self._stale.add("alarms")
                    self._look()
                case EngineChanged(engine=engine):
                    cause = (engine.state, engine.error, engine.badges)
                    if cause != self._cause:
                        self._cause = cause
                        self._look()


def _ignore(_error: ErrorInfo) -> None:
    """Leave it not known: the page says what it has."""
