"""Which service a command talks to: the running one, a new one, or none at all."""

from typing import TYPE_CHECKING

from studio.cli import words
from studio.domain.errors import ServiceUnreachable

if TYPE_CHECKING:
    from studio.cli.main import Connector
    from studio.control.client import ControlClient

_NOT_RUNNING = "service-not-running"


async def running_or_none(connector: "Connector") -> "ControlClient | None":
    """Return a client of the running service, or None when none runs."""
    try:
        return await connector.connect(start=False, hold=False)
    except ServiceUnreachable as error:
        if error.code != _NOT_RUNNING:
            raise
        return None


async def running(connector: "Connector") -> "ControlClient":
    """Return a client of the running service.

    Raises: ServiceUnreachable (`service-not-running`).
    """
    client = await running_or_none(connector)
    if client is None:
        raise ServiceUnreachable(_NOT_RUNNING, words.NOT_RUNNING, hint=words.HINT_NOT_RUNNING)
    return client


async def running_or_offline(connector: "Connector") -> "ControlClient":
    """Return a client of the running service, else one that answers in this process."""
    return await running_or_none(connector) or connector.offline()
