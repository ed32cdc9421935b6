"""The host as the service sees it: this machine, or one from a file.

A replayed host answers every question about fit and starts nothing.
"""

from studio.domain.errors import BadInput
from studio.domain.hardware import HostSnapshot
from studio.domain.hosts import HostFile
from studio.host import probe
from studio.host.paths import Paths


class Machine:
    """Looks at the host; `last` is what was seen."""

    def __init__(self, paths: Paths, replayed: HostFile | None = None) -> None:
        self._paths = paths
        self.replayed = replayed
        self.last: HostSnapshot | None = replayed.host if replayed is not None else None

    async def look(self) -> HostSnapshot:
        """Return the host as it is now, without holding up the loop."""
        if self.replayed is None:
            self.last = await probe.look(self._paths)
        assert self.last is not None
        return self.last

    def require_real(self) -> None:
        """Refuse to do anything on a host that is only a file.

        Raises: BadInput (`host-replayed`).
        """
        if self.replayed is not None:
            raise BadInput(
                "host-replayed",
                f"`{self.replayed.id}` is a host in a file: nothing can be started on it.",
                hint="Leave out `--host` to use this machine.",
            )


def in_words(host: HostSnapshot) -> str:
    """Return the host as the first stage of a start names it."""
    if host.gpus:
        return ", ".join(card.name for card in host.gpus)
    return f"{host.cpu_name or host.machine}, {host.cpu_count or '–'} cores, no NVIDIA card"
