"""A private system bus, and on it a logind that hands out inhibitor locks and announces sleep."""

import contextlib
import os
import select
import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from jeepney import (
    DBusAddress,
    HeaderFields,
    Message,
    MessageType,
    new_error,
    new_method_return,
    new_signal,
)
from jeepney.bus_messages import message_bus
from jeepney.io.blocking import DBusConnection, open_dbus_connection

from tests.fakes.waiting import LIMIT_S

NAME = "org.freedesktop.login1"
_PLACE = DBusAddress("/org/freedesktop/login1", interface=f"{NAME}.Manager")


@contextlib.contextmanager
def private_bus(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    variable: str = "DBUS_SYSTEM_BUS_ADDRESS",
) -> Iterator[None]:
    """Run a bus of one's own that passes for the system's, or another, while inside."""
    program = shutil.which("dbus-daemon")
    if program is None:
        pytest.skip("dbus-daemon is not on this machine")
    config = folder / "bus.conf"
    config.write_text(
        "<busconfig><type>system</type><auth>EXTERNAL</auth>"
        f"<listen>unix:path={folder / 'bus'}</listen>"
        '<policy context="default"><allow send_destination="*"/><allow receive_sender="*"/>'
        '<allow own="*"/><allow eavesdrop="true"/></policy></busconfig>'
    )
    command = [program, f"--config-file={config}", "--nofork", "--print-address=1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            monkeypatch.setenv(variable, process.stdout.readline().strip())
            yield
        finally:
            process.kill()


class Logind:
    """The stand-in; `locks` are the read ends of what it handed out."""

    def __init__(self, *, refuses: bool = False) -> None:
        self.locks: list[int] = []
        self.asked: list[tuple[object, ...]] = []
        self.may_answer = threading.Event()
        self.may_answer.set()
        self.announces_first = False
        """Whether the next sleep is announced before whoever asks for a lock has it."""
        self._refuses = refuses
        self._connection: DBusConnection = open_dbus_connection(
            "SYSTEM", enable_fds=True, auth_timeout=LIMIT_S
        )
        self._connection.send_and_get_reply(message_bus.RequestName(NAME))
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def announce(self, *, is_before: bool) -> None:
        """Say that the machine goes to sleep, or woke."""
        signal = new_signal(_PLACE, "PrepareForSleep", "b", (is_before,))
        self._connection.send(signal)

    @property
    def held(self) -> int:
        """How many locks are still held by others: a read end at its end has been let go."""
        watched = select.poll()
        for lock in self.locks:
            watched.register(lock, select.POLLIN)
        return len(self.locks) - len(watched.poll(0))

    def close(self) -> None:
        """Leave the bus."""
        self.may_answer.set()
        with contextlib.suppress(OSError):
            self._connection.sock.shutdown(2)
        self._thread.join(LIMIT_S)
        for lock in self.locks:
            os.close(lock)

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                self._answer(self._connection.receive())
        self._connection.close()

    def _answer(self, message: Message) -> None:
        if message.header.message_type is not MessageType.method_call:
            return
        member = message.header.fields.get(HeaderFields.member)
        if member != "Inhibit" or self._refuses:
            self._connection.send(new_error(message, f"{NAME}.Refused", "s", ("refused",)))
            return
        self.asked.append(tuple(message.body))
        self.may_answer.wait(LIMIT_S)
        if self.announces_first:
            self.announce(is_before=True)
        ours, theirs = os.pipe()
        self.locks.append(ours)
        self._connection.send(new_method_return(message, "h", (theirs,)))
        os.close(theirs)


@contextlib.contextmanager
def logind(*, refuses: bool = False) -> Iterator[Logind]:
    """Run a logind on the bus."""
    made = Logind(refuses=refuses)
    try:
        yield made
    finally:
        made.close()
