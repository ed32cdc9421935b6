"""A stand-in for the engine in this process: answers at a pace of its own clock."""

import asyncio
import contextlib
import dataclasses
from collections.abc import AsyncIterator, Callable

import msgspec

from studio.benchmark.answer import Engine
from studio.benchmark.load import Room
from studio.benchmark.runner import Ground
from studio.domain.metrics import EngineSample
from studio.host.http_client import Upstream
from studio.host.http_server import Exchange, serve

JSON = [(b"content-type", b"application/json")]
EVENTS = [(b"content-type", b"text/event-stream")]


@dataclasses.dataclass(slots=True, kw_only=True)
class Stand:
    """What it was asked, and how it answers."""

    asked: list[dict[str, object]] = dataclasses.field(default_factory=list)
    counts: bool = True
    """Whether it has /tokenize."""
    refuse: Callable[[dict[str, object]], tuple[int, bytes] | None] = lambda _body: None
    hang_from: int | None = None
    """Requests from this one on are never answered."""
    generated: int = 0
    drafts: int = 0
    foreign: int = 0
    """Tokens that it counts without having been asked here."""
    most_at_once: int = 0
    _now: int = 0

    async def handle(self, exchange: Exchange) -> None:
        """Answer like vLLM, two tokens a piece."""
        body = msgspec.json.decode(await exchange.body(1 << 24), type=dict[str, object])
        words = sum(len(str(one["content"]).split()) for one in body["messages"])
        if exchange.path == "/tokenize":
            answer = msgspec.json.encode({"count": words * 2 + 10}) if self.counts else b"{}"
            exchange.respond(200 if self.counts else 404, JSON, answer)
            return
        self.asked.append(body)
        if self.hang_from is not None and len(self.asked) >= self.hang_from:
            await asyncio.Event().wait()
        refusal = self.refuse(body)
        if refusal is not None:
            exchange.respond(refusal[0], JSON, refusal[1])
            return
        self._now += 1
        self.most_at_once = max(self.most_at_once, self._now)
        await self._answer(exchange, body, words)
        self._now -= 1

    async def _answer(self, exchange: Exchange, body: dict[str, object], words: int) -> None:
        tokens = int(str(body["max_tokens"]))
        exchange.start(200, EVENTS)
        for number in range((tokens + 1) // 2):
            delta = {"choices": [{"delta": {"content": f"w{number} "}}]}
            exchange.write(b"data: " + msgspec.json.encode(delta) + b"\n\n")
            await asyncio.sleep(0)
        usage = {
            "choices": [],
            "usage": {
                "prompt_tokens": words * 2 + 10,
                "completion_tokens": tokens,
                "prompt_tokens_details": {"cached_tokens": 0},
            },
        }
        exchange.write(b"data: " + msgspec.json.encode(usage) + b"\n\ndata: [DONE]\n\n")
        self.generated += tokens + self.foreign
        self.drafts += tokens // 2
        exchange.end()

    async def sample(self) -> EngineSample:
        """Return its counters: every draft brings one token more."""
        return EngineSample(
            generation_tokens_total=float(self.generated),
            drafts_total=float(self.drafts),
            accepted_total=float(self.drafts),
            itl_sum_s=self.drafts * 0.02,
            itl_count=float(self.drafts),
        )


@contextlib.asynccontextmanager
async def standing(stand: Stand) -> AsyncIterator[Engine]:
    """Yield the way to a stand-in."""
    server = await serve(stand.handle)
    upstream = Upstream(port=server.port)
    try:
        yield Engine(upstream=upstream, key="secret", served_name="model")
    finally:
        upstream.cut_off_all()
        upstream.close()
        await server.close()


def ground(
    engine: Engine,
    stand: Stand,
    *,
    room: Room | None = None,
    others: Callable[[], bool] = lambda: False,
) -> Ground:
    """Return what the app would say of it."""
    return Ground(engine=engine, room=room or Room(), sample=stand.sample, others=others)
