"""The one object that knows both threads: Qt's, and the one with the asyncio loop.

Qt calls a method here and returns at once; whatever comes of it comes back as a signal, on Qt's
thread. The loop holds the `ControlClient`, finds the service again when it goes away, and hands
events over in batches, four times a second at most, the first of a quiet spell at once.
"""

from __future__ import annotations

import asyncio
import functools
import logging
import secrets
import threading
from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, TypeVar

import msgspec
from PySide6.QtCore import QObject, Signal

from studio.domain.control import KeyRequest, UpRequest
from studio.domain.errors import ErrorInfo, ServiceUnreachable, StudioError
from studio.domain.events import Event, LogAppended, ServiceStopping
from studio.ui.state import Action, Opening
from studio.ui.viewmodels.problem import fault_info

if TYPE_CHECKING:  # httpx takes a fifth of a second to import; the first picture need not wait
    from studio.control.client import ControlClient

    Connect = Callable[[], Awaitable[ControlClient]]
    Here = Callable[[], ControlClient]
    Ask = Callable[[ControlClient], Awaitable[object]]
    Work = Callable[[], Awaitable[Callable[[], None]]]

T = TypeVar("T")

HISTORY_S = 300
LOG_LINES = 5_000
_BATCH_S = 0.25
_QUIET_S = 30.0
"""The monitor ticks once a second, so a stream this quiet is dead."""
_PARTING_S = 2.0
"""How long a service that said goodbye may keep its stream open."""
_PAUSES_S = (0.5, 1.0, 2.0, 4.0)
_CLOSE_S = 5.0

_logger = logging.getLogger(__name__)


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What came of an action: `value`, or `error`."""

    action: Action
    value: object = None
    error: ErrorInfo | None = None


class Farewell(msgspec.Struct, frozen=True, kw_only=True):
    """The service is gone; `announced` when it said so itself."""

    reason: str
    announced: bool


class Bridge(QObject):
    """Signals: `opened` (Opening), `arrived` (tuple of events), `closed` (Farewell), `answered`,
    `replied` (what `ask` calls next).
    """

    opened = Signal(object)
    arrived = Signal(object)
    closed = Signal(object)
    answered = Signal(object)
    replied = Signal(object)

    def __init__(
        self, connect: Connect, join: Connect | None = None, here: Here | None = None
    ) -> None:
        """Reach the service by `connect`, which may start it; `join` must not start one.

        `here` answers what needs no service, on this machine; None: nothing here does.
        """
        super().__init__()
        self._connect = connect
        self._join = join
        self._here = here
        self._loop: asyncio.AbstractEventLoop | None = None
        self._running = threading.Event()
        self._thread = threading.Thread(target=self._run, name="weir-bridge", daemon=True)
        self._client: ControlClient | None = None
        self._was_open = False
        self.replied.connect(self._on_replied)

    def start(self) -> None:
        """Begin to look for the service."""
        self._thread.start()
        self._running.wait()

    def close(self) -> None:
        """Let go of the service; whatever runs there goes on."""
        if self._loop is not None and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._ended.set)
            self._thread.join(_CLOSE_S)

    def up(self, request: UpRequest) -> None:
        """Ask to serve a preset."""
        self._submit(Action.UP, lambda client: client.up(request))

    def switch(self, request: UpRequest) -> None:
        """Ask to serve another preset."""
        self._submit(Action.SWITCH, lambda client: client.switch(request))

    def restart(self) -> None:
        """Ask to restart the engine."""
        self._submit(Action.RESTART, lambda client: client.restart())

    def stop(self) -> None:
        """Ask to stop the engine."""
        self._submit(Action.STOP, lambda client: client.stop())

    def status(self) -> None:
        """Ask how service and host stand."""
        self._submit(Action.STATUS, lambda client: client.status())

    def list_keys(self) -> None:
        """Ask for the keys and their usage."""
        self._submit(Action.LIST_KEYS, lambda client: client.keys())

    def fetch_log(self, after: int) -> None:
        """Ask for the log lines after a sequence number."""
        self._submit(Action.FETCH_LOG, lambda client: client.logs(lines=LOG_LINES, after=after))

    def create_key(self, request: KeyRequest) -> None:
        """Ask for a new key."""
        self._submit(Action.CREATE_KEY, lambda client: client.create_key(request))

    def revoke_key(self, key_id: str) -> None:
        """Ask to revoke a key."""
        self._submit(Action.REVOKE_KEY, lambda client: client.revoke_key(key_id))

    def report(self) -> None:
        """Ask for all that a report would hold."""
        self._submit(Action.REPORT, lambda client: client.report_preview())

    def start_service(self) -> None:
        """Start the service again after it had ended on purpose."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._wanted.set)

    def ask(
        self,
        question: Callable[[ControlClient], Awaitable[T]],
        done: Callable[[T], None],
        failed: Callable[[ErrorInfo], None],
    ) -> None:
        """Ask the service anything; `done` or `failed` is called later, on Qt's thread."""

        async def work() -> Callable[[], None]:
            client = self._client
            if client is None:
                return functools.partial(failed, _no_service())
            return functools.partial(done, await question(client))

        self._call(work, failed)

    @property
    def has_here(self) -> bool:
        """Tell whether anything is answered on this machine without a service."""
        return self._here is not None

    def ask_here(
        self,
        question: Callable[[ControlClient], Awaitable[T]],
        done: Callable[[T], None],
        failed: Callable[[ErrorInfo], None],
    ) -> None:
        """Ask what this machine answers without a service, as `ask` asks the service."""

        async def work() -> Callable[[], None]:
            if self._here is None:
                return functools.partial(failed, _no_service())
            client = self._here()
            try:
                return functools.partial(done, await question(client))
            finally:
                await client.close()

        self._call(work, failed)

    def ask_program(
        self,
        question: Callable[[ControlClient], Awaitable[T]],
        done: Callable[[T], None],
        failed: Callable[[ErrorInfo], None],
    ) -> None:
        """Ask about the versions of the program to which the window belongs.

        On Windows this side knows them: the service inside the Linux is another program.
        """
        if self.has_here:
            self.ask_here(question, done, failed)
        else:
            self.ask(question, done, failed)

    def _call(self, work: Work, failed: Callable[[ErrorInfo], None]) -> None:
        if self._loop is None or not self._thread.is_alive():
            self.replied.emit(functools.partial(failed, _no_service()))
            return
        self.run(functools.partial(self._answer, work, failed))

    def run(self, work: Callable[[], Coroutine[object, object, None]]) -> bool:
        """Run what has nothing to ask of the service beside the calls; tell whether it will.

        It may go on for as long as the bridge does, and is cancelled with it.
        """
        if self._loop is None or not self._thread.is_alive():
            return False
        self._loop.call_soon_threadsafe(self._calls.put_nowait, work)
        return True

    def _submit(self, action: Action, ask: Ask) -> None:
        self.ask(
            ask,
            lambda value: self.answered.emit(Answer(action=action, value=value)),
            lambda error: self.answered.emit(Answer(action=action, error=error)),
        )

    def _on_replied(self, call: Callable[[], None]) -> None:
        call()

    def _run(self) -> None:
        asyncio.run(self._live())

    async def _live(self) -> None:
        self._ended = asyncio.Event()
        self._wanted = asyncio.Event()
        self._calls: asyncio.Queue[Callable[[], Coroutine[object, object, None]]] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        self._running.set()
        async with asyncio.TaskGroup() as tasks:
            keeper = tasks.create_task(self._keep_connected())
            clerk = tasks.create_task(self._answer_calls())
            await self._ended.wait()
            keeper.cancel()
            clerk.cancel()

    async def _answer_calls(self) -> None:
        async with asyncio.TaskGroup() as calls:
            while True:
                work = await self._calls.get()
                calls.create_task(_guarded(work()))

    async def _answer(self, work: Work, failed: Callable[[ErrorInfo], None]) -> None:
        outcome = await _guarded(work())
        if isinstance(outcome, ErrorInfo):
            outcome = functools.partial(failed, outcome)
        self.replied.emit(outcome)

    async def _keep_connected(self) -> None:
        failures = 0
        connect = self._connect
        while True:
            self._was_open = False
            outcome = await _guarded(self._converse(connect))
            if self._was_open:
                failures, connect = 0, self._connect
            if outcome is None:
                continue
            if isinstance(outcome, ServiceStopping):
                self.closed.emit(Farewell(reason=outcome.reason, announced=True))
                connect = await self._after_goodbye()
            elif connect is self._connect:
                is_plain = outcome.code == "service-unreachable"  # the line says so itself
                reason = "" if is_plain else outcome.message
                self.closed.emit(Farewell(reason=reason, announced=False))
            if await self._pause(failures):
                connect = self._connect
            failures += 1

    async def _after_goodbye(self) -> Connect:
        """Return how to go on: join the service when it is back, or start it when asked."""
        self._wanted.clear()
        if self._join is not None:
            return self._join
        await self._wanted.wait()
        return self._connect

    async def _pause(self, failures: int) -> bool:
        """Wait a little longer after each failure; tell whether a person asked meanwhile."""
        pause_s = _PAUSES_S[min(failures, len(_PAUSES_S) - 1)]
        try:
            async with asyncio.timeout(pause_s):
                await self._wanted.wait()
        except TimeoutError:
            return False
        self._wanted.clear()
        return True

    async def _converse(self, connect: Connect) -> ServiceStopping | None:
        """Follow one service until its stream ends; None when it only fell silent."""
        client = await connect()
        self._client = client
        try:
            self.opened.emit(await _opening(client))
            self._was_open = True
            return await self._follow(client)
        finally:
            self._client = None
            await client.close()

    async def _follow(self, client: ControlClient) -> ServiceStopping | None:
        loop = asyncio.get_running_loop()
        batch = _Batch(loop, self.arrived.emit)
        goodbye: ServiceStopping | None = None
        try:
            async with asyncio.timeout(_QUIET_S) as patience:
                async for event in client.events():
                    if isinstance(event, ServiceStopping):
                        goodbye = event
                    patience.reschedule(loop.time() + (_PARTING_S if goodbye else _QUIET_S))
                    batch.add(event)
        except TimeoutError:
            return goodbye
        except StudioError:
            if goodbye is None:
                raise
        finally:
            batch.flush()
        if goodbye is None:
            raise _stream_ended()
        return goodbye


class _Batch:
    """Events gathered until they are due."""

    def __init__(self, loop: asyncio.AbstractEventLoop, emit: Callable[[object], None]) -> None:
        self._loop = loop
        self._emit = emit
        self._events: list[Event] = []
        self._timer: asyncio.TimerHandle | None = None
        self._last_s = loop.time() - _BATCH_S

    def add(self, event: Event) -> None:
        """Take an event; log lines join those that wait already."""
        newest = self._events[-1] if self._events else None
        if isinstance(event, LogAppended) and isinstance(newest, LogAppended):
            self._events[-1] = LogAppended(
                lines=newest.lines + event.lines, dropped=newest.dropped + event.dropped
            )
        else:
            self._events.append(event)
        if self._timer is None:
            due = max(0.0, self._last_s + _BATCH_S - self._loop.time())
            self._timer = self._loop.call_later(due, self.flush)

    def flush(self) -> None:
        """Hand over what was gathered."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._events:
            events, self._events = tuple(self._events), []
            self._last_s = self._loop.time()
            self._emit(events)


async def _opening(client: ControlClient) -> Opening:
    async with asyncio.TaskGroup() as tasks:
        status = tasks.create_task(client.status())
        presets = tasks.create_task(client.presets())
        history = tasks.create_task(client.history(seconds=HISTORY_S))
        log = tasks.create_task(client.logs(lines=LOG_LINES))
        keys = tasks.create_task(client.keys())
    return Opening(
        status=status.result(),
        presets=tuple(presets.result()),
        history=tuple(history.result()),
        log=tuple(log.result()),
        keys=tuple(keys.result()),
    )


async def _guarded(work: Awaitable[T]) -> T | ErrorInfo:
    """Return what `work` returns, or what went wrong; nothing passes but cancellation."""
    try:
        return await work
    except StudioError as error:
        return error.info
    except Exception as error:
        known = _studio_error(error)
        if known is not None:
            return known.info
        fault_id = secrets.token_hex(4)
        _logger.exception("fault %s", fault_id)
        return fault_info(fault_id, type(error).__name__)


def _studio_error(error: Exception) -> StudioError | None:
    """Return the error that a task group wrapped."""
    if isinstance(error, ExceptionGroup):
        known, rest = error.split(StudioError)
        first = known.exceptions[0] if known is not None and rest is None else None
        return first if isinstance(first, StudioError) else None
    return None


def _stream_ended() -> StudioError:
    return ServiceUnreachable(
        "event-stream-ended",
        "The service closed its event stream without a word.",
        hint="The window looks for it again by itself.",
    )


def _no_service() -> ErrorInfo:
    return ErrorInfo(
        code="service-unreachable",
        message="The service does not answer yet.",
        hint="Wait until the line at the top is gone, then try again.",
        exit_status=6,
    )
