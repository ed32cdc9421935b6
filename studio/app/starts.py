"""Starting, replacing and ending what serves: one start at a time, whoever asks for it.

An `up` runs in the task of its first caller, which the control server does not cancel when that
client goes away; later callers that ask for the same wait for the same outcome.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable
from typing import Protocol

import msgspec

from studio.app.adopt import Adopting
from studio.app.boots import Boots
from studio.app.cards import needs as card_needs
from studio.app.gateway import Door
from studio.app.insight import Insight
from studio.app.job import Job
from studio.app.last_failure import LastFailure
from studio.app.machine import Machine, in_words
from studio.app.rehearsal import Rehearsal
from studio.app.service_life import ServiceLife
from studio.app.stages import Stages
from studio.app.up import Choice, Up, already_running, describe, serves, switch_command
from studio.app.wiring import Parts
from studio.domain.control import Status, UpRequest, UpResult
from studio.domain.errors import BadInput, Busy, EngineNotReady, StudioError
from studio.domain.events import EngineChanged, Event, Stage, UpFinished
from studio.domain.server import EngineSnapshot, EngineState

logger = logging.getLogger(__name__)


class Around(Protocol):
    """What a start asks of the service: the facade, read when it is needed."""

    boots: Boots
    insight: Insight
    door: Door
    adopting: Adopting
    life: ServiceLife

    def status(self) -> Status:
        """Return one instant of everything."""


class Starts:
    """The start under way, if there is one, and what ends it."""

    def __init__(
        self,
        parts: Parts,
        around: Around,
        machine: Machine,
        *,
        stages: Stages,
        up: Up,
        rehearsal: Rehearsal,
        failed: LastFailure,
        publish: Callable[[Event], None],
    ) -> None:
        self._parts = parts
        self._around = around
        self._machine = machine
        self._stages = stages
        self._up = up
        self._rehearsal = rehearsal
        self._failed = failed
        self._publish = publish
        self._job: Job | None = None

    @property
    def is_under_way(self) -> bool:
        """Whether things are being fetched or an engine started."""
        return self._job is not None

    def engine(self) -> EngineSnapshot:
        """Return the engine; while a start fetches things for it, it is `preparing`."""
        engine = self._parts.engine.snapshot()
        idle = (EngineState.STOPPED, EngineState.FAILED)
        if self._job is not None and engine.state in idle:
            preset = self._job.request.preset or engine.preset
            return EngineSnapshot(state=EngineState.PREPARING, preset=preset)
        return self._around.boots.complete(engine)

    async def up(self, request: UpRequest) -> UpResult:
        """Serve a preset; joins an `up` under way that asks for the same.

        Raises: whatever a stage raises; Busy (`up-running`, `engine-busy`, `engine-adopted`).
        """
        self._machine.require_real()
        self._around.life.autostart.stand_down()
        self._parts.on_demand.taken_over(request.preset)
        return await self.serve(request)

    async def serve(self, request: UpRequest, *, is_asked: bool = True) -> UpResult:
        """Serve a preset for whoever needs it; without `is_asked` it is not kept as chosen."""
        self._around.adopting.refuse("no engine of the Studio's own can be served beside it")
        job = self._job
        if job is not None:
            if job.request != request:
                raise Busy(
                    "up-running",
                    "Another start is under way.",
                    hint="Wait for it, or end it with `weir stop`.",
                )
            job.is_asked = job.is_asked or is_asked
            return await asyncio.shield(job.outcome)
        task = asyncio.current_task()
        assert task is not None
        self._job = job = Job(request, task, is_asked=is_asked)
        self._failed.ask(request)
        error: StudioError | None = None
        try:
            result = await self._carry_out(job)
            await self._machine.look()  # what the cards hold now, for `weir status`
            job.outcome.set_result(result)
            logger.info("serving %s", describe(self.engine()))
            return result
        except StudioError as caught:
            error = caught
            raise
        except asyncio.CancelledError:
            if not job.is_cancelled:
                raise
            task.uncancel()
            error = Busy("up-stopped", "The start was stopped before it was finished.")
            raise error from None
        finally:
            self._job = None
            job.end(error)
            if error is not None:
                self._stages.fail(error.message)
            preset = request.preset or self._parts.settings.now.preset or ""
            self._parts.on_demand.ended(preset, error)
            self._publish(EngineChanged(engine=self.engine()))
            self._publish(UpFinished(preset=preset, error=error.info if error else None))

    async def switch(self, request: UpRequest) -> UpResult:
        """Replace what runs. What is asked for is checked before anything is stopped."""
        if request.preset is None:
            raise BadInput(
                "preset-missing",
                "Say which preset to switch to.",
                hint="`weir presets` lists them.",
            )
        self._around.adopting.refuse("no engine of the Studio's own can take its place")
        choice = await self.checked(request)
        with self._parts.supervisor.returning():  # meanwhile, requests wait
            if not serves(self._parts.supervisor.snapshot(), choice):
                await self._make_room(request.preset)
            return await self.up(request)

    async def checked(self, request: UpRequest) -> Choice:
        """Return what `request` asks for; refuse what could not be started."""
        choice = await self._up.choose(request)
        self._up.require(choice, request)
        await self._rehearsal.before(choice, request)
        return choice

    async def _make_room(self, preset: str | None) -> None:
        """Stop what serves for a person who starts something else next."""
        self._around.adopting.refuse("the Studio did not start it and does not stop it")
        self._around.life.autostart.stand_down()
        self._parts.on_demand.taken_over(preset)
        await self.halt()

    async def restart(self) -> UpResult:
        """Start what serves, or served last, again."""
        self._around.adopting.refuse("the Studio did not start it and cannot restart it")
        engine = self._parts.supervisor.snapshot()
        if engine.preset is None and self._parts.settings.now.preset is None:
            raise EngineNotReady(
                "nothing-to-restart", "Nothing has been started yet.", hint="`weir up` does that."
            )
        request = UpRequest()  # what served last, as it served, if that was not this service
        if engine.preset is not None:
            request = UpRequest(preset=engine.preset, overrides=self._around.boots.asked(engine))
        with self._parts.supervisor.returning():
            await self._make_room(request.preset)
            return await self.up(request)

    async def stop(self) -> Status:
        """End an `up` under way and the engine; the gateway stays and answers 503.

        Raises: Busy (`engine-adopted`).
        """
        self._around.adopting.refuse("the Studio did not start it and does not stop it")
        self._around.life.autostart.stand_down()
        self._parts.on_demand.hold()
        return await self.halt()

    async def halt(self) -> Status:
        """End a start under way and the engine, whoever wants it ended."""
        if self._job is not None:
            await self._job.cancel()
        await self._parts.supervisor.stop()
        await self._machine.look()
        return self._around.status()

    async def _carry_out(self, job: Job) -> UpResult:
        request = job.request
        self._up.check_words(request)  # a typing mistake is no failure of a stage
        self._stages.clear()
        self._stages.begin(Stage.DETECT)
        choice = await self._up.choose(request)
        self._stages.end(Stage.DETECT, in_words(choice.host))
        already = await self._already(choice, request)
        if already is not None:
            return already
        plan = await self._rehearsal.before(choice, request)
        warnings = (*plan.reasons, *plan.warnings)
        self._stages.warn(Stage.DETECT, warnings)
        self._around.boots.expect(plan)
        self._around.insight.expect(plan)
        needs = card_needs(plan, request)
        result = await self._up.run(choice, request, needs, is_asked=lambda: job.is_asked)
        await self._rehearsal.after(choice, result)
        return msgspec.structs.replace(result, warnings=warnings)

    async def _already(self, choice: Choice, request: UpRequest) -> UpResult | None:
        engine = self.engine()
        if engine.state is not EngineState.READY:
            return None
        if not serves(engine, choice):
            raise Busy(
                "engine-busy",
                f"`{engine.preset}` is being served.",
                hint=f"Replace it: `{switch_command(choice)}`.",
            )
        port = request.port or self._parts.settings.now.port
        return already_running(choice, engine, await self._around.door.open(port, request.consent))

    async def drain(self, within_s: float) -> None:
        """Wait until no answer is being generated, at most `within_s`."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                await self._parts.gateway.wait_idle()
        if (late := self._parts.on_demand.cut_reason()) is not None:
            self._parts.gateway.cut(late)
