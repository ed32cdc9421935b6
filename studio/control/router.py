"""The control API without its transport: method, path, query and body to an answer.

The server (HTTP) and the offline client (in-process) stand on this one table.
"""

import re
from collections.abc import Awaitable, Callable
from typing import TypeVar
from urllib.parse import parse_qs, unquote

import msgspec

from studio.app.studio import Studio
from studio.control.client import PREFIX
from studio.domain.control import KeyRequest, UpRequest
from studio.domain.errors import (
    BadInput,
    Busy,
    EngineNotReady,
    NotFound,
    StudioError,
)
from studio.domain.runtimes import (
    CollectRequest,
    InstallRequest,
    PinRequest,
    RollbackRequest,
    VerifyRequest,
)

T = TypeVar("T")
BODY_LIMIT_BYTES = 1 << 20
_MOST_LINES = 20_000
_MOST_SECONDS = 3_600
_OF_THE_SERVER = {"/events": "GET", "/keep": "POST"}
_BAD_INPUT = {"method-not-allowed": 405, "body-too-large": 413}

Query = dict[str, list[str]]
Call = Callable[[Query, bytes, tuple[str, ...]], Awaitable[object]]


class Router:
    """Answers every call of docs/control-api.md but the event stream."""

    def __init__(self, studio: Studio, *, down: Callable[[], Awaitable[None]]) -> None:
        self._studio = studio
        self._down = down
        self._routes: list[tuple[str, re.Pattern[str], Call]] = [
            ("GET", re.compile(r"/status"), self._status),
            ("POST", re.compile(r"/up"), self._up),
            ("POST", re.compile(r"/switch"), self._switch),
            ("POST", re.compile(r"/restart"), self._restart),
            ("POST", re.compile(r"/stop"), self._stop),
            ("POST", re.compile(r"/down"), self._end),
            ("GET", re.compile(r"/presets"), self._presets),
            ("GET", re.compile(r"/runtimes"), self._runtimes),
            ("GET", re.compile(r"/runtimes/([^/]{1,256})"), self._runtime),
            ("POST", re.compile(r"/runtimes/gc"), self._collect),
            ("POST", re.compile(r"/runtimes/([^/]{1,256})/pin"), self._pin_runtime),
            ("POST", re.compile(r"/runtimes/([^/]{1,256})/series"), self._fetch_series),
            ("POST", re.compile(r"/runtimes/([^/]{1,256})/install"), self._install_runtime),
            ("POST", re.compile(r"/runtimes/([^/]{1,256})/verify"), self._verify_runtime),
            ("POST", re.compile(r"/runtimes/([^/]{1,256})/repair"), self._repair_runtime),
            ("GET", re.compile(r"/runtimes/([^/]{1,256})/versions"), self._versions),
            ("POST", re.compile(r"/runtimes/([^/]{1,256})/rollback"), self._roll_back),
            ("GET", re.compile(r"/ps"), self._ps),
            ("GET", re.compile(r"/logs"), self._logs),
            ("GET", re.compile(r"/history"), self._history),
            ("GET", re.compile(r"/keys"), self._keys),
            ("POST", re.compile(r"/keys"), self._create_key),
            ("POST", re.compile(r"/keys/([^/]{1,1024})/revoke"), self._revoke_key),
        ]

    async def answer(self, method: str, path: str, query: str, body: bytes) -> tuple[int, bytes]:
        """Return status and JSON body; every `StudioError` becomes an answer too.

        `path` is as it was sent, percent-encoding included.
        """
        try:
            result = await self._find(method, path, query, body)
        except StudioError as error:
            return http_status(error), msgspec.json.encode(error.info)
        return 200, msgspec.json.encode(result)

    async def _find(self, method: str, path: str, query: str, body: bytes) -> object:
        inside = path.removeprefix(PREFIX) if path.startswith(PREFIX) else ""
        others = []
        for allowed, pattern, call in self._routes:
            match = pattern.fullmatch(inside)
            if match and allowed == method:
                return await call(parse_qs(query), body, match.groups())
            if match:
                others.append(allowed)
        of_server = _OF_THE_SERVER.get(inside, method)
        if of_server != method:
            others.append(of_server)
        if others:
            raise BadInput("method-not-allowed", f"{path} takes {', '.join(others)}, not {method}.")
        raise NotFound("path-unknown", f"The control API has no {path}.")

    async def _status(self, _query: Query, _body: bytes, _parts: tuple[str, ...]) -> object:
        return self._studio.status()

    async def _up(self, _query: Query, body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._studio.up(_read(body, UpRequest))

    async def _switch(self, _query: Query, body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._studio.switch(_read(body, UpRequest))

    async def _restart(self, _query: Query, _body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._studio.restart()

    async def _stop(self, _query: Query, _body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._studio.stop()

    async def _end(self, _query: Query, _body: bytes, _parts: tuple[str, ...]) -> object:
        await self._down()
        return {"down": True}

    async def _presets(self, _query: Query, _body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._studio.presets()

    async def _runtimes(self, _query: Query, _body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._studio.runtimes.all()

    async def _runtime(self, _query: Query, _body: bytes, parts: tuple[str, ...]) -> object:
        return await self._studio.runtimes.one(unquote(parts[0]))

    async def _pin_runtime(self, _query: Query, body: bytes, parts: tuple[str, ...]) -> object:
        return await self._studio.runtimes.pin(unquote(parts[0]), _read(body, PinRequest))

    async def _fetch_series(self, _query: Query, _body: bytes, parts: tuple[str, ...]) -> object:
        return await self._studio.runtimes.series(unquote(parts[0]))

    async def _install_runtime(self, _query: Query, body: bytes, parts: tuple[str, ...]) -> object:
        return await self._studio.runtimes.install(unquote(parts[0]), _read(body, InstallRequest))

    async def _verify_runtime(self, _query: Query, body: bytes, parts: tuple[str, ...]) -> object:
        full = _read(body, VerifyRequest).full
        return await self._studio.runtimes.verify(unquote(parts[0]), full=full)

    async def _repair_runtime(self, _query: Query, _body: bytes, parts: tuple[str, ...]) -> object:
        return await self._studio.runtimes.repair(unquote(parts[0]))

    async def _versions(self, _query: Query, _body: bytes, parts: tuple[str, ...]) -> object:
        return await self._studio.runtimes.kept(unquote(parts[0]))

    async def _roll_back(self, _query: Query, body: bytes, parts: tuple[str, ...]) -> object:
        return await self._studio.runtimes.rollback(unquote(parts[0]), _read(body, RollbackRequest))

    async def _collect(self, _query: Query, body: bytes, _parts: tuple[str, ...]) -> object:
        dry_run = _read(body, CollectRequest).dry_run
        return await self._studio.runtimes.collect(dry_run=dry_run)

    async def _ps(self, _query: Query, _body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._studio.ps()

    async def _logs(self, query: Query, _body: bytes, _parts: tuple[str, ...]) -> object:
        after = _number(query, "after", None, most=None)
        lines = _number(query, "lines", 200, most=_MOST_LINES)
        return self._studio.logs(lines=lines or 0, after=after)

    async def _history(self, query: Query, _body: bytes, _parts: tuple[str, ...]) -> object:
        return self._studio.history(_number(query, "seconds", 300, most=_MOST_SECONDS) or 0)

    async def _keys(self, _query: Query, _body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._studio.keys()

    async def _create_key(self, _query: Query, body: bytes, _parts: tuple[str, ...]) -> object:
        return await self._studio.create_key(_read(body, KeyRequest))

    async def _revoke_key(self, _query: Query, _body: bytes, parts: tuple[str, ...]) -> object:
        return await self._studio.revoke_key(unquote(parts[0]))


def http_status(error: StudioError) -> int:
    """Return the HTTP status that goes with an error of ours."""
    match error:
        case NotFound():
            return 404
        case BadInput():
            return _BAD_INPUT.get(error.code, 400)
        case Busy() | EngineNotReady():
            return 409
        case _:
            return 422


def _read(body: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(body or b"{}", type=kind)
    except msgspec.DecodeError as error:
        raise BadInput(
            "request-invalid", f"The request is not as it should be: {error}."
        ) from error


def _number(query: Query, name: str, default: int | None, *, most: int | None) -> int | None:
    texts = query.get(name)
    if not texts:
        return default
    if not texts[0].isdecimal() or len(texts[0]) > 15:
        raise BadInput("request-invalid", f"`{name}` should be a whole number, found `{texts[0]}`.")
    return int(texts[0]) if most is None else min(int(texts[0]), most)
