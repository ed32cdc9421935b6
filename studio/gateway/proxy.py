"""One request on its way to the engine and its answer on the way back.

A stream passes piece by piece as it comes off the engine's socket. Any other answer is kept until
it is whole (the engine sends it in one go), so that an engine that dies in the middle of it gives
an honest 502 instead of half a document.
"""

import dataclasses
import enum
import time

import msgspec

from studio.domain.selftest import Defence
from studio.gateway.dialects import (
    RETRY_NOT_READY_S,
    Dialect,
    Refusal,
    error_body,
    error_event,
    error_event_of,
)
from studio.gateway.usage import (
    TAIL_BYTES,
    StreamTap,
    Tokens,
    answer_tokens,
    engine_reason,
    says_dead,
    tail_tokens,
)
from studio.host.http_client import Call
from studio.host.http_server import Exchange

KEPT_BYTES = 16 << 20
"""Whole answers up to this size are kept; larger ones (embeddings) pass as they come."""

# For one hop only, besides what a Connection header names.
_HOP_BY_HOP = frozenset(
    {
        b"connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"proxy-connection",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    }
)
_NOT_SENT = _HOP_BY_HOP | {
    b"accept-encoding",  # usage is read from the answer, so it must not be compressed
    b"authorization",  # the client's key ends here
    b"content-length",
    b"cookie",
    b"expect",
    b"forwarded",
    b"host",
    b"origin",  # the engine would answer with a CORS header that allows everything
    b"referer",
    b"x-api-key",
    b"x-request-id",
}
_NOT_RETURNED = _HOP_BY_HOP | {b"content-length", b"server", b"set-cookie", b"x-request-id"}
_CORS = b"access-control-"
_PROGRESS = b'"prompt_progress":{'
_JSON = (b"content-type", b"application/json")


class _Mode(enum.Enum):
    WAITING = "waiting"
    STREAM = "stream"
    KEPT = "kept"
    LARGE = "large"


def engine_headers(
    headers: list[tuple[bytes, bytes]],
    *,
    key: str | None,
    request_id: str,
    without: frozenset[Defence] = frozenset(),
) -> list[tuple[bytes, bytes]]:
    """Return the headers of a client's request as the engine gets them."""
    if Defence.HEADERS in without:
        return [pair for pair in headers if pair[0] not in (b"connection", b"content-length")]
    named = b",".join(value for name, value in headers if name == b"connection").lower()
    dropped = {name.strip() for name in named.split(b",")} if named else set()
    sent = [pair for pair in headers if pair[0] not in _NOT_SENT and pair[0] not in dropped]
    if key is not None:
        sent.append((b"authorization", b"Bearer " + key.encode()))
    sent.append((b"x-request-id", request_id.encode()))
    return sent


def send_refusal(
    exchange: Exchange,
    dialect: Dialect,
    refusal: Refusal,
    extra_headers: list[tuple[bytes, bytes]],
) -> None:
    """Answer with an error of the gateway's own, in the dialect's shape."""
    headers = [
        _JSON,
        (b"cache-control", b"no-store"),
        (b"x-weir-error", refusal.code.encode()),
        *refusal.headers,
        *extra_headers,
    ]
    exchange.respond(refusal.status, headers, error_body(dialect, refusal))


class Relay:
    """Takes the engine's answer (a `Sink`) and gives it to the client."""

    def __init__(
        self,
        exchange: Exchange,
        *,
        dialect: Dialect,
        hides_usage: bool,
        extra_headers: list[tuple[bytes, bytes]],
    ) -> None:
        self.status: int | None = None
        self.tokens = Tokens()
        self.has_failed = False
        self.code: str | None = None
        """What went wrong, where it was not the client's fault."""
        self.reason: str | None = None
        """What the engine said about an error, without what people wrote."""
        self.is_cut = False
        """The answer was not waited for, or broke off: its tokens are not the engine's count."""
        self.first_token_s: float | None = None
        """When the first piece of a stream came, by `time.perf_counter`."""
        self._exchange = exchange
        self._dialect = dialect
        self._extra_headers = extra_headers
        self._tap = StreamTap(hides_usage=hides_usage)
        self._hides_usage = hides_usage
        self._mode = _Mode.WAITING
        self._headers: list[tuple[bytes, bytes]] = []
        self._kept: list[bytes] = []
        self._kept_bytes = 0
        self._call: Call | None = None
        self._is_early = exchange.is_started
        """The client was told 200 and a stream while there was no engine yet."""

    @property
    def is_silent(self) -> bool:
        """Whether nothing of the engine's was sent."""
        return self._mode in (_Mode.WAITING, _Mode.KEPT)

    @property
    def is_of_dead_engine(self) -> bool:
        """Whether what is kept, and not sent, is the server's word that its engine died."""
        if self._mode is not _Mode.KEPT or self.status is None or self.status < 500:
            return False
        return says_dead(b"".join(self._kept))

    @property
    def progress(self) -> tuple[Tokens, int]:
        """Return what the engine has said of tokens so far, and the events that went by."""
        return self._tap.tokens, self._tap.events

    def follow(self, call: Call) -> None:
        """Let the client's leaving end the call, and the client's pace be the engine's."""
        self._call = call
        exchange = self._exchange
        exchange.on_gone(call.abort)
        exchange.on_pressure(lambda is_full: call.pause() if is_full else call.resume())

    # Sink

    def on_head(self, status: int, headers: list[tuple[bytes, bytes]]) -> None:
        """Decide by the head how the body travels."""
        self.status = status
        kind, length_bytes = b"", None
        for name, value in headers:
            if name == b"content-type":
                kind = value
            elif name == b"content-length":
                length_bytes = int(value)
            if name not in _NOT_RETURNED and not name.startswith(_CORS):
                self._headers.append((name, value))
        self._headers += self._extra_headers
        if kind.startswith(b"text/event-stream"):
            self._mode = _Mode.STREAM
            if not self._is_early:
                self._exchange.start(status, self._headers)
        elif self._is_early:
            self._mode = _Mode.KEPT
        elif length_bytes is not None and length_bytes > KEPT_BYTES:
            self._pass_large(length_bytes)
        else:
            self._mode = _Mode.KEPT

    def on_data(self, data: bytes) -> None:
        """Pass on or keep a piece of the body."""
        if self._mode is _Mode.STREAM:
            if self.first_token_s is None and self._is_token(data):
                self.first_token_s = time.perf_counter()
            seen = self._tap.feed(data)
            if self.first_token_s is None:
                self._tap.events = 0  # how far the prompt is, and no part of the answer
            if seen:
                self._exchange.write(seen)
            return
        self._kept.append(data)
        self._kept_bytes += len(data)
        if self._mode is _Mode.LARGE:
            self._exchange.write(data)
            if self._kept_bytes > 2 * TAIL_BYTES:
                self._keep_tail()
        elif self._kept_bytes > KEPT_BYTES and not self._is_early:
            self._pass_large(None)
            self._exchange.write(b"".join(self._kept))
            self._keep_tail()

    # The end

    def finish(self) -> None:
        """Complete the answer after the engine did."""
        match self._mode:
            case _Mode.STREAM:
                rest = self._tap.finish()
                if rest:
                    self._exchange.write(rest)
                self._exchange.end()
                self.tokens = self._tap.tokens
                if self._tap.has_error:
                    self.has_failed = True
                    is_dead = self._tap.is_of_dead_engine
                    self.code = "engine-cut-off" if is_dead else "engine-error"
                    self.reason = self._tap.reason
                    self.leave()
            case _Mode.LARGE:
                self._exchange.end()
                self.tokens = tail_tokens(b"".join(self._kept))
            case _Mode.KEPT | _Mode.WAITING:
                self._answer(b"".join(self._kept))

    def fail(self, refusal: Refusal) -> None:
        """End with an error, whatever was sent so far."""
        self.has_failed = True
        if self._exchange.is_started and not self.is_silent:
            self.leave()
        if not self._exchange.is_started:
            self.status = refusal.status
            send_refusal(self._exchange, self._dialect, refusal, self._extra_headers)
        elif self._mode is _Mode.STREAM or (self._is_early and self.is_silent):
            if self._tap.is_within_event and not self._hides_usage:
                self._exchange.write(b"\n\n")
            self._exchange.write(error_event(self._dialect, refusal))
            self._exchange.end()
        else:
            self._exchange.abort()

    def leave(self) -> None:
        """Keep what is known of an answer that the client did not wait for.

        Every event but the first holds a token at least: a guess, and marked as one. Many clients
        leave as soon as the last event came, a moment before the engine ends; that is no cut.
        """
        known = self._tap.tokens
        if self._tap.is_whole and not self._tap.has_error:
            self.tokens = known
            return
        self.is_cut = True
        generated = max(known.generated or 0, self._tap.events - 1)
        self.tokens = dataclasses.replace(known, generated=max(0, generated))

    def cut(self, refusal: Refusal) -> None:
        """End an answer that runs with an error to its client; the engine stops at once."""
        if not self._exchange.is_ended:
            self.fail(refusal)
        if self._call is not None:
            self._call.abort()

    def _answer(self, body: bytes) -> None:
        assert self.status is not None
        if self.status < 400:
            self.tokens = answer_tokens(body)
        else:
            self.has_failed = True
            self.reason = engine_reason(body)
            refusal = _restated(self.status, body, self._exchange.path)
            if refusal is not None:
                self.fail(refusal)
                return
        if not self._is_early:
            self._exchange.respond(self.status, self._headers, body)
        elif self.has_failed:
            self._exchange.write(error_event_of(self._dialect, body))
            self._exchange.end()
        else:
            text = "The engine answered with something else than the stream that was begun."
            self.fail(Refusal(502, "engine-nonsense", text))

    def _pass_large(self, length_bytes: int | None) -> None:
        assert self.status is not None
        self._mode = _Mode.LARGE
        headers = self._headers
        if length_bytes is not None:
            headers = [*headers, (b"content-length", b"%d" % length_bytes)]
        self._exchange.start(self.status, headers)

    def _keep_tail(self) -> None:
        tail = b"".join(self._kept)[-TAIL_BYTES:]
        self._kept, self._kept_bytes = [tail], len(tail)

    def _is_token(self, data: bytes) -> bool:
        """Return whether `data` holds a token; some events come before any.

        Those of a response, and with `return_progress` how far the prompt is (vLLM pull request
        40371: no choices, and `prompt_progress`).
        """
        if self._dialect is Dialect.OPENAI_RESPONSES:
            return b".delta" in data
        return _PROGRESS not in data or b'"delta"' in data or b'"text"' in data


class _EngineError(msgspec.Struct):
    error: dict[str, object] | None = None
    detail: object = None


def _restated(status: int, body: bytes, path: str) -> Refusal | None:
    """Return what to say instead of an engine's error; None when the engine says it well itself."""
    if status == 401:
        return Refusal(
            502,
            "engine-refused-key",
            "The engine does not accept the Studio's own key; restart it with `weir restart`.",
        )
    try:
        answer = msgspec.json.decode(body, type=_EngineError)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        answer = _EngineError()
    if answer.error is not None:
        return None
    if status in {404, 405}:
        return Refusal(404, "route-not-served", f"The engine that runs now does not serve {path}.")
    if status == 503:
        retry = ((b"retry-after", b"%d" % RETRY_NOT_READY_S),)
        return Refusal(503, "engine-not-ready", "The engine is not ready.", headers=retry)
    reason = answer.detail if isinstance(answer.detail, str) else f"status {status}"
    if status >= 500:
        return Refusal(502, "engine-error", f"The engine failed on this request: {reason}.")
    return Refusal(status, "engine-error", f"The engine refused this request: {reason}.")
