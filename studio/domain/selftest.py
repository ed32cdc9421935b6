"""What the gateway's attack on itself found (`weir gateway selftest`)."""

import enum

import msgspec


class Defence(enum.StrEnum):
    """What stands between a stranger and the engine. Each can be left out in tests of the
    self-test, and nowhere else (`studio.host.http_exchange.Limits.without`).
    """

    HOST = "host-names"
    """Only names of this machine: no page elsewhere may point its own name here."""
    ORIGIN = "origins"
    """No page of another origin, and no answer that lets it read."""
    KEY = "keys"
    ROUTES = "allow-list"
    """Exact paths and methods, and nothing else."""
    BODY_SIZE = "body-size"
    HEAD_SIZE = "head-size"
    TIME = "time-limits"
    FRAMING = "framing"
    """One way to say where a body ends."""
    LINES = "line-ends"
    """Lines as RFC 9112 has them: no folding, no bare line feed, no stray characters."""
    TARGET = "target-form"
    """A target is a path, never an address."""
    HEADERS = "engine-headers"
    """What a client sends to steer the gateway ends at the gateway."""


class Place(enum.StrEnum):
    """What was attacked."""

    TWIN = "twin"
    """A gateway of its own with a stand-in for the engine: attacks may hold a valid key."""
    LIVE = "live"
    """The address that clients use, without a valid key."""
    CONTROL = "control"
    """The control API's port, without its token."""


class AttackResult(msgspec.Struct, frozen=True, kw_only=True):
    """How one attack ended."""

    code: str
    title: str
    defence: Defence
    place: Place
    is_repelled: bool
    found: str
    """What came back, in a few words."""


class SelftestReport(msgspec.Struct, frozen=True, kw_only=True):
    """What `weir gateway selftest --json` prints."""

    schema_version: int = 1
    version: str
    """Of the program."""
    address: str | None = None
    """The live gateway that was attacked too; None: none is open."""
    is_safe: bool
    """Whether every attack was repelled."""
    open_defences: tuple[Defence, ...] = ()
    """Those that let something through."""
    attacks: tuple[AttackResult, ...] = ()
    took_s: float
