"""Which service a command talks to: the running one, a new one, or none at all."""

from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from studio.cli import words
from studio.cli.arguments import Invocation
from studio.cli.console import Console
from studio.domain.errors import ServiceUnreachable

if TYPE_CHECKING:
    from studio.control.client import ControlClient

_NOT_RUNNING = "service-not-running"


class Connector(Protocol):
    """How the command line reaches a service; the composition root knows where one is."""

    async def connect(self, *, start: bool, hold: bool) -> "ControlClient":
        """Return a client of the running service, after starting one if `start` says so.

        With `hold`, a service started now ends when the event stream with `hold` is dropped.

        Raises: ServiceUnreachable (`service-not-running`) when none runs and `start` is False.
        """

    def service_run(self, *, until_released: bool, autostart: bool) -> int:
        """Run the service in this process; return the exit status.

        With `autostart`, what was chosen for it is served.
        """

    def ui(self, argv: Sequence[str]) -> int:
        """Open the window; return the exit status."""

    async def edit(self, text: str, name: str) -> Path:
        """Let the person edit `text` in an editor; return the file that holds what they wrote.

        Raises: HostLacks (`editor-missing`, `editor-failed`, `not-writable`).
        """

    def offline(self, host: str | None = None) -> "ControlClient":
        """Return a client that answers in this process what needs no service.

        `host` (an id of the catalogue, or a file) is looked at instead of this machine. Raises:
        NotFound, BadInput, HostLacks about that file.
        """

    def salvage(self) -> "ControlClient":
        """Return a client that answers about logs, reports and failures from what lies there.

        It opens nothing, so it works when the home is broken and while a service hangs.
        """


Command = Callable[[Invocation, Connector, Console], Coroutine[object, object, int]]
"""One command: what was typed, the way to a service, and where words go; to an exit status."""


async def running_or_none(connector: Connector) -> "ControlClient | None":
    """Return a client of the running service, or None when none runs."""
    try:
        return await connector.connect(start=False, hold=False)
    except ServiceUnreachable as error:
        if error.code != _NOT_RUNNING:
            raise
        return None


async def running(connector: Connector) -> "ControlClient":
    """Return a client of the running service.

    Raises: ServiceUnreachable (`service-not-running`).
    """
    client = await running_or_none(connector)
    if client is None:
        raise ServiceUnreachable(_NOT_RUNNING, words.NOT_RUNNING, hint=words.HINT_NOT_RUNNING)
    return client


async def running_or_offline(connector: Connector) -> "ControlClient":
    """Return a client of the running service, else one that answers in this process."""
    return await running_or_none(connector) or connector.offline()
