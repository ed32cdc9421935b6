"""A client that counts the tokens that it gets, beside the tok/s that the monitor shows."""

import asyncio
import dataclasses
import time
from collections.abc import AsyncIterator

import httpx

from studio.domain.metrics import Tick
from tests.app.running import Running

_RATE_S = 3.0
"""How far back a rate of a tick looks."""
_SETTLE_S = 4.0


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """What both saw over the same seconds."""

    seconds: float
    shown_tokens_per_s: float
    client_tokens_per_s: float

    @property
    def off(self) -> float:
        """Return how far apart both are, as a share of what the client counted."""
        return abs(self.shown_tokens_per_s / self.client_tokens_per_s - 1)


class Counter:
    """Several streams at once; every piece of an answer is one token."""

    def __init__(self, base_url: str, key: str, *, streams: int, max_tokens: int) -> None:
        self._url = f"{base_url}/chat/completions"
        self._headers = {"Authorization": f"Bearer {key}"}
        self._streams = streams
        self._max_tokens = max_tokens
        self._at: list[float] = []
        """When each token came."""

    def until(self, at: float) -> int:
        """Return how many tokens had come."""
        return sum(one <= at for one in self._at)

    async def run(self) -> None:
        """Ask again and again until cancelled."""
        limits = httpx.Limits(max_connections=self._streams)
        async with (
            httpx.AsyncClient(
                headers=self._headers, timeout=60, trust_env=False, limits=limits
            ) as http,
            asyncio.TaskGroup() as tasks,
        ):
            for stream in range(self._streams):
                tasks.create_task(self._ask_on(http, stream))

    async def _ask_on(self, http: httpx.AsyncClient, stream: int) -> None:
        number = 0
        while True:
            number += 1
            text = f"Tell me a long story ({stream}, {number})."
            async for at in self._pieces(http, text):
                self._at.append(at)

    async def _pieces(self, http: httpx.AsyncClient, text: str) -> AsyncIterator[float]:
        body = {
            "messages": [{"role": "user", "content": text}],
            "stream": True,
            "max_tokens": self._max_tokens,
            "min_tokens": self._max_tokens,
            "ignore_eos": True,
            "temperature": 0.0,
        }
        async with http.stream("POST", self._url, json=body) as response:
            assert response.status_code == 200, await response.aread()
            async for line in response.aiter_lines():
                is_piece = line.startswith("data: {") and '"content":' in line
                if is_piece and '"role":' not in line:
                    yield time.time()


async def counted(made: Running, key: str, *, seconds: float, streams: int) -> Counted:
    """Let streams run for so long and hold both against one another."""
    base_url = made.studio.gateway().base_url
    assert base_url is not None
    counter = Counter(base_url, key, streams=streams, max_tokens=400)
    async with asyncio.TaskGroup() as tasks:
        asking = tasks.create_task(counter.run())
        await asyncio.sleep(_SETTLE_S)
        begin = time.time()
        await asyncio.sleep(seconds)
        end = time.time()
        asking.cancel()
    ticks = [one for one in made.parts.history.since(begin) if one.at <= end]
    return _held_against(ticks, counter)


def _held_against(ticks: list[Tick], counter: Counter) -> Counted:
    """Compare the mean of all ticks with what the client counted over the same seconds.

    A tick's rate is of the three seconds before it, and so is the client's here: else a load that
    changes at the ends would count as an error of the monitor.
    """
    shown = [one.decode_tokens_per_s for one in ticks if one.decode_tokens_per_s is not None]
    assert len(shown) == len(ticks) > 1, "the engine did not answer"
    client = [(counter.until(one.at) - counter.until(one.at - _RATE_S)) / _RATE_S for one in ticks]
    return Counted(
        seconds=ticks[-1].at - ticks[0].at + _RATE_S,
        shown_tokens_per_s=sum(shown) / len(shown),
        client_tokens_per_s=sum(client) / len(client),
    )
