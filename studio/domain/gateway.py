"""How the gateway is set up: names, who may ask, and where it can be reached."""

import msgspec

LOOPBACK = "127.0.0.1"


class GatewaySettings(msgspec.Struct, frozen=True, kw_only=True):
    """What the person chose. Unknown keys of a newer version are ignored."""

    aliases: dict[str, str] = {}
    """Names that clients insist on, to the model that is meant; empty: whatever is served."""
    hosts: tuple[str, ...] = ()
    """Names that requests may come under, besides those of this machine."""
    origins: tuple[str, ...] = ()
    """Web pages that may ask, such as `http://localhost:3000`."""
    address: str = LOOPBACK
    """Where it listens: loopback, one address of this machine, or `0.0.0.0` and `::` for all."""
    tls: bool = False
    certificate: str | None = None
    """A PEM file of the person's own; None: one that the Studio makes."""
    private_key: str | None = None
    adjust: dict[str, bool] = {}
    """Rules that change requests (`runtimes/client_traps.toml`), or `all`, to on or off."""
    adjust_keys: dict[str, dict[str, bool]] = {}
    """The same for single keys, by id; goes before."""

    @property
    def is_exposed(self) -> bool:
        """Tell whether other machines can reach it."""
        return self.address not in ("127.0.0.1", "::1")


class GatewayChange(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to change; what is not named stays."""

    aliases: dict[str, str] = {}
    """To set."""
    hosts: tuple[str, ...] = ()
    """To allow."""
    origins: tuple[str, ...] = ()
    """To allow."""
    forget: tuple[str, ...] = ()
    """Aliases, hosts and origins to take away."""
    address: str | None = None
    port: int | None = None
    """To move to and to keep; it has to be free."""
    tls: bool | None = None
    certificate: str | None = None
    private_key: str | None = None
    expose: bool = False
    """Agreed to: other machines may reach it."""


class GatewayReport(msgspec.Struct, frozen=True, kw_only=True):
    """How the gateway is set up, and where it can be reached now."""

    settings: GatewaySettings
    port: int
    is_open: bool
    urls: tuple[str, ...]
    """Base URLs, this machine's own first."""
    fingerprint: str | None = None
    """SHA-256 of the certificate, where one is used."""
    notes: tuple[str, ...] = ()
    """What follows from this, in sentences."""


class Adjustment(msgspec.Struct, frozen=True, kw_only=True):
    """One rule by which requests are changed so that the engine takes them."""

    id: str
    what: str
    why: str
    source: str
    routes: tuple[str, ...]
    is_on: bool
    is_default: bool
    """Nobody chose it."""
    is_asked: bool
    """Requests work without it, so that it is on only where a person allowed it."""
    fits: bool | None = None
    """Whether it is for the engine that serves now; None: none serves."""
    keys: dict[str, bool] = {}
    """Where it is another way: names of keys to on or off."""
    times: int | None = None
    """How many requests it changed since the service started; None: no service runs."""


class AdjustmentChange(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Switch a rule."""

    id: str
    """`all` for every rule that is on by itself."""
    is_on: bool | None
    """None: as it is by itself."""
    key: str | None = None
    """For this key only, by id; None: for everybody."""


class AdjustmentList(msgspec.Struct, frozen=True, kw_only=True):
    """All of them."""

    adjustments: tuple[Adjustment, ...]
    are_off: bool = False
    """All were switched off together."""
