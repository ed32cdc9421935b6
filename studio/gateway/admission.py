"""Whether a key's request goes on: from where, to what, how often, how much, how long.

What needs only the head is looked at before the body is read. Each refusal has a code of its own,
and says when to come again where time heals it.
"""

import math
import time

from studio.gateway import context
from studio.gateway.bodies import Prepared
from studio.gateway.dialects import Refusal
from studio.gateway.engine import EngineTarget
from studio.gateway.key import Key
from studio.gateway.request import Request
from studio.gateway.routes import Route
from studio.gateway.usage_book import UsageBook
from studio.host.http_client import Pieces

_MINUTE_S = 60.0


def check(key: Key, route: Route, peer: str | None) -> None:
    """Refuse a key whose time is over, a place or a route that it is not for.

    Raises: Refusal (`key-expired`, `key-address`, `key-route`).
    """
    if key.gate.has_expired(time.time()):
        raise Refusal(
            401,
            "key-expired",
            f"The key {key.name!r} ended on {key.limits.expires_at}.",
            headers=((b"www-authenticate", b"Bearer"),),
        )
    key.gate.check(route, peer)


def admit(key: Key, request: Request, book: UsageBook) -> None:
    """Refuse what is too much at once, a minute or a day; a request that is let in is counted.

    Raises: Refusal (`key-busy`, `key-spent`, `key-rate`).
    """
    limits = key.limits
    if limits.max_concurrent is not None and key.in_flight >= limits.max_concurrent:
        most = limits.max_concurrent
        many = "1 request" if most == 1 else f"{most} requests"
        text = f"The key {key.name!r} may have {many} at a time."
        raise _later("key-busy", text, 1.0)
    if limits.tokens_per_day is not None or limits.warn_tokens_per_day is not None:
        _check_day(key, request, book)
    if limits.requests_per_minute is not None:
        _check_minute(key, limits.requests_per_minute)


async def bounded(request: Request, prepared: Prepared, engine: EngineTarget) -> Pieces:
    """Return the body to send; refuse a model or a length that the key is not for.

    Raises: Refusal (`key-model`, `key-revoked`, `key-context`, `context-unknown`).
    """
    key, route = request.key, request.route
    assert key is not None
    assert route is not None
    if key.revoked_at is not None:  # while the body came
        raise Refusal(401, "key-revoked", "The key of this request was revoked.")
    check_model(key, prepared.model, prepared.meant or engine.served_name)
    if key.limits.max_context is None:
        return prepared.pieces
    body = await context.bounded(
        prepared.body, route, engine, most=key.limits.max_context, key_name=key.name
    )
    return (body,)


def check_model(key: Key, named: str | None, served_name: str) -> None:
    """Refuse a model that a key is not for, by the name it was asked for or its public one.

    Raises: Refusal (`key-model`).
    """
    if named is None or not key.gate.allows_model(named):
        key.gate.check_model(served_name)  # a key for an alias may use the alias


def check_start(key: Key, preset: str) -> None:
    """Refuse to start a preset for a key that may use only what runs.

    Raises: Refusal (`key-start`).
    """
    if key.limits.only_running:
        text = f"The key {key.name!r} may use only what runs already, and {preset!r} does not run."
        raise Refusal(403, "key-start", text, param="model")


def _check_day(key: Key, request: Request, book: UsageBook) -> None:
    now_s = time.time()
    spent = book.spent_today(key.id, now_s)
    limits = key.limits
    if limits.tokens_per_day is not None and spent >= limits.tokens_per_day:
        text = (
            f"The key {key.name!r} has used {spent:,} of its {limits.tokens_per_day:,} tokens of"
            " this day."
        )
        raise _later("key-spent", text, book.day_ends_s - now_s)
    if limits.warn_tokens_per_day is not None and spent >= limits.warn_tokens_per_day:
        warning = f"{spent} tokens used today, warned from {limits.warn_tokens_per_day}"
        request.extra_headers.append((b"x-weir-warning", warning.encode()))


def _check_minute(key: Key, most: int) -> None:
    now_s = time.monotonic()
    recent = key.recent_s
    while recent and recent[0] <= now_s - _MINUTE_S:
        recent.popleft()
    if len(recent) >= most:
        text = f"The key {key.name!r} may make {most:,} requests a minute."
        raise _later("key-rate", text, recent[-most] + _MINUTE_S - now_s)
    recent.append(now_s)


def _later(code: str, text: str, wait_s: float) -> Refusal:
    after = b"%d" % max(1, math.ceil(wait_s))
    return Refusal(429, code, text, headers=((b"retry-after", after),))
