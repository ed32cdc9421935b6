"""Keeps one engine: performs what machine.py decides, and is the only one that feeds it.

Rules. `_happen` is the single way to change the state; it runs on the event loop and never waits.
Everything slow is a task of `run`'s group and reports back through `_happen`, marked with the life
it belongs to, so that news of an earlier engine changes nothing.
"""

import asyncio
import contextlib
import dataclasses
import logging
import time
import uuid
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from pathlib import Path

import msgspec

from studio.domain.errors import Busy, EngineFailed, ErrorInfo, StudioError, from_info
from studio.domain.metrics import EngineSample
from studio.domain.server import EngineSnapshot, EngineState
from studio.domain.settings import CareSettings
from studio.serving import deaths, evidence, machine
from studio.serving.command import Launch
from studio.serving.ground import Ground
from studio.serving.life import Life, Target
from studio.serving.logs import LogKeeper
from studio.serving.machine import Effect, Ending, Input, Kind, Policy
from studio.serving.phases import Facts
from studio.serving.slow_paths import Watch
from studio.serving.vigil import Vigil

logger = logging.getLogger(__name__)

TERMINATE_S = 8.0
"""How long an engine may take to end after SIGTERM. The real one takes about 2 s, or hangs until
its clients time out when streams were running."""

LAST_WORDS_S = 0.5
"""How long the rest of an engine may speak after one of its processes is gone: the reason comes in
0.1 to 0.3 s, the end of the process only 5 s later (seen with vLLM 0.32)."""

Diagnose = Callable[[Sequence[str], int | None], Awaitable[ErrorInfo | None]]
"""Lines and exit code to what failed; does its work elsewhere than on the event loop."""


class Supervisor:
    """One engine. `run` must be running for anything to happen."""

    def __init__(
        self,
        *,
        home: Path,
        log: LogKeeper,
        diagnose: Diagnose,
        publish: Callable[[EngineSnapshot], None],
        drain: Callable[[float], Awaitable[None]],
        forecast_s: Callable[[Launch], float | None],
        watch: Callable[[Launch], Watch] | None = None,
        care: Callable[[], CareSettings] = CareSettings,
        ground: Ground | None = None,
        before_start: Callable[[Launch], Awaitable[None]] | None = None,
    ) -> None:
        """`care`: what follows a death and a standstill, as it holds at the moment.

        `before_start` is waited for before each start, also those that nobody asked for.
        """
        self._home = home
        self._crashes = home / "logs" / "crashes"
        self._care = care
        self._ground = ground if ground is not None else Ground(home)
        self._note: str | None = None
        self._returning = 0
        self._log = log
        self._diagnose = diagnose
        self._announce = publish
        self._drain = drain
        self._forecast_s = forecast_s
        self._watch = watch
        self._before_start = before_start
        self._machine = machine.Machine()
        self._changed = asyncio.Event()
        self._tasks: asyncio.TaskGroup | None = None
        self._launch: Launch | None = None
        self._life: Life | None = None
        self._vigil: Vigil | None = None
        self._number = 0
        self._restarts = 0
        self._expected_boot_s: float | None = None
        self._error: ErrorInfo | None = None
        self._past = evidence.last(self._crashes)
        self._is_first = True
        self._effects: dict[Effect, Callable[[Launch], None]] = {
            Effect.PREPARE: self._on_prepare,
            Effect.CANCEL_PREPARE: self._on_cancel,
            Effect.CANCEL_RETRY: self._on_cancel,
            Effect.SPAWN: self._on_spawn,
            Effect.DRAIN: self._on_drain,
            Effect.TERMINATE: self._on_terminate,
            Effect.KILL: self._on_kill,
            Effect.KILL_SOON: self._on_kill_soon,
            Effect.DIAGNOSE: self._on_diagnose,
            Effect.BRAKE: self._on_brake,
            Effect.TELL_STALL: self._on_tell_stall,
            Effect.ARM_RETRY: self._on_arm_retry,
        }

    # -- what others may ask ---------------------------------------------------------------

    @property
    def state(self) -> EngineState:
        """Where the engine stands; advisory, for nothing that changes it."""
        return self._machine.state

    @property
    def target(self) -> Target | None:
        """The engine to send new requests to; None unless it is ready."""
        life = self._life
        if life is None or self._machine.state is not EngineState.READY:
            return None
        return life.target

    @property
    def facts(self) -> Facts:
        """What the boot of the running engine said: bytes, tokens, seconds; empty without one."""
        return self._life.facts if self._life is not None else {}

    def snapshot(self) -> EngineSnapshot:
        """Return the engine as it is now."""
        launch, life = self._launch, self._life
        if launch is None:
            snapshot = EngineSnapshot(state=self._machine.state, error=self._error, note=self._note)
            return evidence.with_past(snapshot, self._past)
        snapshot = EngineSnapshot(
            state=self._machine.state,
            note=self._note,
            preset=launch.preset,
            served_name=launch.served_name,
            runtime=launch.runtime,
            runtime_id=launch.runtime_id,
            expected_boot_s=self._expected_boot_s,
            restarts=self._restarts,
            overrides=dict(launch.overrides),
            error=self._error,
        )
        snapshot = evidence.with_past(snapshot, self._past)
        if life is None or not self._machine.has_child:
            return snapshot
        return deaths.with_standstill(life.complete(snapshot), life.liveness)

    @property
    def remaining_s(self) -> float | None:
        """Seconds until it should be ready; None: not coming, or not known."""
        if self._expected_boot_s is None or not self.is_coming:
            return None
        life = self._life
        is_booting = life is not None and self._machine.state is EngineState.STARTING
        elapsed_s = life.elapsed_s if life is not None and is_booting else 0.0
        return max(0.0, self._expected_boot_s - elapsed_s)

    @property
    def is_coming(self) -> bool:
        """Whether an engine will be ready by itself, if nothing else goes wrong."""
        return bool(self._returning) or machine.is_coming(self._machine)

    async def next_target(self) -> Target | None:
        """Wait for the engine that is coming; None as soon as none is."""
        while True:
            target = self.target
            if target is not None or not self.is_coming:
                return target
            await self._changed.wait()

    @contextlib.contextmanager
    def returning(self) -> Iterator[None]:
        """Take it that another engine follows, also while this one is stopped for it."""
        self._returning += 1
        try:
            yield
        finally:
            self._returning -= 1
            self._wake()

    def see(self, sample: EngineSample | None, in_flight: int) -> None:
        """Take one reading of the engine's figures, and act when it stands still.

        `in_flight`: requests that the gateway has with it. Call it about once a second.
        """
        life = self._life
        if life is None or self._machine.state is not EngineState.READY:
            return
        chosen_s = self._care().stall_s
        stall_s = life.launch.stall_s if chosen_s is None else chosen_s
        if self._vigil is not None:
            self._vigil.see(sample, in_flight, stall_s)

    def refresh(self) -> None:
        """Announce the engine again: something about it is known that its log does not say."""
        self._publish()

    async def run(self) -> None:
        """Serve until cancelled; on the way out the engine is ended and waited for."""
        try:
            async with asyncio.TaskGroup() as tasks:
                self._tasks = tasks
                await asyncio.Event().wait()
        finally:
            self._tasks = None

    async def ensure_ready(self, launch: Launch) -> EngineSnapshot:
        """Start the engine with `launch` unless it runs, and wait until it generated a token.

        Raises: EngineFailed and its kin with evidence; Busy (`engine-busy`, `engine-stopped`).
        """
        state = self._machine.state
        if state in (EngineState.STOPPED, EngineState.FAILED, EngineState.BACKING_OFF):
            self._launch, self._error, self._restarts = launch, None, 0
            self._past, self._is_first = self._past if self._is_first else None, False
            self._expected_boot_s = self._forecast_s(launch)
            self._happen(Input(kind=Kind.START))
        elif not machine.is_coming(self._machine) or not self._runs(launch):
            served = f" with `{self._launch.preset}`" if self._launch else ""
            raise Busy(
                "engine-busy",
                f"The engine is {state.value}{served}.",
                hint="Wait for it, or end it with `weir stop`.",
            )
        while True:
            match self._machine.state:
                case EngineState.READY:
                    return self.snapshot()
                case EngineState.FAILED:
                    raise from_info(self._error or deaths.UNEXPLAINED)
                case EngineState.STOPPED:
                    raise Busy("engine-stopped", "The engine was stopped before it was ready.")
                case _:
                    await self._changed.wait()

    async def stop(self) -> None:
        """End the engine cleanly (drain, SIGTERM, then SIGKILL); returns when nothing is left."""
        self._happen(Input(kind=Kind.STOP))
        while self._machine.state is not EngineState.STOPPED:
            if self._machine.state is EngineState.FAILED:
                self._happen(Input(kind=Kind.STOP))
            else:
                await self._changed.wait()
        self._error = None

    def _runs(self, launch: Launch) -> bool:
        """Tell whether what runs is `launch`, but for the name of its socket."""
        known = self._launch
        return known is not None and launch.at_socket(known.socket) == known

    # -- the machine -----------------------------------------------------------------------

    def _happen(self, happened: Input, life: int | None = None) -> None:
        if life is not None and life != self._number:
            return
        before = self._machine
        happened = dataclasses.replace(happened, at_s=time.monotonic())
        care = self._care()
        policy = Policy(on_death=care.on_death, on_stall=care.on_stall)
        self._machine, effects = machine.step(before, happened, policy)
        if happened.kind is Kind.BECAME_READY:
            self._error = None  # what an earlier life died of is in the log
            self._note = None
        launch = self._launch
        if effects and launch is not None:
            for effect in effects:
                self._effects[effect](launch)
        if self._machine is not before:
            self._publish()

    def _publish(self) -> None:
        self._wake()
        self._announce(self.snapshot())

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    def _say(self, note: str | None) -> None:
        if note != self._note:
            self._note = note
            self._publish()

    def _on_prepare(self, launch: Launch) -> None:
        self._number += 1
        self._begin(self._prepare(launch, self._number), Kind.PREPARE_FAILED)

    def _on_cancel(self, _launch: Launch) -> None:
        self._number += 1

    def _on_spawn(self, launch: Launch) -> None:
        life = Life(
            launch,
            home=self._home,
            log=self._log,
            on_news=self._publish,
            watch=self._watch(launch) if self._watch is not None else None,
        )
        self._life, self._vigil = life, self._watch_over(life, self._number)
        self._begin(self._live(life, self._number), Kind.EXITED)

    def _on_drain(self, launch: Launch) -> None:
        self._begin(self._drained(launch, self._number), Kind.DRAINED)

    def _on_terminate(self, _launch: Launch) -> None:
        if self._life is not None:
            self._life.terminate()
        self._begin(self._later(TERMINATE_S, Kind.OVERDUE, self._number), Kind.OVERDUE)

    def _on_kill(self, _launch: Launch) -> None:
        if self._life is not None:
            self._life.kill()

    def _on_kill_soon(self, _launch: Launch) -> None:
        self._begin(self._later(LAST_WORDS_S, Kind.OVERDUE, self._number), Kind.OVERDUE)

    def _on_diagnose(self, _launch: Launch) -> None:
        life = self._life
        if life is None:
            return
        self._error = life.verdict or life.last_words()
        if life.boot_s is not None:
            self._begin(self._keep_evidence(life, self._number))

    def _on_brake(self, _launch: Launch) -> None:
        self._error = deaths.brake(self._error or deaths.UNEXPLAINED)

    def _on_tell_stall(self, launch: Launch) -> None:
        life = self._life
        if life is not None:
            self._error = deaths.standstill(launch.preset, life.liveness)
            self._log.note(self._error.message, level="warning")
            self._publish()

    def _on_arm_retry(self, _launch: Launch) -> None:
        self._restarts += 1
        self._past = evidence.Past((self._error or deaths.UNEXPLAINED).message, time.time())
        delay_s = machine.retry_delay_s(self._machine)
        self._begin(self._later(delay_s, Kind.RETRY, self._number), Kind.RETRY)

    def _watch_over(self, life: Life, number: int) -> Vigil:
        def on_stalled() -> None:
            life.problem = deaths.standstill(life.launch.preset, life.liveness)
            self._happen(Input(kind=Kind.STALLED), number)

        def on_moving() -> None:
            life.problem = None
            if self._error is not None and self._error.code == deaths.STALLED:
                self._error = None
            self._log.note("The engine moves again.")
            self._publish()

        def on_dead(problem: ErrorInfo) -> None:
            life.problem = problem
            self._happen(Input(kind=Kind.PART_DIED), number)

        return Vigil(
            life,
            begin=self._begin,
            on_stalled=on_stalled,
            on_moving=on_moving,
            on_dead=on_dead,
            on_news=self._publish,
        )

    def _begin(self, work: Coroutine[None, None, None], at_failure: Kind | None = None) -> None:
        """Run `work`; should it fail, the machine gets `at_failure`, so that it never waits."""
        if self._tasks is None:
            work.close()
            raise RuntimeError("the supervisor is not running")
        self._tasks.create_task(self._guarded(work, at_failure, self._number))

    async def _guarded(
        self, work: Coroutine[None, None, None], at_failure: Kind | None, life: int
    ) -> None:
        try:
            await work
        except StudioError as error:
            self._fail(error.info, at_failure, life)
        except Exception:
            incident = uuid.uuid4().hex[:8]
            logger.exception("supervisor task failed, id %s", incident)
            info = ErrorInfo(
                code="internal",
                message=f"The Studio made a mistake while keeping the engine (id {incident}).",
                hint="The service's log has the details under this id: `weir logs`.",
                exit_status=EngineFailed.exit_status,
            )
            self._fail(info, at_failure, life)

    def _fail(self, problem: ErrorInfo, at_failure: Kind | None, life: int) -> None:
        if at_failure is None:
            logger.warning("%s", problem.message)
            return
        if life == self._number and at_failure in (Kind.PREPARE_FAILED, Kind.EXITED):
            self._error = problem
            if self._life is not None:
                self._life.problem = problem
        self._happen(Input(kind=at_failure), life)

    # -- the slow parts --------------------------------------------------------------------

    async def _later(self, delay_s: float, kind: Kind, life: int) -> None:
        await asyncio.sleep(delay_s)
        self._happen(Input(kind=kind), life)

    async def _drained(self, launch: Launch, life: int) -> None:
        await self._drain(launch.drain_s)
        self._happen(Input(kind=Kind.DRAINED), life)

    async def _prepare(self, launch: Launch, life: int) -> None:
        def say(note: str | None) -> None:
            if life == self._number:
                self._say(note)

        done = await self._ground.clear(launch, say)
        if done is not None:
            self._log.note(done, level="warning")
        say(done)
        self._happen(Input(kind=Kind.PREPARED), life)

    async def _live(self, life: Life, number: int) -> None:
        def happen(kind: Kind) -> None:
            self._happen(Input(kind=kind), number)

        def on_start(leader: int) -> None:
            self._begin(self._own(leader))

        def on_ready() -> None:
            happen(Kind.BECAME_READY)
            self._begin(self._learn_regions(life))

        if self._before_start is not None:
            await self._before_start(life.launch)
        await life.run(
            on_start=on_start,
            on_ready=on_ready,
            on_unusable=lambda: happen(Kind.NOT_USABLE),
            on_part_died=lambda killed: happen(Kind.PART_KILLED if killed else Kind.PART_DIED),
        )
        await self._explain(life)
        if self._machine.state is EngineState.STOPPING and self._machine.ending is Ending.ASKED:
            await asyncio.to_thread(self._ground.released)
            await self._ground.after_end(life.launch, self._say)
        happen(Kind.EXITED)
        if self._machine.state is EngineState.FAILED:  # otherwise the next start does it
            await asyncio.to_thread(self._ground.released)

    async def _explain(self, life: Life) -> None:
        """Find out why it ended, before the machine hears that it did."""
        state, ending = self._machine.state, self._machine.ending
        is_asked = state is EngineState.STOPPING and ending is Ending.ASKED
        if is_asked or state is EngineState.DRAINING:
            return
        said = life.said if ending is Ending.USELESS else life.lines
        found = await self._diagnose(said, life.died_by)
        life.verdict = deaths.with_end(found, life.lost_part, life.last_lines)

    async def _own(self, leader: int) -> None:
        await asyncio.to_thread(self._ground.own, leader)

    async def _learn_regions(self, life: Life) -> None:
        await asyncio.to_thread(self._ground.learn_regions, life.parts)

    async def _keep_evidence(self, life: Life, number: int) -> None:
        """Write down what is known of a death, and name the place in the error."""
        error, snapshot = self._error, self.snapshot()
        death = evidence.Death(
            at=evidence.now_text(),
            deaths=deaths.counted(len(self._machine.crashes_at_s), error),
            exit_code=life.exit_code,
            error=error,
            engine=snapshot,
        )
        kept = await asyncio.to_thread(evidence.keep, self._crashes, death, life.lines)
        is_shown = number == self._number and self._error is error
        if kept is not None and error is not None and is_shown:
            data = {**error.data, "folder": str(kept)}
            self._error = msgspec.structs.replace(error, data=data)
            self._publish()
