"""The engine as the gateway sees it."""

import dataclasses

from studio.host.http_client import Upstream


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class EngineTarget:
    """The engine that serves now."""

    upstream: Upstream
    key: str | None
    served_name: str
    preset: str | None = None
    """What it serves; None: an adopted engine's matter."""

    @property
    def authorization(self) -> list[tuple[bytes, bytes]]:
        """Return the header that lets the gateway in."""
        return [(b"authorization", b"Bearer " + self.key.encode())] if self.key else []
