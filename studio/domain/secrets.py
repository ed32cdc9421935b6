"""Where secrets that the Studio itself needs again are kept."""

import enum

import msgspec


class StoreKind(enum.StrEnum):
    """The two places."""

    KEYRING = "keyring"
    """The system's own store, locked with the person's session."""
    FILE = "file"
    """A file that only its owner can read, where there is no keyring."""


class StoreInfo(msgspec.Struct, frozen=True, kw_only=True):
    """Where the next secret would go."""

    kind: StoreKind
    where: str
    """The keyring's name, or the folder of the files."""
    reason: str | None = None
    """Why not the keyring, as a part of a sentence."""
