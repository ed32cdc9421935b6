"""How a call of the control API travels, and what its answer becomes."""

import asyncio
import ssl
from collections.abc import Mapping
from typing import TypeVar
from urllib.parse import quote

import httpcore
import httpx
import msgspec

from studio.domain.errors import ErrorInfo, ServiceUnreachable, StudioError, from_info
from studio.domain.events import Event

T = TypeVar("T")

PREFIX = "/control/v1"
_QUICK_S = 15.0
_EVENT_PREFIX = b"data: "
_EVENTS: msgspec.json.Decoder[Event] = msgspec.json.Decoder(Event)


class Calls:
    """The transport of a client: HTTP to a running service, or in-process."""

    def __init__(
        self,
        base_url: str,
        token: str,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._http = httpx.AsyncClient(
            base_url=base_url,
            headers={"Authorization": f"Bearer {token}"},
            transport=_Closing(transport or httpx.AsyncHTTPTransport(verify=_no_tls())),
            timeout=httpx.Timeout(_QUICK_S, read=_QUICK_S),
            trust_env=False,
        )

    async def close(self) -> None:
        """Close the connections, also when the caller is cancelled meanwhile.

        The pool walks through them with a wait at each: who is behind the one where a cancellation
        comes would stay open.
        """
        closing = asyncio.gather(self._http.aclose())
        try:
            await asyncio.shield(closing)
        except asyncio.CancelledError:
            await asyncio.wait({closing})
            raise

    async def call(
        self,
        method: str,
        path: str,
        kind: type[T],
        *,
        body: msgspec.Struct | None = None,
        patient: bool = False,
    ) -> T:
        """Return the answer to one call; a patient one waits as long as it takes.

        Raises: what the service answers with; ServiceUnreachable.
        """
        timeout = httpx.Timeout(_QUICK_S, read=None if patient else _QUICK_S)
        try:
            response = await self._http.request(
                method,
                PREFIX + path,
                content=msgspec.json.encode(body) if body is not None else None,
                headers={"Content-Type": "application/json"} if body is not None else None,
                timeout=timeout,
            )
        except httpx.RequestError as error:
            raise unreachable(error) from error
        if response.is_error:
            raise error_of(response)
        return decoded(response.content, msgspec.json.Decoder(kind))


class _Closing(httpx.AsyncBaseTransport):
    """A pool that stays closed: what a request opens that is still under way is closed, too.

    httpcore 1.0.9 forgets a connection that is being made when its pool is closed: nobody has it
    then, and it stays open until the garbage collector finds it. Its trace tells when it is made.
    """

    def __init__(self, pool: httpx.AsyncBaseTransport) -> None:
        self._pool = pool
        self._is_closed = False

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send one request on its way."""
        request.extensions = {**request.extensions, "trace": self._see}
        return await self._pool.handle_async_request(request)

    async def _see(self, _event: str, info: Mapping[str, object]) -> None:
        made = info.get("return_value")
        if self._is_closed and isinstance(made, httpcore.AsyncNetworkStream):
            await made.aclose()

    async def aclose(self) -> None:
        """Close all connections."""
        self._is_closed = True
        await self._pool.aclose()


def part(text: str) -> str:
    """Return one part of a path, whatever it holds: dots would be taken for a way up."""
    return quote(text, safe="").replace(".", "%2E")


def query_text(**words: str | None) -> str:
    """Return the query of a path, without what is None."""
    given = [f"{name}={quote(text, safe='')}" for name, text in words.items() if text is not None]
    return f"?{'&'.join(given)}" if given else ""


def _no_tls() -> ssl.SSLContext:
    """Return a context that trusts nobody: the service speaks plain HTTP on loopback.

    The usual one reads the machine's certificates, which costs each command 40 ms.
    """
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def decoded(raw: bytes, decoder: msgspec.json.Decoder[T]) -> T:
    """Return an answer as its record. Raises: ServiceUnreachable (`service-answer-unknown`)."""
    try:
        return decoder.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _not_understood(f"cannot be understood: {error}") from error


def error_of(response: httpx.Response) -> StudioError:
    """Return the error that an answer holds."""
    try:
        return from_info(msgspec.json.decode(response.content, type=ErrorInfo))
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _not_understood(f"has status {response.status_code} and no reason")


def _not_understood(what: str) -> ServiceUnreachable:
    return ServiceUnreachable(
        "service-answer-unknown",
        f"The service's answer {what}.",
        hint="It may be of another version: end it with `weir down`, then run `weir up` again.",
    )


def unreachable(error: httpx.RequestError) -> ServiceUnreachable:
    """Return that the service does not answer."""
    return ServiceUnreachable(
        "service-unreachable",
        "The service does not answer, or has gone away.",
        evidence=(str(error) or type(error).__name__,),
        hint="Start it with `weir up`, or look at its log in the Studio's folder.",
    )
