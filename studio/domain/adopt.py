"""Asking for a vLLM that others run, and what comes of it."""

import msgspec

from studio.domain.server import AdoptedInfo


class AdoptRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Serve clients from the vLLM at `url`."""

    url: str
    """`http://HOST:PORT`, `https://…`, `unix:/PATH`."""
    key: str | None = None
    name: str | None = None
    """What to call it; None: its address."""
    port: int | None = None
    """Gateway port to move to and keep."""

    def __repr__(self) -> str:
        """Leave the key out: a record may land in a log."""
        return f"AdoptRequest(url={self.url!r}, name={self.name!r})"


class AdoptResult(msgspec.Struct, frozen=True, kw_only=True):
    """What `weir adopt --json` prints."""

    base_url: str
    """Where chat clients connect; ends in `/v1`."""
    api_key: str | None = None
    """Only when one was made by this call; it is never shown again."""
    served_name: str
    max_model_len: int | None = None
    pool_tokens: int | None = None
    adopted: AdoptedInfo
    notes: tuple[str, ...] = ()
    """What works less well than with an engine of the Studio's own, in words."""


class Forgotten(msgspec.Struct, frozen=True, kw_only=True):
    """What `weir adopt --forget` prints."""

    was_adopted: bool
    name: str | None = None
