"""The Studio's own endpoint for Prometheus: whether it is open, and where."""

import enum

import msgspec


class ScrapeAction(enum.StrEnum):
    """What may be done with it."""

    ON = "on"
    OFF = "off"
    ROTATE = "rotate"
    """Make a new token; the old one is refused from then on."""


class ScrapeRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Open or close the endpoint, or give it a new token."""

    action: ScrapeAction
    port: int | None = None
    """With `on`: the port to keep from the next start of the service on; None: the present one."""


class ScrapeInfo(msgspec.Struct, frozen=True, kw_only=True):
    """How the endpoint stands; never the token."""

    is_on: bool = False
    url: str | None = None
    """Where it answers now; None: it is off, or no service runs."""
    port: int | None = None
    """The port that the service asks for when it starts."""
    note: str | None = None
    """Why it is elsewhere than it should be, in a sentence."""


class ScrapeToken(msgspec.Struct, frozen=True, kw_only=True):
    """The token, for the configuration of a scraper."""

    token: str
