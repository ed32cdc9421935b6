"""How many tokens a prompt has whose count never came: guessed from its bytes."""

from collections.abc import Iterator

_BYTES_A_TOKEN = 4.0
"""English text in JSON, with a tokenizer of 150,000 words; until requests here say better."""
_KEPT_BYTES = 50e6
"""Older requests count for less and less once so much was seen."""


_LOOKED_AT_BYTES = 64 << 10
"""Smaller bodies hold no picture that matters."""
_DATA = b";base64,"


def text_bytes(body: bytes | bytearray) -> int:
    """Return the bytes of a body without pictures and sounds, whose tokens do not go by them."""
    return len(body) - sum(end - start for start, end in _data(body))


def text_of(body: bytes | bytearray) -> bytes | bytearray:
    """Return a body without what pictures and sounds hold: no JSON, but to look for words in it."""
    pieces: list[memoryview] = []
    at = 0
    for start, end in _data(body):
        pieces.append(memoryview(body)[at:start])
        at = end
    return b"".join([*pieces, memoryview(body)[at:]]) if pieces else body


def _data(body: bytes | bytearray) -> Iterator[tuple[int, int]]:
    """Yield where pictures and sounds begin and end, of a body that is large enough for them."""
    start = body.find(_DATA) if len(body) >= _LOOKED_AT_BYTES else -1
    while start >= 0:
        end = body.find(b'"', start)
        if end < 0:
            break
        yield start, end
        start = body.find(_DATA, end)


class PromptRatio:
    """Bytes of a request's body for each token of its prompt, as the finished ones show it."""

    __slots__ = ("_bytes", "_tokens")

    def __init__(self) -> None:
        self._bytes = 0.0
        self._tokens = 0.0

    def learn(self, body_bytes: int, prompt_tokens: int | None) -> None:
        """Take up a request that the engine counted."""
        if not body_bytes or not prompt_tokens:
            return
        self._bytes += body_bytes
        self._tokens += prompt_tokens
        if self._bytes > _KEPT_BYTES:
            self._bytes /= 2
            self._tokens /= 2

    def guess(self, body_bytes: int) -> int:
        """Return the tokens of a prompt that nobody counted."""
        ratio = self._bytes / self._tokens if self._tokens else _BYTES_A_TOKEN
        return round(body_bytes / ratio)
