"""The control API's calls about chat clients, and one answer from the gateway as they see it."""

import ssl
import time
from collections.abc import AsyncGenerator, Callable

import httpx
import msgspec

from studio.control.transport import Calls, part, query_text
from studio.domain.clients import (
    ClientList,
    Connected,
    ConnectPlan,
    ConnectRequest,
    TryGrant,
    TryPiece,
    Undone,
)
from studio.domain.errors import EngineFailed, EngineNotReady, ServiceUnreachable, StudioError

_CONNECT_S = 10.0
_QUIET_S = 900.0
"""A large model may be loading before the first token comes (`weir gateway on-demand`)."""
_TOKENS = 512
_DATA = "data:"
_DONE = "[DONE]"
_MESSAGE_CHARACTERS = 400


class _Delta(msgspec.Struct, frozen=True):
    content: str | None = None
    reasoning: str | None = None
    reasoning_content: str | None = None


class _Choice(msgspec.Struct, frozen=True):
    delta: _Delta | None = None
    finish_reason: str | None = None


class _Usage(msgspec.Struct, frozen=True):
    completion_tokens: int | None = None


class _Fault(msgspec.Struct, frozen=True):
    message: str = ""


class _Chunk(msgspec.Struct, frozen=True):
    choices: tuple[_Choice, ...] = ()
    usage: _Usage | None = None
    error: _Fault | None = None


_CHUNKS = msgspec.json.Decoder(_Chunk)


class ConnectCalls(Calls):
    """Chat clients, and trying it."""

    async def clients(self) -> ClientList:
        """Return the chat clients that are known, those found here first."""
        return await self.call("GET", "/clients", ClientList)

    async def plan_client(self, client: str, request: ConnectRequest) -> ConnectPlan:
        """Return what connecting a client would write; changes nothing."""
        path = f"/clients/{part(client)}/plan"
        return await self.call("POST", path, ConnectPlan, body=request)

    async def connect_client(self, client: str, request: ConnectRequest) -> Connected:
        """Give a client its key, and write its file where it has one."""
        path = f"/clients/{part(client)}/connect"
        return await self.call("POST", path, Connected, body=request, patient=True)

    async def undo_client(self, client: str) -> Undone:
        """Put a client's file back as it was."""
        return await self.call("POST", f"/clients/{part(client)}/undo", Undone)

    async def grant_try(self, model: str | None = None) -> TryGrant:
        """Borrow what is needed to ask the gateway for one answer."""
        return await self.call("POST", f"/try{query_text(model=model)}", TryGrant)


class _Watch:
    """What is seen of one answer."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._asked_s = clock()
        self._first_s: float | None = None
        self._last_s: float | None = None
        self._pieces = 0
        self._tokens: int | None = None
        self._finish: str | None = None

    def piece(self, chunk: _Chunk) -> TryPiece | None:
        """Return what a chunk brings; None: nothing to show."""
        text = thought = ""
        for choice in chunk.choices:
            self._finish = choice.finish_reason or self._finish
            if choice.delta is not None:
                text += choice.delta.content or ""
                thought += choice.delta.reasoning or choice.delta.reasoning_content or ""
        if chunk.usage is not None and chunk.usage.completion_tokens is not None:
            self._tokens = chunk.usage.completion_tokens
        if not text and not thought:
            return None
        self._last_s = self._clock()
        self._first_s = self._last_s if self._first_s is None else self._first_s
        self._pieces += 1
        return self._seen(text or thought, is_thought=not text)

    def last(self) -> TryPiece:
        """Return how it ended."""
        return self._seen("", is_last=True)

    def _seen(self, text: str, *, is_thought: bool = False, is_last: bool = False) -> TryPiece:
        tokens = self._pieces if self._tokens is None else self._tokens
        first, last = self._first_s, self._last_s
        rate = None
        if first is not None and last is not None and last > first and tokens > 1:
            rate = (tokens - 1) / (last - first)
        return TryPiece(
            text=text,
            is_thought=is_thought,
            ttft_s=first - self._asked_s if first is not None else None,
            tokens=tokens,
            tokens_per_s=rate,
            is_last=is_last,
            finish=self._finish,
        )


async def answer(
    grant: TryGrant, prompt: str, *, clock: Callable[[], float] = time.perf_counter
) -> AsyncGenerator[TryPiece, None]:
    """Ask the gateway and yield the answer as it comes. The figures are those seen by this caller.

    A caller that stops early closes the generator; the gateway then ends the request.

    Raises: ServiceUnreachable (`gateway-unreachable`), EngineNotReady (`try-refused`),
    EngineFailed (`try-broken-off`).
    """
    body = {
        "model": grant.model,
        "messages": [{"role": "user", "content": prompt}],
        "max_tokens": _TOKENS,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    timeout = httpx.Timeout(_CONNECT_S, read=_QUIET_S)
    headers = {"authorization": f"Bearer {grant.key}"}
    try:
        async with httpx.AsyncClient(
            timeout=timeout, trust_env=False, verify=_trust(grant.certificate)
        ) as client:
            watch = _Watch(clock)
            url = f"{grant.base_url}/chat/completions"
            async with client.stream("POST", url, json=body, headers=headers) as response:
                if response.status_code != httpx.codes.OK:
                    raise _refused(response.status_code, await response.aread())
                async for line in response.aiter_lines():
                    piece = _piece(line, watch)
                    if piece is not None:
                        yield piece
            yield watch.last()
    except httpx.RequestError as error:
        raise ServiceUnreachable(
            "gateway-unreachable",
            f"The gateway at {grant.base_url} did not answer to the end: {error}.",
            hint="`weir gateway` says where it listens, `weir status` whether an engine serves.",
        ) from error


def _piece(line: str, watch: _Watch) -> TryPiece | None:
    data = line.removeprefix(_DATA).strip()
    if not line.startswith(_DATA) or data == _DONE:
        return None
    try:
        chunk = _CHUNKS.decode(data)
    except msgspec.DecodeError as error:
        raise EngineFailed(
            "try-broken-off", f"The answer holds something that is no piece of one: {error}."
        ) from error
    if chunk.error is not None:
        raise EngineFailed(
            "try-broken-off", f"The answer was broken off: {chunk.error.message}".rstrip(".") + "."
        )
    return watch.piece(chunk)


def _refused(status: int, raw: bytes) -> StudioError:
    try:
        message = msgspec.json.decode(raw, type=_Chunk).error
    except msgspec.DecodeError:
        message = None
    why = message.message if message is not None else raw.decode("utf-8", "replace")
    return EngineNotReady(
        "try-refused",
        f"The gateway refused with {status}: {why[:_MESSAGE_CHARACTERS].strip()}".rstrip(".") + ".",
        hint="Start a preset first: `weir up`." if status in (404, 409, 503) else None,
    )


def _trust(certificate: str | None) -> ssl.SSLContext | bool:
    """Return what the gateway's certificate is checked against: itself, as the service sent it."""
    if certificate is None:
        return True
    context = ssl.create_default_context()
    context.load_verify_locations(cadata=certificate)
    return context
