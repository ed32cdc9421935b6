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
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from pathlib import Path

from studio.domain.errors import Busy, EngineFailed, ErrorInfo, StudioError, from_info
from studio.domain.server import EngineSnapshot, EngineState
from studio.host import processes
from studio.host.http_client import Upstream
from studio.serving import machine
from studio.serving.command import Launch
from studio.serving.life import Life
from studio.serving.logs import LogKeeper
from studio.serving.machine import Effect, Input, Kind
from studio.serving.phases import Facts
from studio.serving.slow_paths import Watch

logger = logging.getLogger(__name__)

TERMINATE_S = 8.0
"""How long an engine may take to end after SIGTERM. The real one takes about 2 s, or hangs until
its clients time out when streams were running."""

Diagnose = Callable[[Sequence[str], int | None], ErrorInfo | None]

_UNEXPLAINED = ErrorInfo(
    code="engine-died",
    message="The engine ended and left no word.",
    hint="The last lines of its log may say more: `weir logs`.",
    exit_status=EngineFailed.exit_status,
)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """How to reach the engine that serves now."""

    upstream: Upstream
    key: str
    served_name: str


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
    ) -> None:
        self._home = home
        self._log = log
        self._diagnose = diagnose
        self._announce = publish
        self._drain = drain
        self._forecast_s = forecast_s
        self._watch = watch
        self._machine = machine.Machine()
        self._changed = asyncio.Event()
        self._tasks: asyncio.TaskGroup | None = None
        self._launch: Launch | None = None
        self._life: Life | None = None
        self._number = 0
        self._restarts = 0
        self._expected_boot_s: float | None = None
        self._error: ErrorInfo | None = None
        self._effects: dict[Effect, Callable[[Launch], None]] = {
            Effect.PREPARE: self._on_prepare,
            Effect.CANCEL_PREPARE: self._on_cancel,
            Effect.CANCEL_RETRY: self._on_cancel,
            Effect.SPAWN: self._on_spawn,
            Effect.DRAIN: self._on_drain,
            Effect.TERMINATE: self._on_terminate,
            Effect.KILL: self._on_kill,
            Effect.DIAGNOSE: self._on_diagnose,
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
        return Target(upstream=life.upstream, key=life.key, served_name=life.launch.served_name)

    @property
    def facts(self) -> Facts:
        """What the boot of the running engine said: bytes, tokens, seconds; empty without one."""
        return self._life.facts if self._life is not None else {}

    def snapshot(self) -> EngineSnapshot:
        """Return the engine as it is now."""
        launch, life = self._launch, self._life
        if launch is None:
            return EngineSnapshot(state=self._machine.state, error=self._error)
        snapshot = EngineSnapshot(
            state=self._machine.state,
            preset=launch.preset,
            served_name=launch.served_name,
            runtime=launch.runtime,
            runtime_id=launch.runtime_id,
            expected_boot_s=self._expected_boot_s,
            restarts=self._restarts,
            overrides=dict(launch.overrides),
            error=self._error,
        )
        return life.complete(snapshot) if life and self._machine.has_child else snapshot

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
            self._expected_boot_s = self._forecast_s(launch)
            self._happen(Input(kind=Kind.START))
        elif state in (EngineState.DRAINING, EngineState.STOPPING) or not self._runs(launch):
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
                    raise from_info(self._error or _UNEXPLAINED)
                case EngineState.STOPPED:
                    raise Busy("engine-stopped", "The engine was stopped before it was ready.")
                case _:
                    await self._changed.wait()

    async def stop(self) -> None:
        """End the engine cleanly (drain, SIGTERM, then SIGKILL); returns when nothing is left."""
        if self._machine.state is not EngineState.STOPPING:
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
        self._machine, effects = machine.step(before, happened)
        if self._machine.state is EngineState.READY:
            self._error = None  # what an earlier life died of is in the log
        launch = self._launch
        if effects and launch is not None:
            for effect in effects:
                self._effects[effect](launch)
        if self._machine is not before:
            self._publish()

    def _publish(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()
        self._announce(self.snapshot())

    def _on_prepare(self, launch: Launch) -> None:
        self._number += 1
        self._begin(self._prepare(launch, self._number), Kind.PREPARE_FAILED)

    def _on_cancel(self, _launch: Launch) -> None:
        self._number += 1

    def _on_spawn(self, launch: Launch) -> None:
        self._life = Life(
            launch,
            home=self._home,
            log=self._log,
            on_news=self._publish,
            watch=self._watch(launch) if self._watch is not None else None,
        )
        self._begin(self._live(self._life, self._number), Kind.EXITED)

    def _on_drain(self, launch: Launch) -> None:
        self._begin(self._drained(launch, self._number), Kind.DRAINED)

    def _on_terminate(self, _launch: Launch) -> None:
        if self._life is not None:
            self._life.terminate()
        self._begin(self._later(TERMINATE_S, Kind.OVERDUE, self._number), Kind.OVERDUE)

    def _on_kill(self, _launch: Launch) -> None:
        if self._life is not None:
            self._life.kill()

    def _on_diagnose(self, _launch: Launch) -> None:
        life = self._life
        if life is not None:
            self._error = self._diagnose(life.lines, life.exit_code) or life.last_words()

    def _on_arm_retry(self, _launch: Launch) -> None:
        self._restarts += 1
        delay_s = machine.retry_delay_s(self._machine)
        self._begin(self._later(delay_s, Kind.RETRY, self._number), Kind.RETRY)

    def _begin(self, work: Coroutine[None, None, None], at_failure: Kind) -> None:
        """Run `work`; should it fail, the machine gets `at_failure`, so that it never waits."""
        if self._tasks is None:
            work.close()
            raise RuntimeError("the supervisor is not running")
        self._tasks.create_task(self._guarded(work, at_failure, self._number))

    async def _guarded(
        self, work: Coroutine[None, None, None], at_failure: Kind, life: int
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

    def _fail(self, problem: ErrorInfo, at_failure: Kind, life: int) -> None:
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
        swept = await asyncio.to_thread(_clear_the_way, self._home, Path(launch.socket))
        if swept:
            logger.warning("ended %d engine processes of an earlier service: %s", len(swept), swept)
        self._happen(Input(kind=Kind.PREPARED), life)

    async def _live(self, life: Life, number: int) -> None:
        await life.run(
            on_ready=lambda: self._happen(Input(kind=Kind.BECAME_READY), number),
            on_unusable=lambda: self._happen(Input(kind=Kind.NOT_USABLE), number),
        )
        self._happen(Input(kind=Kind.EXITED), number)


def _clear_the_way(home: Path, socket: Path) -> list[int]:
    swept = processes.sweep(home)
    with contextlib.suppress(FileNotFoundError):
        socket.unlink()
    return swept
