"""The fake engine's inside: admission to the pool, tokens at a pace, prefix cache, counters."""

import asyncio
import math
import re
import time
from collections.abc import AsyncGenerator

from tests.fakes.vllm.metrics import Metrics
from tests.fakes.vllm.settings import BLOCK_TOKENS, Settings

PARIS = ("The", " capital", " of", " France", " is", " Paris", ".")
_STORY = (
    "The sea is a vast and mysterious realm that holds its own counsel . Every wave brings a story"
    " to the shore , and every story finds someone who listens ."
)
STORY = tuple(_STORY.split(" ")[:1] + [f" {word}" for word in _STORY.split(" ")[1:]])
_WORD = re.compile(r"\w+|[^\w\s]")


def words(text: str) -> list[str]:
    """Return the tokens of `text`, near enough."""
    return _WORD.findall(text)


class EngineDied(Exception):
    """The engine is gone while a request runs."""


class Engine:
    """One engine; at most `max_num_seqs` requests run, and only what fits the pool."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.metrics = Metrics(settings)
        self.is_dead = False
        self.is_stopping = False
        self.requests_seen = 0
        self._changed = asyncio.Event()
        self._known_blocks: set[int] = set()

    def die(self) -> None:
        """End every request with an error."""
        self.is_dead = True
        self.wake()

    def stop(self) -> None:
        """End every request with `abort`."""
        self.is_stopping = True
        self.wake()

    def wake(self) -> None:
        """Let everybody who waits look again."""
        self._changed.set()
        self._changed = asyncio.Event()

    def cached_tokens(self, prompt: list[str], salt: str = "") -> int:
        """Return how many tokens of `prompt` are known from earlier ones, and remember it.

        Whole blocks only, and never the whole prompt: its last token is always computed. Prompts
        with another `salt` are strangers.
        """
        hits = 0
        for end in range(BLOCK_TOKENS, len(prompt), BLOCK_TOKENS):
            key = hash((salt, *prompt[:end]))
            if key in self._known_blocks and hits == end - BLOCK_TOKENS:
                hits = end
            self._known_blocks.add(key)
        return hits

    async def generate(
        self, prompt_tokens: int, cached_tokens: int, pieces: list[str], reason: str
    ) -> AsyncGenerator[tuple[str, int, str | None], None]:
        """Yield token, count and, with the last one, the reason of the end.

        Raises: EngineDied.
        """
        began = time.monotonic()
        metrics = self.metrics
        blocks = await self._admit(prompt_tokens)
        seen = "abort"
        count = 0
        try:
            metrics.prompt_tokens += prompt_tokens
            metrics.cached_tokens += cached_tokens
            last = began
            for count, piece in enumerate(pieces, start=1):
                await self._pace(began, count)
                if self.is_stopping:
                    yield "", count - 1, "abort"
                    return
                now = time.monotonic()
                first = count == 1
                metrics.observe(
                    "time_to_first_token_seconds" if first else "inter_token_latency_seconds",
                    now - last,
                )
                last = now
                metrics.generated_tokens += 1
                needed = _blocks(prompt_tokens + count)
                metrics.resident_tokens += (needed - blocks) * BLOCK_TOKENS
                blocks = needed
                if count == len(pieces):
                    seen = reason
                yield piece, count, reason if count == len(pieces) else None
        finally:
            metrics.running -= 1
            metrics.resident_tokens -= blocks * BLOCK_TOKENS
            if seen != "abort" or self.is_stopping:  # a client that leaves is not counted
                metrics.finished[seen] = metrics.finished.get(seen, 0) + 1
                metrics.observe("e2e_request_latency_seconds", time.monotonic() - began)
                metrics.observe("request_prompt_tokens", prompt_tokens)
                metrics.observe("request_generation_tokens", count)
            self.wake()

    async def _admit(self, prompt_tokens: int) -> int:
        metrics, settings = self.metrics, self.settings
        blocks = _blocks(prompt_tokens)
        metrics.waiting += 1
        try:
            while (
                metrics.running >= settings.max_num_seqs
                or metrics.resident_tokens + blocks * BLOCK_TOKENS > settings.pool_tokens
            ) and not self.is_stopping:
                await self._rest(None)
        finally:
            metrics.waiting -= 1
        metrics.running += 1
        metrics.resident_tokens += blocks * BLOCK_TOKENS
        return blocks

    async def _pace(self, began: float, count: int) -> None:
        """Wait until token `count` is due; forever where the fault `stall` says so."""
        while self._is_stalled and not self.is_stopping:
            await self._rest(None)
        if self.is_dead:
            raise EngineDied
        rate = self.settings.tokens_per_s
        if rate <= 0:
            await asyncio.sleep(0)
            return
        while not self.is_stopping and (left := began + count / rate - time.monotonic()) > 0:
            await self._rest(left)

    @property
    def _is_stalled(self) -> bool:
        faults = self.settings.faults
        return "stall" in faults or self.requests_seen > faults.get("stall-after", math.inf)

    async def _rest(self, seconds: float | None) -> None:
        """Wait for a change, at most for so long.

        Raises: EngineDied.
        """
        changed = self._changed
        try:
            async with asyncio.timeout(seconds):
                await changed.wait()
        except TimeoutError:
            return
        if self.is_dead:
            raise EngineDied


def _blocks(tokens: int) -> int:
    return -(-tokens // BLOCK_TOKENS)
