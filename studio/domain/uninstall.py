"""What the Studio ever made on this machine, and what of it is to go."""

import enum

import msgspec


class Belongings(enum.StrEnum):
    """Groups that are kept or removed as a whole, in the order in which they are removed."""

    MODELS = "models"
    RUNTIMES = "runtimes"
    CACHE = "cache"
    LOGS = "logs"
    HISTORY = "history"
    KEYS = "keys"
    SETTINGS = "settings"
    SERVICE = "service"
    PROGRAM = "program"


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """A file, link or folder of ours."""

    path: str
    group: Belongings
    bytes: int
    """Of its files; what two places share is counted at the first of them."""
    files: int


class UninstallPlan(msgspec.Struct, frozen=True, kw_only=True):
    """Everything there is, and what somebody else has to remove."""

    home: str
    places: tuple[Place, ...]
    keyring: tuple[str, ...]
    """Names of secrets in the system's keyring; they belong to the keys."""
    foreign: tuple[str, ...]
    """In the Studio's folder, and not ours: left alone."""
    notes: tuple[str, ...]
    """How a program that the system's packages own is removed, and the like."""
    service_pid: int | None = None
    """The service that runs; nothing is removed before it has ended."""


class UninstallRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Which groups are to go."""

    remove: tuple[Belongings, ...]


class UninstallResult(msgspec.Struct, frozen=True, kw_only=True):
    """What went, and what could not."""

    removed: tuple[Place, ...]
    """What went; of a place of which something stays, the files that went."""
    freed_bytes: int
    left: tuple[str, ...]
    """Paths that could not be removed, each with its reason."""


KEPT_BY_DEFAULT = frozenset({Belongings.MODELS})
"""The largest and slowest to get back."""
