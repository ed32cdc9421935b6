"""What a start is held against before it happens, and what it teaches afterwards."""

from collections.abc import Callable, Mapping

from studio.app.boots_seen import Served
from studio.app.line_speed import LineSpeed
from studio.app.plans import Plans
from studio.app.up import Choice
from studio.domain.control import UpRequest, UpResult
from studio.domain.plans import Plan
from studio.presets import resolve

Facts = Mapping[str, int | float | str]


class Rehearsal:
    """Plans a start, and keeps what its boot was seen to hold."""

    def __init__(self, plans: Plans, facts: Callable[[], Facts], line: LineSpeed) -> None:
        """`facts` tells what the running engine's boot said."""
        self._plans = plans
        self._facts = facts
        self._line = line

    async def before(self, choice: Choice, request: UpRequest) -> Plan:
        """Return the plan of a start; refuse one that does not fit.

        Raises: HostLacks (`plan-does-not-fit`, `plan-spills`).
        """
        return await self._plans.require(
            choice.preset,
            choice.recipe,
            choice.host,
            overrides=choice.overrides,
            gpus=choice.gpus,
            allow_spill=request.allow_spill,
        )

    async def after(self, choice: Choice, result: UpResult) -> None:
        """Keep what the boot was seen to hold, for the next forecast."""
        facts = dict(self._facts())
        await self._plans.seen.learn_download(*self._line.take())
        resolved = resolve.resolve(choice.preset, choice.facts, choice.overrides)
        used = set(choice.facts.gpus)
        served = Served(
            preset=choice.preset.id,
            runtime_id=result.runtime_id,
            settings=resolved.settings,
            cards=tuple(card for card in choice.host.gpus if card.index in used),
        )
        await self._plans.seen.learn(served, facts, boot_s=result.boot_s)
