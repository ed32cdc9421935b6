"""The pool in detail: joins what the engine says, what the gateway knows, and what was planned."""

import time
from collections.abc import Callable

from studio.domain.events import Event, PoolChanged
from studio.domain.metrics import EngineSample, Tick
from studio.domain.plans import Plan
from studio.domain.pool import PoolReport, Resident
from studio.domain.server import EngineSnapshot
from studio.domain.units import tokens_text
from studio.monitor.room import room

Residents = Callable[[float], tuple[Resident, ...]]
"""Given the tokens of one piece of an answer, returns the requests under way."""


class Pool:
    """One per service."""

    def __init__(
        self,
        *,
        engine: Callable[[], EngineSnapshot],
        tick: Callable[[], Tick | None],
        residents: Residents,
        publish: Callable[[Event], None],
    ) -> None:
        self._engine = engine
        self._tick = tick
        self._residents = residents
        self._publish = publish
        self._plan: Plan | None = None
        self._sample: EngineSample | None = None
        self._told: tuple[object, ...] = ()

    def expect(self, plan: Plan) -> None:
        """Take up what was planned for the start that comes next."""
        self._plan = plan

    def see(self, sample: EngineSample | None) -> None:
        """Take up what the engine says of its blocks; None: it did not answer."""
        self._sample = sample

    def hear_tick(self, _tick: Tick) -> None:
        """Announce the pool when something of it has changed that people can see."""
        report = self.now()
        told = (report.room, report.waiting, tuple(one.request_id for one in report.residents))
        if told != self._told:
            self._told = told
            self._publish(PoolChanged(pool=report))

    async def report(self) -> PoolReport:
        """Return the pool as it is now."""
        return self.now()

    def now(self) -> PoolReport:
        """Return the pool as it is now."""
        engine = self._engine()
        tick = (self._tick() if engine.is_serving else None) or Tick(at=time.time())
        sample = (self._sample if engine.is_serving else None) or EngineSample()
        plan = self._plan_of(engine)
        tokens = tick.pool_tokens if tick.pool_tokens is not None else engine.pool_tokens
        context = engine.max_model_len
        residents = self._sorted(tick)
        seats = plan.seats if plan is not None else None
        return PoolReport(
            at=tick.at,
            preset=engine.preset if engine.adopted is None else engine.adopted.name,
            tokens=tokens,
            used_tokens=tick.pool_used_tokens,
            used_share=tick.pool_used_share,
            blocks=sample.blocks,
            used_blocks=_part(tick.pool_used_share, sample.blocks),
            block_tokens=sample.block_size,
            context_tokens=context,
            seats=seats,
            concurrency=tokens / context if tokens is not None and context else None,
            running=tick.running,
            waiting=tick.waiting,
            waiting_by_reason=tick.waiting_by_reason,
            residents=residents,
            other_tokens=_others(tick.pool_used_tokens, residents, sample.block_size or 1),
            prefix_hit_share=tick.prefix_hit_share,
            external_hit_share=tick.external_hit_share,
            preemptions=tick.preemptions,
            forecast_tokens=plan.pool_tokens if plan is not None else None,
            forecast_error_tokens=plan.pool_tokens_error if plan is not None else None,
            forecast_note=_compared(engine.pool_tokens, plan),
            room=room(
                pool_tokens=tokens,
                used_tokens=tick.pool_used_tokens,
                running=tick.running,
                waiting=tick.waiting,
                seats=seats,
                context_tokens=context,
                block_tokens=sample.block_size,
            ),
        )

    def _plan_of(self, engine: EngineSnapshot) -> Plan | None:
        """Return the plan of what is being served; an adopted server has none."""
        plan = self._plan
        is_its = plan is not None and engine.adopted is None and plan.preset == engine.preset
        return plan if is_its else None

    def _sorted(self, tick: Tick) -> tuple[Resident, ...]:
        found = self._residents(tick.tokens_per_step or 1.0)
        return tuple(sorted(found, key=lambda one: (-(one.tokens or 0), -one.age_s)))


def _part(share: float | None, whole: int | None) -> int | None:
    return None if share is None or whole is None else round(share * whole)


def _others(used: int | None, residents: tuple[Resident, ...], block: int) -> int | None:
    """Return what of the pool the residents do not explain; None where one of them is unknown.

    Each takes whole blocks, and its next token may have a block already.
    """
    held = [one.tokens for one in residents]
    known = [one for one in held if one is not None]
    if used is None or len(known) < len(held):
        return None
    return max(0, used - sum(-(-(one + 1) // block) * block for one in known))


def _compared(printed: int | None, plan: Plan | None) -> str | None:
    if printed is None or plan is None or plan.pool_tokens is None:
        return None
    off, error = printed - plan.pool_tokens, plan.pool_tokens_error
    if off == 0:
        return "The pool is what was forecast, to the token."
    way = "larger" if off > 0 else "smaller"
    text = f"The pool is {tokens_text(abs(off))} {way} than forecast"
    if not error:
        return f"{text} ({tokens_text(plan.pool_tokens)})."
    is_within = abs(off) <= error
    return f"{text}, {'within' if is_within else 'beyond'} its error bar of ±{error:,}."
