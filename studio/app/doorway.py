"""Opens the gateway on the port that was chosen, or agrees on another one."""

from collections.abc import Callable

from studio.app.settings import SettingsFile
from studio.domain.errors import StudioError
from studio.domain.events import Event, GatewayChanged
from studio.gateway.service import Gateway
from studio.host.http_ports import listen

ADDRESS = "127.0.0.1"


async def open_gateway(
    gateway: Gateway,
    settings: SettingsFile,
    publish: Callable[[Event], None],
    *,
    port: int,
    take_next: bool,
) -> str:
    """Open the gateway on `port` (or, agreed to, on the next free one) and keep the choice.

    Raises: PortTaken, HostLacks.
    """
    if gateway.info().port != port:
        port = await _free_port(port, take_next)  # before the old one is closed
        await gateway.close()
        await gateway.open(ADDRESS, port)
        publish(GatewayChanged(base_url=gateway.info().base_url))
    settings.change(port=port)
    base_url = gateway.info().base_url
    assert base_url is not None
    return base_url


async def _free_port(port: int, take_next: bool) -> int:
    """Return `port`, or the next free one where that was agreed to."""
    try:
        (await listen(ADDRESS, port)).close()
    except StudioError as error:
        free = error.data.get("free_port")
        if not take_next or not isinstance(free, int):
            raise
        return free
    return port
