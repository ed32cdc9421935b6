"""One request to the engine, and when each piece of its answer came.

Straight to the engine's own address: the gateway is not in the way, so whatever the gateway sees
meanwhile is somebody else's (docs/decisions/0027-bench.md).
"""

import dataclasses
import time
from collections.abc import Callable, Mapping

import msgspec

from studio.domain.errors import BadInput, EngineFailed
from studio.host.http_client import Call, Upstream

_DATA = b"data:"
_DONE = b"[DONE]"
_CHAT = "/v1/chat/completions"
_TOKENIZE = "/tokenize"
_TOKENIZE_S = 30.0
_MESSAGE_CHARACTERS = 400


class _Details(msgspec.Struct, frozen=True):
    cached_tokens: int | None = None


class _Usage(msgspec.Struct, frozen=True):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _Details | None = None


class _Delta(msgspec.Struct, frozen=True):
    content: str | None = None
    reasoning: str | None = None
    reasoning_content: str | None = None


class _Choice(msgspec.Struct, frozen=True):
    delta: _Delta | None = None


class _Chunk(msgspec.Struct, frozen=True):
    choices: tuple[_Choice, ...] = ()
    usage: _Usage | None = None
    error: msgspec.Raw = msgspec.Raw()


class _Count(msgspec.Struct, frozen=True):
    count: int


_CHUNKS = msgspec.json.Decoder(_Chunk)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One answer; times are seconds of a clock that never goes back."""

    sent_s: float
    pieces_s: tuple[float, ...]
    """When each piece came that held text."""
    last_s: float | None = None
    """When the last token came, also one that is no text: the end of an answer, passed over."""
    prompt_tokens: int | None
    cached_tokens: int | None
    """None: the engine does not say, which is not zero."""
    generated_tokens: int | None

    @property
    def ttft_s(self) -> float | None:
        """Return the time to the first piece; of a single token that is no text, to its end."""
        if self.pieces_s:
            return self.pieces_s[0] - self.sent_s
        if self.last_s is None or self.generated_tokens != 1:
            return None
        return self.last_s - self.sent_s

    @property
    def decoding_s(self) -> float | None:
        """Return the time from the first token to the last."""
        if not self.pieces_s or self.last_s is None or self.last_s <= self.pieces_s[0]:
            return None
        return self.last_s - self.pieces_s[0]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """Where the engine is, and how it is asked."""

    upstream: Upstream
    key: str | None
    served_name: str
    clock: Callable[[], float] = time.perf_counter

    @property
    def _headers(self) -> list[tuple[bytes, bytes]]:
        headers = [(b"content-type", b"application/json")]
        if self.key:
            headers.append((b"authorization", b"Bearer " + self.key.encode()))
        return headers

    async def ask(self, messages: object, *, tokens: int, salt: str) -> Answer:
        """Return when the engine generated exactly `tokens`.

        `salt` keeps the prompt apart in the prefix cache: the same text with another salt is not
        found there. Greedy, so that an answer is the same in every run.
        Raises: what `Call.run` raises; BadInput (`bench-refused`); EngineFailed (`bench-refused`).
        """
        body = {
            "model": self.served_name,
            "messages": messages,
            "max_tokens": tokens,
            "temperature": 0,
            "ignore_eos": True,
            "cache_salt": salt,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        reader = _Reader(self.clock)
        call = self.upstream.call("POST", _CHAT, self._headers, msgspec.json.encode(body), reader)
        reader.call = call
        sent_s = self.clock()
        await call.run()
        return reader.answer(sent_s)

    async def count(self, messages: object) -> int | None:
        """Return the tokens of a prompt with its template; None where the engine does not count.

        Raises: what `Upstream.fetch` raises.
        """
        body = msgspec.json.encode({"model": self.served_name, "messages": messages})
        status, _, raw = await self.upstream.fetch(
            "POST", _TOKENIZE, self._headers, body, timeout_s=_TOKENIZE_S
        )
        if status != 200:
            return None
        try:
            return msgspec.json.decode(raw, type=_Count).count
        except msgspec.DecodeError:
            return None


class _Reader:
    """Takes a streamed answer apart as it comes."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.call: Call | None = None
        self._clock = clock
        self._status = 0
        self._pending = b""
        self._pieces_s: list[float] = []
        self._last_s: float | None = None
        self._usage: _Usage | None = None
        self._refusal: bytes | None = None

    def on_head(self, status: int, _headers: list[tuple[bytes, bytes]]) -> None:
        """Keep the status."""
        self._status = status

    def on_data(self, data: bytes) -> None:
        """Note when text came; the last chunk carries the usage."""
        now_s = self._clock()
        self._pending += data
        if self._status != 200:
            return
        *lines, self._pending = self._pending.split(b"\n")
        for line in lines:
            if line.startswith(_DATA):
                self._take(line[len(_DATA) :].strip(), now_s)

    def _take(self, data: bytes, now_s: float) -> None:
        if data == _DONE:
            return
        try:
            chunk = _CHUNKS.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return
        if error := bytes(chunk.error):
            self._refusal = error
        if chunk.usage is not None:
            self._usage = chunk.usage
        if chunk.choices:
            self._last_s = now_s
        if any(_has_text(choice) for choice in chunk.choices):
            self._pieces_s.append(now_s)

    def answer(self, sent_s: float) -> Answer:
        """Return the whole. Raises: BadInput, EngineFailed (`bench-refused`)."""
        if self._status != 200:
            raise _refused(self._status, self._pending)
        if self._refusal is not None:
            raise _refused(500, self._refusal)
        usage = self._usage or _Usage()
        details = usage.prompt_tokens_details
        return Answer(
            sent_s=sent_s,
            pieces_s=tuple(self._pieces_s),
            last_s=self._last_s,
            prompt_tokens=usage.prompt_tokens,
            cached_tokens=details.cached_tokens if details is not None else None,
            generated_tokens=usage.completion_tokens,
        )


def _has_text(choice: _Choice) -> bool:
    delta = choice.delta
    return delta is not None and bool(delta.content or delta.reasoning or delta.reasoning_content)


def _refused(status: int, raw: bytes) -> BadInput | EngineFailed:
    text = _reason(raw)
    kind = BadInput if status < 500 else EngineFailed
    return kind(
        "bench-refused",
        f"The engine refused a request of the bench (status {status}): {text}",
        hint="`weir logs` shows what the engine said; `--only` measures the other parts alone.",
    )


def _reason(raw: bytes) -> str:
    text = raw.decode("utf-8", "replace").strip()
    try:
        found = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError):
        found = None
    while isinstance(found, Mapping):
        inner = found.get("error") or found.get("message") or found.get("detail")
        if isinstance(inner, str):
            text = inner
        found = inner
    return text[:_MESSAGE_CHARACTERS] or "without a reason."
