"""Chat clients that can be pointed at the gateway: what is known of each, and what is written."""

import enum

import msgspec


class Side(enum.StrEnum):
    """Whose file it is."""

    HERE = "here"
    WINDOWS = "windows"
    """Windows around this WSL."""


class ClientState(enum.StrEnum):
    """How a client stands to the Studio."""

    UNTOUCHED = "untouched"
    CONNECTED = "connected"
    """Its file is as the Studio wrote it."""
    CHANGED = "changed"
    """Its file was changed by somebody else after the Studio wrote it."""


class Labelled(msgspec.Struct, frozen=True, kw_only=True):
    """One value to type into a client, under the name that the client gives it."""

    label: str
    value: str
    is_secret: bool = False


class Snippet(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of code or configuration to copy."""

    title: str
    language: str
    text: str


class ClientInfo(msgspec.Struct, frozen=True, kw_only=True):
    """One client as a list shows it."""

    id: str
    title: str
    summary: str
    is_found: bool
    """A trace of it was seen on this machine."""
    found_by: str | None = None
    """The program or the folder that was seen."""
    can_write: bool
    """It has a file that the Studio can write; else it gets values to type."""
    path: str | None = None
    """The file that would be written; None: named with `--file`, or there is none."""
    side: Side = Side.HERE
    state: ClientState = ClientState.UNTOUCHED
    documented: str
    """The page that describes its configuration."""
    versions: str
    """What that page was true for when it was read."""


class ClientList(msgspec.Struct, frozen=True, kw_only=True):
    """All clients, those that were found first."""

    clients: tuple[ClientInfo, ...]
    notes: tuple[str, ...] = ()


class ConnectRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Point a client at the gateway."""

    key: str | None = None
    """Name of a key that is kept, or `new`; None: the one named after the client."""
    model: str | None = None
    """A preset, or the name that a model is served under; None: what runs or ran last."""
    file: str | None = None
    """Its configuration, where that lies elsewhere; a whole path."""
    seen: str | None = None
    """`digest` of the plan that was shown; refused when the file has changed since."""


class ConnectPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What would be written; nothing is changed yet, and no key is made or shown."""

    client: ClientInfo
    base_url: str
    model: str
    context: int | None = None
    key_name: str
    key_exists: bool
    path: str | None = None
    exists: bool = False
    digest: str | None = None
    """SHA-256 of the file as it is; None: there is none."""
    diff: str = ""
    """Unified; the key is left out. Empty: nothing would change, or there is no file."""
    is_written: bool = False
    """The file already says this."""
    steps: tuple[str, ...] = ()
    values: tuple[Labelled, ...] = ()
    snippets: tuple[Snippet, ...] = ()
    notes: tuple[str, ...] = ()


class Connected(msgspec.Struct, frozen=True, kw_only=True):
    """What was done, and what is left for the person to do."""

    plan: ConnectPlan
    """With the key in its values and snippets."""
    path: str | None = None
    backup: str | None = None
    """The file as it was; None: there was none, or nothing was written."""
    has_changed: bool
    key_id: str
    key_was_made: bool


class Undone(msgspec.Struct, frozen=True, kw_only=True):
    """A file as it was before."""

    client: str
    path: str
    was_removed: bool
    """There had been none."""
    key_name: str | None = None
    """The key that the file held, which still works."""


class TryGrant(msgspec.Struct, frozen=True, kw_only=True):
    """What is needed to ask the gateway for one answer."""

    base_url: str
    model: str
    key: str
    certificate: str | None = None
    """PEM of the gateway's own certificate, where it is encrypted."""


class TryPiece(msgspec.Struct, frozen=True, kw_only=True):
    """A part of an answer, with what was seen here so far. Seconds since it was asked."""

    text: str = ""
    is_thought: bool = False
    """The model thinks aloud; it is no part of the answer."""
    ttft_s: float | None = None
    tokens: int | None = None
    """As the engine counts them; while it streams, pieces."""
    tokens_per_s: float | None = None
    is_last: bool = False
    finish: str | None = None
    """Why it ended, as the engine says."""
