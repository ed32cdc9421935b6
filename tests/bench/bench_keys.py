"""What keys cost: looking one up with every limit set, writing usage, and asking for a year of it.

Prints microseconds a request (goal: under 50), and milliseconds for questions about 400 days.
"""

import asyncio
import tempfile
import time
from pathlib import Path

from studio.domain.keys import KeyLimits, UsageBy
from studio.gateway import admission
from studio.gateway.keys import KeyStore
from studio.gateway.routes import find
from studio.gateway.usage import RequestRecord, Tokens

ROUNDS = 20_000
KEYS = 20
DAYS = 400
LIMITS = KeyLimits(
    models=("qwen",),
    routes=("openai",),
    addresses=("10.0.0.0/8", "127.0.0.0/8"),
    requests_per_minute=100_000,
    max_concurrent=1_000,
    tokens_per_day=10**9,
    warn_tokens_per_day=10**8,
    expires_at="30d",
)


class Asked:
    """The part of a request that the look at a key may change."""

    def __init__(self) -> None:
        self.extra_headers: list[tuple[bytes, bytes]] = []


def record(key_id: str, at: float) -> RequestRecord:
    """Return a finished request."""
    return RequestRecord(
        at=at, request_id="r", key_id=key_id, method="POST", route="/v1/chat/completions",
        status=200, code=None, is_stream=True, has_client_left=False, ttft_s=0.4, duration_s=3.1,
        tokens=Tokens(prompt=1200, cached=900, generated=250), model="qwen", address="127.0.0.1",
    )  # fmt: skip


async def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        store = KeyStore(Path(folder) / "studio.db")
        await store.open()
        made = [await store.create(f"key {number}", LIMITS) for number in range(KEYS)]
        _look(store, made[0].key.encode())
        now_s = time.time()
        for hour in range(DAYS * 24):
            for one in made:
                key = store.verify(one.key.encode())
                assert key is not None
                store.usage.add(key.id, record(key.id, now_s - hour * 3600), is_error=False)
        began = time.perf_counter()
        await store.flush()
        print(f"written: {DAYS * 24 * KEYS:,} hours of keys in {time.perf_counter() - began:.1f} s")
        for by in UsageBy:
            began = time.perf_counter()
            rows = await store.used(
                key_id=None, since_s=now_s - DAYS * 86_400, until_s=now_s, by=by
            )
            took_ms = (time.perf_counter() - began) * 1e3
            print(f"{DAYS} days of {KEYS} keys by {by}: {len(rows):,} rows in {took_ms:,.0f} ms")
        began = time.perf_counter()
        await store.used(
            key_id=made[0].info.id, since_s=now_s - 30 * 86_400, until_s=now_s, by=UsageBy.DAY
        )
        print(f"30 days of one key by day: {(time.perf_counter() - began) * 1e3:,.1f} ms")
        await store.close()


def _look(store: KeyStore, secret: bytes) -> None:
    route = find("/v1/chat/completions")
    assert route is not None
    request = Asked()
    began = time.perf_counter()
    for _ in range(ROUNDS):
        key = store.verify(secret)
        assert key is not None
        admission.check(key, route, "127.0.0.1")
        admission.admit(key, request, store.usage)
        key.gate.check_model("qwen")
    look_us = (time.perf_counter() - began) / ROUNDS * 1e6
    print(f"look-up with every limit set: {look_us:.1f} µs a request (goal: under 50)")
    began = time.perf_counter()
    for _ in range(ROUNDS):
        store.record(key, record(key.id, 1.8e9), is_error=False)
    print(f"counting a request: {(time.perf_counter() - began) / ROUNDS * 1e6:.1f} µs")


if __name__ == "__main__":
    asyncio.run(main())
