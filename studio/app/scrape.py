"""The endpoint for Prometheus: off until a person opens it, with a token of its own.

It answers on the control port, under the same rules for Host and Origin; its token opens nothing
else, and the control token does not open it.
"""

import hmac
import secrets
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, assert_never

import msgspec

from studio.domain.control import KeyInfo, Status
from studio.domain.errors import BadInput, NotFound
from studio.domain.scrape import ScrapeAction, ScrapeInfo, ScrapeRequest, ScrapeToken
from studio.host.documents import read_json, write_json
from studio.monitor import exposition

PATH = "/metrics"
_PREFIX = "weir-metrics-"
_LOWEST_PORT = 1_024


class ScrapeFile(msgspec.Struct, frozen=True, kw_only=True):
    """`metrics.json` of the Studio's folder, mode 0600."""

    is_on: bool = False
    token: str | None = None
    port: Annotated[int, msgspec.Meta(ge=1, le=65_535)] | None = None


class Scrape:
    """The endpoint of one home."""

    def __init__(self, path: Path, text: Callable[[], bytes]) -> None:
        """`text` returns what is exposed now."""
        self._path = path
        self._text = text
        self._kept: ScrapeFile | None = None
        self.open_port: int | None = None
        """Where the control server listens; None: in this process none does."""

    @property
    def _now(self) -> ScrapeFile:
        """Read the file once. Raises: Damaged (`file-damaged`)."""
        if self._kept is None:
            self._kept = read_json(self._path, ScrapeFile) or ScrapeFile()
        return self._kept

    @property
    def wanted_port(self) -> int | None:
        """Return the port that a scraper knows; None where nobody scrapes."""
        return self._now.port if self._now.is_on else None

    async def info(self) -> ScrapeInfo:
        """Return how it stands."""
        now, port = self._now, self.open_port
        url, note = None, None
        if now.is_on and port is not None:
            url = f"http://127.0.0.1:{port}{PATH}"
            if now.port not in (None, port):
                note = f"Port {now.port} is asked for when the service starts the next time."
        return ScrapeInfo(is_on=now.is_on, url=url, port=now.port, note=note)

    async def change(self, request: ScrapeRequest) -> ScrapeInfo:
        """Open it, close it, or make a new token.

        Raises: BadInput (`metrics-port`, `metrics-off`), HostLacks (`not-writable`, …).
        """
        now = self._now
        after = self._after(now, request)
        if after != now:
            write_json(self._path, after, mode=0o600)
            self._kept = after
        return await self.info()

    def _after(self, now: ScrapeFile, request: ScrapeRequest) -> ScrapeFile:
        match request.action:
            case ScrapeAction.ON:
                port = request.port or now.port or self.open_port
                if request.port is not None and not _LOWEST_PORT <= request.port <= 65_535:
                    raise BadInput(
                        "metrics-port",
                        f"The port {request.port} cannot be used.",
                        hint=f"Choose one from {_LOWEST_PORT} to 65535.",
                    )
                return ScrapeFile(is_on=True, token=now.token or _new_token(), port=port)
            case ScrapeAction.OFF:
                return msgspec.structs.replace(now, is_on=False)
            case ScrapeAction.ROTATE:
                if not now.is_on:
                    raise _is_off()
                return msgspec.structs.replace(now, token=_new_token())
            case _:
                assert_never(request.action)

    async def token(self) -> ScrapeToken:
        """Return the token. Raises: BadInput (`metrics-off`)."""
        now = self._now
        if not now.is_on or now.token is None:
            raise _is_off()
        return ScrapeToken(token=now.token)

    def answer(self, authorization: bytes) -> bytes:
        """Return what is exposed.

        Raises: NotFound (`metrics-off`), BadInput (`token-wrong`).
        """
        now = self._now
        if not now.is_on or now.token is None:
            raise NotFound("metrics-off", "The endpoint for Prometheus is off.", hint=_TURN_ON)
        if not hmac.compare_digest(authorization, b"Bearer " + now.token.encode()):
            raise BadInput(
                "token-wrong",
                "The token for metrics is missing or wrong.",
                hint="`weir metrics show-token` prints it.",
            )
        return self._text()


_TURN_ON = "`weir metrics on` opens it."


def _is_off() -> BadInput:
    return BadInput("metrics-off", "The endpoint for Prometheus is off.", hint=_TURN_ON)


def _new_token() -> str:
    return _PREFIX + secrets.token_urlsafe(32)


def exposed(now: Status, keys: Iterable[KeyInfo]) -> bytes:
    """Return what Prometheus reads of one instant."""
    return exposition.text(
        exposition.Now(
            version=now.service.version,
            started_at=now.service.started_at,
            engine=now.engine,
            tick=now.tick,
            in_flight=now.gateway.in_flight,
            waiting=now.gateway.waiting,
            requests=now.gateway.requests,
            keys=tuple(keys),
            alarms=tuple(one for one in now.alarms if one.ended_at is None),
        )
    )
