"""The fake service's models on demand, rules for requests, and versions of the program."""

from collections.abc import Callable

import msgspec

from studio.domain.demand import DemandChange, DemandPreset, DemandReport, DemandSettings
from studio.domain.gateway import Adjustment, AdjustmentChange, AdjustmentList
from studio.domain.self_update import Came, UpdateApplyRequest, UpdateState, UpdateStatus

RULE = Adjustment(
    id="stop-empty",
    what="Empty stop words are left out.",
    why="Some libraries always send them; vLLM answers 400 (tried).",
    source="vLLM 0.32",
    routes=("/v1/chat/completions",),
    is_on=True,
    is_default=True,
    is_asked=False,
    times=12,
)
PROGRAM = UpdateStatus(
    version="1.0.0",
    came=Came.RUN,
    feed="https://releases.example/feed.json",
    previous="0.9.4",
)


class FakeDemand:
    """Keeps what may start on demand, and what was asked."""

    def __init__(self, asked: list[tuple[str, object]]) -> None:
        self.asked = asked
        self.demand = DemandReport(settings=DemandSettings())
        self.rules = AdjustmentList(adjustments=(RULE,))
        self.program = PROGRAM

    def reads(self) -> dict[str, object]:
        """Return what can be asked for."""
        return {
            "/gateway/on-demand": self.demand,
            "/gateway/adjustments": self.rules,
            "/update": self.program,
        }

    def post(self, route: str, body: bytes) -> object:
        """Return what a change comes to; None: it is something else."""
        writes: dict[str, Callable[[bytes], object]] = {
            "/gateway/on-demand": self._on_demand,
            "/gateway/adjustments": self._on_adjust,
            "/update/check": lambda _body: self._stand(UpdateState.OFFERED),
            "/update/get": lambda _body: self._stand(UpdateState.STAGED),
            "/update/apply": self._on_apply,
            "/update/rollback": lambda _body: self._stand(UpdateState.WAITING),
        }
        return writes[route](body) if route in writes else None

    def _on_demand(self, body: bytes) -> object:
        change = msgspec.json.decode(body, type=DemandChange)
        self.asked.append(("demand", change))
        kept = tuple(one for one in self.demand.presets if one.preset != change.remove)
        if change.preset is not None:
            kept = (*kept, DemandPreset(preset=change.preset, ttl_s=1_800.0, names=("smollm2",)))
        self.demand = msgspec.structs.replace(self.demand, presets=kept)
        return self.demand

    def _on_adjust(self, body: bytes) -> object:
        change = msgspec.json.decode(body, type=AdjustmentChange)
        self.asked.append(("adjust", change))
        self.rules = msgspec.structs.replace(
            self.rules, are_off=change.id == "all" and change.is_on is False
        )
        return self.rules

    def _on_apply(self, body: bytes) -> object:
        wanted = msgspec.json.decode(body, type=UpdateApplyRequest).wanted
        return self._stand(UpdateState.WAITING if wanted else UpdateState.STAGED)

    def _stand(self, state: UpdateState) -> UpdateStatus:
        self.asked.append(("program", state))
        self.program = msgspec.structs.replace(
            self.program,
            state=state,
            offered="1.1.0",
            waiting="1.1.0" if state is UpdateState.WAITING else None,
            bytes=41 << 20,
            changes=("Charts are quicker.",),
        )
        return self.program
