"""`--host`: a command that answers for a host in a file, and never reaches a service."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from studio.cli import host_words, words
from studio.cli.console import Console
from studio.domain.errors import BadInput, ServiceUnreachable

if TYPE_CHECKING:
    from studio.cli.reach import Connector
    from studio.control.client import ControlClient


def refused(host: str) -> BadInput:
    """Return that nothing can be started on a host in a file."""
    return BadInput(
        "host-replayed",
        host_words.HOST_REPLAYED.format(host=host),
        hint=host_words.HINT_HOST_REPLAYED,
    )


class Replaying:
    """A connector for which no service runs: everything is answered for the replayed host."""

    def __init__(self, inner: "Connector", host: str, console: Console) -> None:
        self._inner = inner
        self._host = host
        self._console = console

    async def connect(self, *, start: bool, hold: bool) -> "ControlClient":
        """Never reach a service: it would answer for its own machine.

        Raises: BadInput (`host-replayed`) when one would be started, else ServiceUnreachable.
        """
        if start or hold:
            raise refused(self._host)
        raise ServiceUnreachable(
            "service-not-running", words.NOT_RUNNING, hint=words.HINT_NOT_RUNNING
        )

    def service_run(self, *, until_released: bool, autostart: bool) -> int:
        """Run the service; the command line takes no `--host` there."""
        return self._inner.service_run(until_released=until_released, autostart=autostart)

    def ui(self, argv: Sequence[str]) -> int:
        """Open the window; the command line takes no `--host` there."""
        return self._inner.ui(argv)

    async def edit(self, text: str, name: str) -> Path:
        """Open an editor; the command line takes no `--host` there."""
        return await self._inner.edit(text, name)

    def offline(self, host: str | None = None) -> "ControlClient":
        """Return a client for the replayed host, and say so on standard error."""
        client = self._inner.offline(host or self._host)
        self._console.note(host_words.REPLAYING.format(host=self._host))
        return client

    def salvage(self) -> "ControlClient":
        """Look into the logs; the command line takes no `--host` there."""
        return self._inner.salvage()
