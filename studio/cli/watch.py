"""Follow the service's events while a command runs: stages first, then the live line.

One task in a task group reads the stream; dropping it is what releases a held service.
"""

import asyncio
import contextlib
import dataclasses
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar, assert_never

import msgspec

from studio.cli import alarm_text, alarm_words, render, words
from studio.cli.console import Console, plain
from studio.cli.progress import stages_for
from studio.cli.reach import Connector, running_or_none
from studio.domain.alarms import Alarm
from studio.domain.errors import EngineFailed, StudioError, from_info
from studio.domain.events import (
    AlarmChanged,
    CacheFound,
    DownloadsChanged,
    EngineChanged,
    Event,
    GatewayChanged,
    KeysChanged,
    LogAppended,
    ModelsChanged,
    PoolChanged,
    QueueChanged,
    ServiceStopping,
    StageProgress,
    StageState,
    Ticked,
    UpFinished,
)
from studio.domain.metrics import Tick
from studio.domain.server import EngineSnapshot, EngineState

if TYPE_CHECKING:
    from studio.control.client import ControlClient

T = TypeVar("T")

_OPENED_WITHIN_S = 10.0
"""The service sends its present state at once; past this, the stream is of no help anyway."""
_FINISHED_WITHIN_S = 0.5
"""Answer and events travel on two connections; a missing last event must not hold up the answer."""
_TERMINAL_S = 1.0
_LINE_EVERY_S = 10.0
"""Where the live line cannot replace itself, one is enough in this time."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """Why the stream of events is over; without either, it was cut off."""

    reason: str | None = None
    """What the service said when it went down."""
    error: StudioError | None = None


class Watch:
    """What one terminal shows of the stream of events."""

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        self.opened = asyncio.Event()
        self._finished = asyncio.Event()
        self.console = console
        self._clock = clock
        self._stages = stages_for(console)
        self._early: list[StageProgress] = []
        self._engine = EngineSnapshot()
        self._tick: Tick | None = None
        self._is_live = False
        self._told: tuple[float, str] | None = None
        self._warned: set[str] = set()

    async def follow(self, client: "ControlClient", *, hold: bool) -> Ending:
        """Show events until there is nothing more to show; return why."""
        try:
            async with contextlib.aclosing(client.events(hold=hold)) as events:
                async for event in events:
                    if isinstance(event, ServiceStopping):
                        return Ending(reason=event.reason)
                    self.take(event)
        except StudioError as error:
            return Ending(error=error)
        return Ending()

    def take(self, event: Event) -> None:
        """Show one event.

        Raises: EngineFailed, after `go_live` only, when the engine was given up.
        """
        match event:
            case StageProgress():
                self._stage(event)
            case EngineChanged():
                self._engine_changed(event.engine)
            case Ticked():
                self._tick = self._with_last_ttft(event.tick)
                self._show_live()
            case UpFinished():
                self._finished.set()
            case AlarmChanged():
                self._alarm(event.alarm)
            case LogAppended() | GatewayChanged() | KeysChanged() | PoolChanged():
                pass
            case CacheFound() | QueueChanged() | DownloadsChanged() | ModelsChanged():
                pass
            case ServiceStopping():
                pass
            case _:
                assert_never(event)

    def _alarm(self, alarm: Alarm) -> None:
        """Tell of an alarm that is new or over, above the live line."""
        if alarm.ended_at is not None:
            self.console.note(alarm_text.over_line(alarm))
        elif not alarm.is_muted:
            self.console.note(f"{alarm_text.head(alarm)}. {alarm.cause} {alarm_words.SEE_MORE}")

    def _with_last_ttft(self, tick: Tick) -> Tick:
        """Keep the newest TTFT on show: most seconds have no first token in them."""
        last = self._tick
        if tick.ttft_s is None and tick.running is not None and last is not None:
            return msgspec.structs.replace(tick, ttft_s=last.ttft_s)
        return tick

    def expect_finish(self) -> None:
        """Forget that an earlier `up` finished; call before each new one."""
        self._finished.clear()

    async def last_stages(self) -> None:
        """Wait for the stages that were announced before the answer came."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_FINISHED_WITHIN_S):
                await self._finished.wait()

    def go_live(self) -> None:
        """Show the live line from now on instead of stages."""
        self.pause()
        self._is_live = True

    def pause(self) -> None:
        """Leave the stages standing, so that words can be written below them."""
        self._stages.close()

    def _stage(self, progress: StageProgress) -> None:
        if not self.opened.is_set():
            self._early.append(progress)
        elif not self._is_live:
            self._show(progress)

    def _show(self, progress: StageProgress) -> None:
        """Show a stage, and what its start is warned of, once."""
        self._stages.show(progress)
        for warning in progress.warnings:
            if warning not in self._warned:
                self._warned.add(warning)
                self._stages.say(words.WARNING.format(text=plain(warning)))

    def _engine_changed(self, engine: EngineSnapshot) -> None:
        self._engine = engine
        if not self.opened.is_set():
            self.opened.set()
            # The stream begins with the stages of the last `up`: news only if that still runs.
            if any(one.state is StageState.RUNNING for one in self._early):
                for one in self._early:
                    self._show(one)
        if not self._is_live:
            return
        self._show_live()
        if engine.state is EngineState.FAILED:
            raise from_info(engine.error) if engine.error else _died()

    def _show_live(self) -> None:
        if not self._is_live:
            return
        if self._tick is None and self._engine.is_serving:
            return  # nothing is known yet; the first tick is at most a second away
        text = render.live_line(self._engine, self._tick, self.console.width)
        if self.console.err_is_terminal:
            self.console.live(text)
            return
        now = self._clock()
        if self._told is None or (text != self._told[1] and now - self._told[0] >= _LINE_EVERY_S):
            self._told = (now, text)
            self.console.note(text)


async def watched(
    connector: Connector, console: Console, operation: "Callable[[ControlClient], Awaitable[T]]"
) -> T:
    """Run something long; a service that is started for it ends when its stream is dropped."""
    client = await running_or_none(connector)
    if client is None:
        client = await connector.connect(start=True, hold=True)
    try:
        async with watching(client, Watch(console), hold=True):
            return await operation(client)
    finally:
        await client.close()


async def _end_with(console: Console) -> None:
    """End as a shell would end us when the terminal is gone.

    The kernel tells only the session's leader, which may be a `make` that passes nothing on.
    """
    while True:
        await asyncio.sleep(_TERMINAL_S)
        if console.has_hung_up():
            signal.raise_signal(signal.SIGHUP)


def _died() -> EngineFailed:
    return EngineFailed("engine-failed", words.ENGINE_DIED, hint=words.HINT_LOGS)


@contextlib.asynccontextmanager
async def watching(
    client: "ControlClient", watch: Watch, *, hold: bool
) -> AsyncIterator["asyncio.Task[Ending]"]:
    """Follow the events while inside; yield the task that ends when the stream does.

    An error of the inside comes out by itself, not in a group.
    """
    try:
        async with asyncio.TaskGroup() as group:
            stream = group.create_task(watch.follow(client, hold=hold))
            terminal = group.create_task(_end_with(watch.console))
            try:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(_OPENED_WITHIN_S):
                        await watch.opened.wait()
                yield stream
            finally:
                watch.pause()
                stream.cancel()
                terminal.cancel()
    except BaseExceptionGroup as errors:
        raise _first(errors) from None


def _first(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    found: BaseException = errors
    while isinstance(found, BaseExceptionGroup):
        found = found.exceptions[0]
    return found
