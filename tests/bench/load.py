"""The clients of the gateway's benchmark: streams, whole answers and idle connections.

Everything stands on our own HTTP client, which costs least; all sides are loaded by the same one.
"""

import asyncio
import dataclasses
import random
import time

from studio.host.http_client import Upstream

MAX_PAUSE_S = 0.1
WORKERS = 32
"""Whole answers that are asked for at a time."""

_PATH = "/v1/chat/completions"
_PAUSES = random.Random(20)
_ASKED = (
    b"POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
    b"%bcontent-length: %d\r\n\r\n%b"
)


@dataclasses.dataclass(slots=True)
class Sample:
    """One stream as its client saw it; times by `time.perf_counter`."""

    sent_s: float
    first_s: float = 0.0
    last_s: float = 0.0
    tokens: int = 0

    def on_head(self, status: int, headers: list[tuple[bytes, bytes]]) -> None:
        """Check the status."""
        assert status == 200, (status, headers)

    def on_data(self, data: bytes) -> None:
        """Take the time."""
        now = time.perf_counter()
        if not self.first_s:
            self.first_s = now
        count = data.count(b'"content":" word"')
        if count:
            self.last_s = now
            self.tokens += count

    @property
    def ttft_s(self) -> float:
        """Return the time to the first byte of the body."""
        return self.first_s - self.sent_s

    @property
    def tokens_per_s(self) -> float:
        """Return tokens a second after the first."""
        return (self.tokens - 1) / max(self.last_s - self.first_s, 1e-6)

    @property
    def tokens_per_s_in_all(self) -> float:
        """Return tokens a second since the request was sent."""
        return (self.tokens - 1) / max(self.last_s - self.sent_s, 1e-6)


@dataclasses.dataclass(slots=True)
class Side:
    """One way to the engine."""

    name: str
    port: int
    key: str | None
    pids: list[int] = dataclasses.field(default_factory=list)
    """What lies between: none for the direct way."""
    samples: list[Sample] = dataclasses.field(default_factory=list)
    answers_per_s: list[float] = dataclasses.field(default_factory=list)
    upstream: Upstream = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        """Keep as many warm connections as streams can run."""
        self.upstream = Upstream(port=self.port, max_idle=4096)

    @property
    def headers(self) -> list[tuple[bytes, bytes]]:
        """Return what a client sends."""
        sent = [(b"content-type", b"application/json")]
        if self.key is not None:
            sent.append((b"authorization", b"Bearer " + self.key.encode()))
        return sent

    async def stream(self, tokens: int) -> None:
        """Read one stream to its end."""
        sample = Sample(time.perf_counter())
        call = self.upstream.call("POST", _PATH, self.headers, body(tokens, stream=True), sample)
        await call.run()
        assert sample.tokens == tokens, (self.name, sample)
        self.samples.append(sample)

    async def streams(self, count: int, tokens: int, seconds: float) -> None:
        """Keep `count` streams running, begun at different moments."""
        until = time.perf_counter() + seconds

        async def worker() -> None:
            # Real clients do not begin in step, and pause; in step, they would queue at each other.
            await asyncio.sleep(_PAUSES.uniform(0.0, min(seconds, tokens / 100)))
            while time.perf_counter() < until:
                await self.stream(tokens)
                await asyncio.sleep(_PAUSES.uniform(0.0, MAX_PAUSE_S))

        async with asyncio.TaskGroup() as group:
            for _ in range(count):
                group.create_task(worker())

    async def answers(self, seconds: float) -> None:
        """Count whole answers a second."""
        asked, done = body(8, stream=False), 0
        began = time.perf_counter()

        async def worker() -> None:
            nonlocal done
            while time.perf_counter() - began < seconds:
                status, _, text = await self.upstream.fetch(
                    "POST", _PATH, self.headers, asked, timeout_s=60
                )
                assert status == 200, (self.name, text)
                done += 1

        async with asyncio.TaskGroup() as group:
            for _ in range(WORKERS):
                group.create_task(worker())
        self.answers_per_s.append(done / (time.perf_counter() - began))

    async def idle(self, count: int) -> list[asyncio.StreamWriter]:
        """Return open connections, each of which has had an answer and waits."""
        asked = body(1, stream=False)
        key = b"" if self.key is None else b"authorization: Bearer %b\r\n" % self.key.encode()
        request = _ASKED % (key, len(asked), asked)
        kept = []
        for _ in range(count):
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            assert b" 200 " in head, (self.name, head)
            kept.append(writer)
        return kept


def body(tokens: int, *, stream: bool) -> bytes:
    """Return a small chat request."""
    flag = b"true" if stream else b"false"
    return (
        b'{"model":"stub","messages":[{"role":"user","content":"Say something."}],'
        b'"stream":%b,"max_tokens":%d}' % (flag, tokens)
    )
