"""logind's word before the machine sleeps and after it woke, over the system bus.

Sources: org.freedesktop.login1(5) `PrepareForSleep` and `Inhibit`. jeepney's blocking connection is
used in a thread, because only that one takes file descriptors: the inhibitor lock is one.
"""

import asyncio
import contextlib
import logging
import socket
import threading
from collections import deque
from collections.abc import Awaitable, Callable

from jeepney import DBusAddress, HeaderFields, MatchRule, Message, MessageType, new_method_call
from jeepney.bus_messages import message_bus
from jeepney.fds import FileDescriptor
from jeepney.io.blocking import DBusConnection, open_dbus_connection
from jeepney.wrappers import DBusErrorResponse, unwrap_msg

from studio.domain.errors import HostLacks

logger = logging.getLogger(__name__)

READY_WITHIN_S = 4.0
"""How long sleep is put off at most; logind itself waits 5 s (InhibitDelayMaxSec)."""
REPLY_S = 5.0
"""How long the bus may take to let us in, and to answer; a machine that starts is busy."""
_NAME = "org.freedesktop.login1"
_LOGIND = DBusAddress("/org/freedesktop/login1", bus_name=_NAME, interface=f"{_NAME}.Manager")
_SIGNAL = "PrepareForSleep"


class SleepWatch:
    """Hears of sleep. `run` until cancelled; `heard` is awaited with True before, False after."""

    def __init__(self, heard: Callable[[bool], Awaitable[None]]) -> None:
        self._heard = heard
        self._told: asyncio.Queue[bool | None] = asyncio.Queue()
        self._ready = threading.Event()
        self._lock: FileDescriptor | None = None
        self._words: deque[Message] = deque()
        self._turn = threading.Lock()
        self._is_over = False
        self.is_listening = False

    async def run(self) -> None:
        """Listen; returns when the bus goes away.

        Raises: HostLacks (`no-logind`) where nobody announces sleep.
        """
        try:
            connection = await self._opened()
        except (OSError, DBusErrorResponse, TimeoutError, ValueError, KeyError) as error:
            raise HostLacks(
                "no-logind",
                "This machine does not say when it sleeps: logind cannot be asked.",
                evidence=(str(error) or type(error).__name__,),
            ) from error
        loop = asyncio.get_running_loop()
        # A daemon thread: it waits on a socket, and must never hold up the end of the service.
        threading.Thread(
            target=self._listen, args=(connection, loop), name="weir-sleep", daemon=True
        ).start()
        self.is_listening = True
        try:
            while (is_before := await self._told.get()) is not None:
                try:
                    await self._heard(is_before)
                finally:
                    if is_before:  # the end of a waking says nothing of the next sleep
                        self._ready.set()
        finally:
            self.is_listening = False
            self._ready.set()
            with contextlib.suppress(OSError):  # wakes the thread, which closes everything
                connection.sock.shutdown(socket.SHUT_RDWR)

    async def _opened(self) -> DBusConnection:
        """Open in a thread; who stops waiting for it leaves neither connection nor lock."""
        made: list[DBusConnection] = []

        def work() -> DBusConnection:
            connection = self._open()
            with self._turn:
                if not self._is_over:
                    made.append(connection)
                    return connection
            self._close(connection)
            raise ConnectionAbortedError("nobody listens any more")

        try:
            return await asyncio.to_thread(work)
        except asyncio.CancelledError:
            with self._turn:
                self._is_over = True
            for connection in made:  # it came in the moment of the cancellation
                self._close(connection)
            raise

    def _open(self) -> DBusConnection:
        connection = open_dbus_connection(bus="SYSTEM", enable_fds=True, auth_timeout=REPLY_S)
        try:
            # What is announced while an answer is waited for is kept, too.
            connection.filter(_rule(sender=None), queue=self._words)
            self._ask(connection, message_bus.AddMatch(_rule(sender=_NAME)))
            self._inhibit(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _close(self, connection: DBusConnection) -> None:
        self._release()
        connection.close()

    def _inhibit(self, connection: DBusConnection) -> None:
        """Take the lock that lets sleep wait for us."""
        words = ("sleep", "Weir Studio", "The engine is told before the machine sleeps", "delay")
        (lock,) = self._ask(connection, new_method_call(_LOGIND, "Inhibit", "ssss", words))
        if isinstance(lock, FileDescriptor):
            self._lock = lock

    def _ask(self, connection: DBusConnection, message: Message) -> tuple[object, ...]:
        return tuple(unwrap_msg(connection.send_and_get_reply(message, timeout=REPLY_S)))

    def _listen(self, connection: DBusConnection, loop: asyncio.AbstractEventLoop) -> None:
        """Read signals until the connection ends (in a thread of its own)."""
        try:
            while True:
                is_before = _announced(connection.recv_until_filtered(self._words))
                if is_before is None:
                    continue
                self._ready.clear()
                loop.call_soon_threadsafe(self._told.put_nowait, is_before)
                if is_before:
                    self._ready.wait(READY_WITHIN_S)
                    self._release()
                elif self._lock is None:
                    self._inhibit(connection)
        except (OSError, DBusErrorResponse, TimeoutError, ValueError) as error:
            logger.info("no more word of sleep from logind: %s", error or type(error).__name__)
        finally:
            self._close(connection)
            with contextlib.suppress(RuntimeError):  # the loop is gone: nobody waits any more
                loop.call_soon_threadsafe(self._told.put_nowait, None)

    def _release(self) -> None:
        lock, self._lock = self._lock, None
        if lock is not None:
            lock.close()


def _rule(*, sender: str | None) -> MatchRule:
    """Return what is listened for; in a message the sender is a number, not a name."""
    return MatchRule(
        type="signal",
        sender=sender,
        interface=_LOGIND.interface,
        member=_SIGNAL,
        path=_LOGIND.object_path,
    )


def _announced(message: Message) -> bool | None:
    """Return what a message announces: True before sleep, False after; None: something else."""
    fields = message.header.fields
    if (
        message.header.message_type is not MessageType.signal
        or fields.get(HeaderFields.interface) != _LOGIND.interface
        or fields.get(HeaderFields.member) != _SIGNAL
        or len(message.body) != 1
    ):
        return None
    return bool(message.body[0])
