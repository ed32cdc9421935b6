"""How the Studio goes out to the network, as people set it and as they are shown it.

What is shown carries no password: whoever fills a `NetworkReport` has taken it out.
"""

import msgspec


class Mirror(msgspec.Struct, frozen=True, kw_only=True):
    """Addresses that begin with `of` may be had at `at` too, which is asked first."""

    of: str
    at: str


class NetworkSettings(msgspec.Struct, frozen=True, kw_only=True):
    """`network.json`: what the person chose; it wins over the environment and pip's files.

    Unknown keys of a newer version are ignored.
    """

    schema_version: int = 1
    proxy: str | None = None
    """An address, or `direct`: no proxy, whatever the environment says."""
    no_proxy: tuple[str, ...] = ()
    ca_file: str | None = None
    offline: bool | None = None
    connections: int | None = None
    """How many parts of one file are fetched at a time."""
    mirrors: tuple[Mirror, ...] = ()


class NetworkChange(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to set, name to text, and which names to forget. Forgetting comes first."""

    values: dict[str, str] = {}
    forget: tuple[str, ...] = ()


class ProxyInfo(msgspec.Struct, frozen=True, kw_only=True):
    """The proxy for one scheme."""

    scheme: str
    url: str
    """Without user name and password."""
    has_password: bool = False
    source: str


class AuthorityInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A file or folder of certificate authorities that are trusted."""

    path: str
    source: str
    problem: str | None = None
    """Why it is not used; None: it is."""


class MirrorInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A mirror and who named it."""

    of: str
    at: str
    source: str


class NetworkReport(msgspec.Struct, frozen=True, kw_only=True):
    """The policy in force for everything that goes out."""

    offline: bool
    offline_source: str | None = None
    proxies: tuple[ProxyInfo, ...] = ()
    no_proxy: tuple[str, ...] = ()
    authorities: tuple[AuthorityInfo, ...] = ()
    client_certificate: str | None = None
    mirrors: tuple[MirrorInfo, ...] = ()
    package_index: str | None = None
    """None: the installer's own default."""
    package_extra_indexes: tuple[str, ...] = ()
    package_folders: tuple[str, ...] = ()
    connections: int
    connect_s: float
    stall_s: float
    tries: int
    user_agent: str
    settings_file: str
    downloads_folder: str
    """Where files that were fetched by hand are looked for."""
    notes: tuple[str, ...] = ()
    """What is set and has no effect, and why."""
