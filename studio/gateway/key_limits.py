"""What a key may do: limits as typed, checked and made ready for the fast path. Pure."""

import datetime
import difflib
import ipaddress
import re
from collections.abc import Callable

import msgspec

from studio.domain.errors import BadInput
from studio.domain.keys import KeyLimits
from studio.gateway.dialects import Dialect, Refusal
from studio.gateway.routes import Route, passing

_COUNTS = {
    "requests_per_minute": "requests a minute",
    "max_concurrent": "requests at a time",
    "tokens_per_day": "tokens a day",
    "warn_tokens_per_day": "tokens a day before a warning",
    "max_context": "tokens of context",
}
_MOST = 10**12
_MOST_PER_MINUTE = 100_000
"""Each of the last minute's requests is remembered."""
_MOST_NAMES = 100
_NAME_LENGTH = 256
_SPAN = re.compile(r"(\d{1,6})\s*([hdwy])")
_SPAN_HOURS = {"h": 1, "d": 24, "w": 24 * 7, "y": 24 * 365}
_DIALECTS = {
    "openai": frozenset({Dialect.OPENAI, Dialect.OPENAI_RESPONSES}),
    "anthropic": frozenset({Dialect.ANTHROPIC}),
}
_ROUTES = {route.name.removeprefix("/v1/").lstrip("/"): route.name for route in passing()}

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def checked(limits: KeyLimits, *, now_s: float) -> KeyLimits:
    """Return `limits` in one spelling each; `expires_at` may be a span (`30d`) or a day.

    Raises: BadInput (`key-limit-invalid`).
    """
    for name, what in _COUNTS.items():
        value = getattr(limits, name)
        most = _MOST_PER_MINUTE if name == "requests_per_minute" else _MOST
        if value is not None and not 1 <= value <= most:
            raise _invalid(
                f"A key must allow 1 to {most:,} {what}, not {value:,}.",
                "Leave the limit out for none.",
            )
    soft, hard = limits.warn_tokens_per_day, limits.tokens_per_day
    if soft is not None and hard is not None and soft > hard:
        raise _invalid(
            f"The warning at {soft:,} tokens a day would come after the end at {hard:,}.",
            "Set the warning below the limit.",
        )
    return msgspec.structs.replace(
        limits,
        models=_names(limits.models, "models"),
        routes=_names(limits.routes, "routes", _route),
        addresses=_names(limits.addresses, "addresses", lambda text: str(_network(text))),
        expires_at=None if limits.expires_at is None else _moment(limits.expires_at, now_s),
        only_running=limits.only_running or None,
    )


class Gate:
    """Limits that need nothing but the request's head, ready for use; under 5 µs each time."""

    __slots__ = ("_addresses", "_dialects", "_expires_s", "_known", "_models", "_paths")

    def __init__(self, limits: KeyLimits) -> None:
        self._models = None if limits.models is None else frozenset(limits.models)
        self._dialects: frozenset[Dialect] | None = None
        self._paths: frozenset[str] = frozenset()
        if limits.routes is not None:
            words = [word for word in limits.routes if word in _DIALECTS]
            self._dialects = frozenset[Dialect]().union(*(_DIALECTS[word] for word in words))
            self._paths = frozenset(_ROUTES[word] for word in limits.routes if word in _ROUTES)
        self._addresses: tuple[Network, ...] | None = None
        if limits.addresses is not None:
            self._addresses = tuple(ipaddress.ip_network(one) for one in limits.addresses)
        self._known: dict[str, bool] = {}
        self._expires_s: float | None = None
        if limits.expires_at is not None:
            self._expires_s = datetime.datetime.fromisoformat(limits.expires_at).timestamp()

    def has_expired(self, now_s: float) -> bool:
        """Tell whether the key's time is over."""
        return self._expires_s is not None and now_s >= self._expires_s

    def check(self, route: Route, peer: str | None) -> None:
        """Refuse what this key may not ask for, or may not ask from there.

        Raises: Refusal (`key-address`, `key-route`).
        """
        if self._addresses is not None and not self._comes_from(peer):
            raise Refusal(403, "key-address", f"This key may not be used from {peer or 'here'}.")
        if self._dialects is None or route not in _LIMITED:
            return
        if route.dialect in self._dialects:
            return
        if not any(route.name == one or route.name.startswith(f"{one}/") for one in self._paths):
            raise Refusal(403, "key-route", f"This key may not use {route.name}.")

    def allows_model(self, name: str) -> bool:
        """Tell whether requests may name this model."""
        return self._models is None or name in self._models

    def check_model(self, name: str) -> None:
        """Refuse a model that this key is not for. Raises: Refusal (`key-model`)."""
        if self._models is not None and name not in self._models:
            names = ", ".join(sorted(self._models))
            text = f"This key may not use the model {name!r}; it is for: {names}."
            raise Refusal(403, "key-model", text, param="model")

    def _comes_from(self, peer: str | None) -> bool:
        if peer is None or self._addresses is None:
            return False
        known = self._known.get(peer)
        if known is None:
            try:
                address = plain(ipaddress.ip_address(peer.partition("%")[0]))
            except ValueError:
                return False
            known = any(address in network for network in self._addresses)
            if len(self._known) > _MOST_NAMES:
                self._known.clear()
            self._known[peer] = known
        return known


def plain(address: Address) -> Address:
    """Return an IPv4 address that travels in an IPv6 one as itself."""
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


_LIMITED = frozenset(passing())


def _names(
    given: tuple[str, ...] | None, what: str, read: Callable[[str], str] | None = None
) -> tuple[str, ...] | None:
    if given is None:
        return None
    names = tuple(dict.fromkeys((read or _name)(text.strip()) for text in given))
    if not names or len(names) > _MOST_NAMES:
        raise _invalid(f"A key is for 1 to {_MOST_NAMES} {what}.", "Leave them out for all.")
    return names


def _name(text: str) -> str:
    if not 1 <= len(text) <= _NAME_LENGTH or not text.isprintable():
        raise _invalid(f"{text!r} is no name of a model.", "`weir presets` shows names.")
    return text


def _route(text: str) -> str:
    word = text.removeprefix("/").removeprefix("v1/")
    if word in _DIALECTS or word in _ROUTES:
        return word
    known = [*_DIALECTS, *_ROUTES]
    near = difflib.get_close_matches(word, known, n=1)
    hint = f"Did you mean `{near[0]}`? " if near else ""
    raise _invalid(f"There is no route {text!r}.", f"{hint}Known: {', '.join(known)}.")


def _network(text: str) -> Network:
    try:
        return ipaddress.ip_network(text, strict=True)
    except ValueError:
        pass
    try:
        wide = ipaddress.ip_network(text, strict=False)
    except ValueError:
        raise _invalid(
            f"{text!r} is no address and no network.", "Write `192.168.1.20` or `192.168.1.0/24`."
        ) from None
    raise _invalid(f"{text!r} names a host inside a network.", f"Write `{wide}` for all of it.")


def _moment(text: str, now_s: float) -> str:
    now = datetime.datetime.fromtimestamp(now_s).astimezone()
    span = _SPAN.fullmatch(text.strip().lower())
    try:
        if span is not None:
            at = now + datetime.timedelta(hours=int(span[1]) * _SPAN_HOURS[span[2]])
        else:
            at = datetime.datetime.fromisoformat(text.strip()).astimezone()
            at.timestamp()
    except (ValueError, OverflowError, OSError):
        raise _invalid(
            f"{text!r} is no moment.", "Write `12h`, `30d`, or a day: `2027-01-31`."
        ) from None
    if at <= now:
        raise _invalid(f"{text!r} is over already.", "Write a moment to come, such as `30d`.")
    return at.isoformat(timespec="seconds")


def _invalid(message: str, hint: str) -> BadInput:
    return BadInput("key-limit-invalid", message, hint=hint)
