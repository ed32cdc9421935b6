"""The engine as the gateway sees it."""

import dataclasses

from studio.host.http_client import Upstream

SYSTEM_FIRST = "System message must be at the beginning"
"""How templates say that they take one system message, as the first. Source: Qwen3.5 to 3.8."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class EngineTarget:
    """The engine that serves now."""

    upstream: Upstream
    key: str | None
    served_name: str
    template: str | None = None
    """The text of the model's chat template; None: not known."""
    context_tokens: int | None = None
    """The longest prompt with its answer; None: not known."""
    runtime: str | None = None
    """Name of the runtime; None: another's engine."""
    preset: str | None = None
    """What it serves; None: an adopted engine's matter."""

    @property
    def authorization(self) -> list[tuple[bytes, bytes]]:
        """Return the header that lets the gateway in."""
        return [(b"authorization", b"Bearer " + self.key.encode())] if self.key else []

    @property
    def wants_system_first(self) -> bool:
        """Whether its template refuses system messages in the middle."""
        return self.template is not None and SYSTEM_FIRST in self.template
