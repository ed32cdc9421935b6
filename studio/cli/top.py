"""`weir top`: cards, pool, spill, tok/s, requests and keys, live; `--json` streams ticks.

A service that goes away is said and looked for again; the screen stays. Figures come with the
service's events; what has no event (keys, requests, the gateway's counters) is asked for every two
seconds.
"""

import asyncio
import contextlib
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from studio.cli import top_words as words
from studio.cli.arguments import Invocation
from studio.cli.console import Console, OutputClosed
from studio.cli.reach import Command, running, running_or_none
from studio.cli.top_state import State
from studio.cli.top_view import screen
from studio.domain.errors import BadInput, StudioError
from studio.domain.events import ServiceStopping, Ticked

if TYPE_CHECKING:
    from studio.cli.reach import Connector
    from studio.cli.screen import Screen
    from studio.control.client import ControlClient

_OK = 0
_INTERRUPTED = 130
_ASK_S = 2.0
_REQUESTS = 60
_HISTORY_S = 600
_RETRY_S = 1.0
_CLOCK_S = 1.0
_BLOCKS = "█▁–"


async def top(call: Invocation, connector: "Connector", console: Console) -> int:
    """Watch until told to stop."""
    client = await running(connector)
    if call.json:
        return await _stream(client, connector, console)
    if not console.out_is_terminal or console.is_dumb:
        await client.close()
        reason = words.DUMB_TERMINAL if console.out_is_terminal else words.NEEDS_TERMINAL
        raise BadInput("top-needs-terminal", reason, hint=words.HINT_JSON)
    return await Top(connector, console).run(client)


# As documents


async def _stream(client: "ControlClient", connector: "Connector", console: Console) -> int:
    """Print each tick as one line; over when nobody reads any more, or on Ctrl+C."""
    found: ControlClient | None = client
    try:
        while True:
            if found is not None:
                reason = await _print_ticks(found, console)
                await found.close()
                console.note(words.GONE.format(reason=reason or words.NO_REASON))
            await asyncio.sleep(_RETRY_S)
            found = await _found(connector)
            if found is not None:
                console.note(words.BACK_AGAIN)
    except asyncio.CancelledError:
        _forget_cancelling()
        return _INTERRUPTED  # a document about Ctrl+C would stand among the ticks
    except OutputClosed:
        return _OK
    finally:
        if found is not None:
            await found.close()


async def _print_ticks(client: "ControlClient", console: Console) -> str | None:
    """Print ticks while the service is there; return why it is not."""
    try:
        async with contextlib.aclosing(client.events()) as events:
            async for event in events:
                if isinstance(event, Ticked):
                    console.document(event.tick)
                elif isinstance(event, ServiceStopping):
                    return event.reason
    except StudioError as error:
        return error.message.rstrip(".")
    return None


async def _found(connector: "Connector") -> "ControlClient | None":
    with contextlib.suppress(StudioError):
        return await running_or_none(connector)
    return None


def _forget_cancelling() -> None:
    task = asyncio.current_task()
    assert task is not None
    task.uncancel()


# On a screen


class Top:
    """One screen and what it shows."""

    def __init__(self, connector: "Connector", console: Console) -> None:
        self._connector = connector
        self._console = console
        self._is_plain = not console.can_show(_BLOCKS)
        self._state = State()
        self._dirty = asyncio.Event()
        self._over = asyncio.Event()
        self._is_asked = True
        """A key or a new size wants to be seen also while paused."""

    async def run(self, client: "ControlClient") -> int:
        """Show until `q`, Ctrl+C, or the end of the terminal."""
        from studio.cli.screen import Screen

        shown = Screen(self._console.out, self._console.source, has_colour=self._console.has_colour)
        status = _OK
        try:
            with shown.opened(self._on_key, self._ask_to_draw):
                await self._while_open(client, shown)
        except asyncio.CancelledError:
            _forget_cancelling()
            status = _INTERRUPTED
        except OSError:  # the terminal is gone, and nobody is left to tell
            pass
        return status

    async def _while_open(self, client: "ControlClient", shown: "Screen") -> None:
        try:
            async with asyncio.TaskGroup() as tasks:
                working = [
                    tasks.create_task(self._follow(client)),
                    tasks.create_task(self._draw(shown)),
                    tasks.create_task(self._tick_clock()),
                ]
                await self._over.wait()
                for task in working:
                    task.cancel()
        except* OSError as errors:
            raise OSError(str(errors.exceptions[0])) from None

    def _on_key(self, key: str) -> None:
        if key == "q":
            self._over.set()
            return
        self._state.press(key)
        self._ask_to_draw()

    def _ask_to_draw(self) -> None:
        self._is_asked = True
        self._dirty.set()

    async def _draw(self, shown: "Screen") -> None:
        """Draw when something changed, at most as fast as the terminal takes it."""
        while True:
            if not self._state.is_paused or self._is_asked:
                width, height = shown.size()
                shown.draw(screen(self._state, width, height, time.time(), is_plain=self._is_plain))
            self._is_asked = False
            await self._dirty.wait()
            self._dirty.clear()

    async def _tick_clock(self) -> None:
        """Draw once a second also where nothing comes, so that a still screen is no dead one."""
        while True:
            await asyncio.sleep(_CLOCK_S - time.time() % _CLOCK_S)
            if self._state.gone is not None or self._state.tick is None:
                self._dirty.set()

    # The service

    async def _follow(self, client: "ControlClient | None") -> None:
        """Take up what a service says; when it goes, look for it again."""
        while True:
            if client is not None:
                self._state.find()
                reason = await self._listen(client)
                await client.close()
                self._state.lose(reason)
                self._dirty.set()
            await asyncio.sleep(_RETRY_S)
            client = await _found(self._connector)

    async def _listen(self, client: "ControlClient") -> str | None:
        """Fold events in until there are no more; return why."""
        asking: asyncio.Task[None] | None = None
        try:
            async with asyncio.TaskGroup() as tasks:
                asking = tasks.create_task(self._ask(client))
                try:
                    async with contextlib.aclosing(client.events()) as events:
                        async for event in events:
                            if self._state.take(event):
                                self._dirty.set()
                            if isinstance(event, ServiceStopping):
                                return event.reason
                except StudioError as error:
                    return error.message.rstrip(".")
                finally:
                    asking.cancel()
        finally:
            self._dirty.set()
        return None

    async def _ask(self, client: "ControlClient") -> None:
        """Ask for what has no event, every two seconds."""
        state = self._state
        with contextlib.suppress(StudioError):
            state.fill(await client.history(seconds=_HISTORY_S))
        while True:
            with contextlib.suppress(StudioError):  # its end is told by the events
                state.keys = await client.keys()
                state.requests = await client.requests(lines=_REQUESTS)
                alarms = await client.alarms()
                state.alarms = (*alarms.active, *reversed(alarms.ended))
                now = await client.status()
                state.gateway = now.gateway
                state.queue = now.queue
                state.speed = await client.speed()
                if state.pool is None:
                    state.pool = await client.pool()
            await asyncio.sleep(_ASK_S)


TOP_COMMANDS: Mapping[str, Command] = {"top": top}
