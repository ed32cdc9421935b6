"""Tokens of a request, read from what the engine says about them; never counted from chunks.

`StreamTap` looks at a stream of events as it passes. It changes nothing, except that it drops the
one usage event that the gateway itself asked for.
"""

import dataclasses
import re
from collections.abc import Iterator
from typing import TypeVar

import msgspec

from studio.domain.redaction import redact

_USAGE = b'"usage"'
_ERROR = b'"error"'
_DEAD = b"EngineCore encountered an issue"
"""How vLLM's server says that its engine is dead. Source: vLLM 0.32, v1/engine/exceptions.py."""
_EVENT_END = re.compile(rb"\r?\n\r?\n")
_LAST_EVENTS = (
    b"data: [DONE]",
    b"event: message_stop",
    b"event: response.completed",
    b"event: response.incomplete",
    b"event: response.failed",
)
_HOLD_LIMIT_BYTES = 8 << 20
"""An event longer than this is passed on unread: memory before figures."""

_REASON_CHARS = 200
_REPEATED = re.compile(
    r"[\[{(,]?\s*['\"]?input(?:_value|_type)?['\"]?\s*[:=]|For further information"
)
"""Where vLLM's validators begin to repeat what was sent. Source: vLLM 0.26 and 0.32, pydantic 2."""

TAIL_BYTES = 64 << 10
"""How much of the end of a very large answer is kept for its usage."""

T = TypeVar("T")


class _Cached(msgspec.Struct):
    cached_tokens: int | None = None


class _Usage(msgspec.Struct):
    """The fields of all dialects; OpenAI chat, OpenAI responses and Anthropic share some."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _Cached | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    input_tokens_details: _Cached | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None


class _Answer(msgspec.Struct):
    """What matters of an answer or of one event of a stream, in any dialect."""

    usage: msgspec.Raw = msgspec.Raw()
    error: msgspec.Raw = msgspec.Raw()
    choices: msgspec.Raw = msgspec.Raw()
    metrics: msgspec.Raw = msgspec.Raw()
    """Timings of the request, which some engines put beside its usage."""
    message: msgspec.Raw = msgspec.Raw()
    """Anthropic's first event holds a message with a usage."""
    response: msgspec.Raw = msgspec.Raw()
    """The last event of an OpenAI response holds it whole."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """Tokens of one request; None where the engine did not say."""

    prompt: int | None = None
    cached: int | None = None
    generated: int | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class RequestRecord:
    """One finished request, for logs and the monitor; times in seconds, no prompt and no answer."""

    at: float
    """When it came in, in seconds since the epoch."""
    request_id: str
    key_id: str | None
    method: str
    route: str
    status: int
    code: str | None
    """Our error code, when the gateway itself refused or broke off."""
    is_stream: bool
    has_client_left: bool
    ttft_s: float | None
    duration_s: float
    tokens: Tokens
    model: str | None = None
    """As the request named it; None: not named."""
    address: str | None = None
    """Where it came from."""
    is_estimated: bool = False
    """The answer was cut off, and its tokens are not the engine's own count."""
    reason: str | None = None
    """What the engine said about an error of its own, without what people wrote."""
    adjusted: tuple[str, ...] = ()
    """What was changed in the request so that the engine takes it."""

    @property
    def tokens_per_s(self) -> float | None:
        """Generated tokens a second after the first one; None for less than two or no stream."""
        return tokens_per_s(self.ttft_s, self.duration_s, self.tokens.generated)


def tokens_per_s(ttft_s: float | None, duration_s: float, generated: int | None) -> float | None:
    """Return the generated tokens a second of one request after its first one."""
    if ttft_s is None or generated is None or generated < 2:
        return None
    span_s = duration_s - ttft_s
    return (generated - 1) / span_s if span_s > 0 else None


class StreamTap:
    """Watches one stream of server-sent events go by."""

    def __init__(self, *, hides_usage: bool) -> None:
        self.tokens = Tokens()
        self.has_error = False
        """Whether the engine put an error event into the stream."""
        self.is_of_dead_engine = False
        """Whether that event says that the engine died."""
        self.reason: str | None = None
        """What that event says, without what people wrote."""
        self.events = 0
        """Whole events that went by before any error, about one for each step of the engine."""
        self.is_whole = False
        """Whether the event that ends a stream went by: what is known of its tokens is exact."""
        self._hides_usage = hides_usage
        self._rest = b""

    @property
    def is_within_event(self) -> bool:
        """Return whether the last event that came in is not complete."""
        return bool(self._rest)

    def feed(self, data: bytes) -> bytes:
        """Return what to pass on of `data`: all of it, unless an event is to be dropped.

        When hiding, the beginning of an event waits for its end; clients can do nothing with half
        an event anyway.
        """
        if not self._rest and data.endswith(b"\n\n"):
            # Nearly always one event, of which nothing is known but that it came: every token of
            # every client passes here.
            before = data.rfind(b"\n\n", 0, -2)
            self._count(1 if before < 0 else data.count(b"\n\n"))
            if data.startswith(_LAST_EVENTS, before + 2 if before >= 0 else 0):
                self.is_whole = True
            if _USAGE not in data and _ERROR not in data:
                return data
            return self._inspect(data)
        joined = self._rest + data
        end = _last_event_end(joined)
        self._count(len(_EVENT_END.findall(joined, 0, end)))
        if len(joined) - end > _HOLD_LIMIT_BYTES:
            self._hides_usage, passed = False, joined if self._hides_usage else data
            self._rest = b""
            return passed
        self._rest = joined[end:]
        self.is_whole = self.is_whole or _ends(joined[:end])
        seen = self._inspect(joined[:end]) if end else b""
        return seen if self._hides_usage else data

    def finish(self) -> bytes:
        """Return what was held back when the stream ends in the middle of an event."""
        rest, self._rest = self._rest, b""
        self._count(bool(rest))
        seen = self._inspect(rest)
        return seen if self._hides_usage else b""

    def _count(self, events: int) -> None:
        if not self.has_error:
            self.events += events

    def _inspect(self, events: bytes) -> bytes:
        if _USAGE not in events and _ERROR not in events:
            return events
        kept = []
        had_error = self.has_error
        for event in _events(events):
            is_dropped = (_USAGE in event or _ERROR in event) and self._reads(event)
            self.events -= self.has_error and not had_error
            if not is_dropped:
                kept.append(event)
        return b"".join(kept)

    def _reads(self, event: bytes) -> bool:
        """Learn from an event; return whether it is to be dropped."""
        answer = _decode(_event_data(event), _Answer)
        if answer is None:
            return False
        tokens = _tokens(answer)
        if tokens is not None:
            self.tokens = tokens
        if _is_set(answer.error):
            self.has_error = True
            self.reason = engine_reason(_event_data(event))
            self.is_of_dead_engine = self.is_of_dead_engine or says_dead(bytes(answer.error))
        if not self._hides_usage or tokens is None:
            return False
        # With more in it than what we asked for, it is the client's.
        return bytes(answer.choices) == b"[]" and not _is_set(answer.metrics)


def _ends(events: bytes) -> bool:
    """Tell whether a stream's last event is among whole events; text cannot pass for one.

    (A line of an event never begins inside a JSON string, where line ends are escaped.)
    """
    return any(events.startswith(last) or b"\n" + last in events for last in _LAST_EVENTS)


def says_dead(error: bytes) -> bool:
    """Return whether an error of the engine's server says that the engine behind it died."""
    return _DEAD in error


class _Said(msgspec.Struct):
    message: object = None


class _Refused(msgspec.Struct):
    error: _Said | str | None = None
    detail: object = None
    message: object = None


def engine_reason(answer: bytes) -> str | None:
    """Return the first line of what an engine says is wrong, without what people wrote.

    Its validators repeat what was sent after "input": all from there on goes.
    """
    said = _decode(answer, _Refused)
    if said is None:
        return None
    error = said.error.message if isinstance(said.error, _Said) else said.error
    text = next((one for one in (error, said.detail, said.message) if isinstance(one, str)), None)
    if text is None:
        return None
    text = redact(_REPEATED.split(" ".join(text.split()), maxsplit=1)[0]).rstrip(" ,:[{(\"'")
    return text[:_REASON_CHARS] or None


def answer_tokens(body: bytes) -> Tokens:
    """Return the tokens that a whole answer speaks of."""
    answer = _decode(body, _Answer)
    return (answer and _tokens(answer)) or Tokens()


def tail_tokens(tail: bytes) -> Tokens:
    """Return the tokens from the end of an answer that is too large to keep (embeddings)."""
    start = tail.rfind(_USAGE)
    end = tail.find(b"}", start) + 1
    while start >= 0 and end > 0:
        usage = _decode(tail[start + len(_USAGE) : end].lstrip(b" :"), _Usage)
        if usage is not None:
            return _from_usage(usage)
        end = tail.find(b"}", end) + 1
    return Tokens()


def _tokens(answer: _Answer) -> Tokens | None:
    for raw in (answer.usage, answer.message, answer.response):
        if not _is_set(raw):
            continue
        if raw is not answer.usage:
            nested = _decode(raw, _Answer)
            if nested is None or not _is_set(nested.usage):
                continue
            raw = nested.usage
        usage = _decode(raw, _Usage)
        if usage is not None:
            return _from_usage(usage)
    return None


def _from_usage(usage: _Usage) -> Tokens:
    if usage.prompt_tokens is not None or usage.completion_tokens is not None:
        details = usage.prompt_tokens_details
        return Tokens(
            prompt=usage.prompt_tokens,
            cached=details.cached_tokens if details else None,
            generated=usage.completion_tokens,
        )
    if usage.input_tokens_details is not None:
        return Tokens(
            prompt=usage.input_tokens,
            cached=usage.input_tokens_details.cached_tokens,
            generated=usage.output_tokens,
        )
    # Anthropic's input_tokens leaves out what came from the cache (vLLM since pull request 40912).
    cached, made = usage.cache_read_input_tokens, usage.cache_creation_input_tokens
    prompt = usage.input_tokens
    return Tokens(
        prompt=None if prompt is None else prompt + (cached or 0) + (made or 0),
        cached=cached,
        generated=usage.output_tokens,
    )


def _is_set(raw: msgspec.Raw) -> bool:
    return bytes(raw) not in {b"", b"null"}


def _decode(raw: bytes | msgspec.Raw, kind: type[T]) -> T | None:
    try:
        return msgspec.json.decode(raw, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _last_event_end(data: bytes) -> int:
    """Return where the last whole event ends; 0 when none is whole."""
    end = data.rfind(b"\n\n") + 2
    if b"\r" in data:
        for match in _EVENT_END.finditer(data):
            end = max(end, match.end())
    return end if end > 1 else 0


def _events(data: bytes) -> Iterator[bytes]:
    start = 0
    for match in _EVENT_END.finditer(data):
        yield data[start : match.end()]
        start = match.end()
    if start < len(data):
        yield data[start:]


def _event_data(event: bytes) -> bytes:
    return b"".join(line[5:] for line in event.splitlines() if line.startswith(b"data:"))
