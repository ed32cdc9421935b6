"""How much memory the bodies of all requests may hold together.

A limit for one body does not bound many at once. What does not fit is refused and can be sent
again; nothing waits here, so that two half-sent bodies cannot wait for each other.
"""

from studio.domain.errors import HostLacks
from studio.domain.units import bytes_text


class BodyRoom:
    """The room that bodies share."""

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self.held_bytes = 0

    def take(self, count: int) -> bool:
        """Count `count` bytes more; False, and nothing counted, when there is no room for them."""
        if self.held_bytes + count > self.most_bytes:
            return False
        self.held_bytes += count
        return True

    def give_back(self, count: int) -> None:
        """Count `count` bytes less."""
        self.held_bytes -= count

    def refusal(self) -> HostLacks:
        """Return the error of a body that found no room."""
        return HostLacks(
            "bodies-too-many",
            f"The bodies of the requests that run now hold {bytes_text(self.held_bytes)} of the"
            f" {bytes_text(self.most_bytes)} that all together may hold.",
            hint="Send it again when others have ended.",
            data={"held_bytes": self.held_bytes, "limit_bytes": self.most_bytes},
        )
