"""The port that the gateway will listen on."""

from studio.domain.errors import StudioError
from studio.host.http_ports import listen


async def free_port(address: str, port: int, *, take_next: bool) -> int:
    """Return `port`, or the next free one where that was agreed to.

    Raises: PortTaken (`port-taken`) and what else `listen` raises.
    """
    try:
        (await listen(address, port)).close()
    except StudioError as error:
        free = error.data.get("free_port")
        if not take_next or not isinstance(free, int):
            raise
        return free
    return port
