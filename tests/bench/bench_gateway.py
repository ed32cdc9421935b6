"""What the gateway costs: direct to the engine against through the gateway, in one run.

`python -m tests.bench.bench_gateway` prints a table. Engine (a stub), gateway and load are three
processes; direct and gateway blocks alternate, so that a busy machine hurts both alike. TTFT is
taken at the client: request sent to first byte of the body.
"""

import argparse
import asyncio
import contextlib
import dataclasses
import datetime
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import uvloop

from studio.gateway.engine import EngineTarget
from studio.gateway.keys import KeyStore
from studio.gateway.service import Gateway
from studio.host.http_client import Upstream

# Concurrent streams and tokens per stream: short streams where few run, for enough first tokens.
CASES = ((1, 10), (8, 20), (64, 50))
BLOCKS = 4
MAX_PAUSE_S = 0.1
UNARY_WORKERS = 32

_PAUSES = random.Random(20)


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
        count = data.count(b'"content"')
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


@dataclasses.dataclass(slots=True)
class Side:
    """One way to the engine."""

    upstream: Upstream
    headers: list[tuple[bytes, bytes]]
    samples: list[Sample] = dataclasses.field(default_factory=list)
    answers_per_s: list[float] = dataclasses.field(default_factory=list)

    def body(self, tokens: int, *, stream: bool) -> bytes:
        """Return a small chat request."""
        flag = b"true" if stream else b"false"
        return (
            b'{"model":"stub","messages":[{"role":"user","content":"Say something."}],'
            b'"stream":%b,"max_tokens":%d}' % (flag, tokens)
        )

    async def stream(self, tokens: int) -> None:
        """Read one stream to its end."""
        body = self.body(tokens, stream=True)
        sample = Sample(time.perf_counter())
        call = self.upstream.call("POST", "/v1/chat/completions", self.headers, body, sample)
        await call.run()
        assert sample.tokens == tokens, sample
        self.samples.append(sample)

    async def streams(self, count: int, tokens: int, seconds: float) -> None:
        """Keep `count` streams running, begun at different moments."""
        until = time.perf_counter() + seconds

        async def worker() -> None:
            # Real clients do not begin in step, and pause; in step, they would queue at each other.
            while time.perf_counter() < until:
                await asyncio.sleep(_PAUSES.uniform(0.0, MAX_PAUSE_S))
                await self.stream(tokens)

        async with asyncio.TaskGroup() as group:
            for _ in range(count):
                group.create_task(worker())

    async def answers(self, seconds: float) -> None:
        """Count whole answers a second."""
        body, done = self.body(8, stream=False), 0
        began = time.perf_counter()

        async def worker() -> None:
            nonlocal done
            while time.perf_counter() - began < seconds:
                status, _, _ = await self.upstream.fetch(
                    "POST", "/v1/chat/completions", self.headers, body, timeout_s=30
                )
                assert status == 200
                done += 1

        async with asyncio.TaskGroup() as group:
            for _ in range(UNARY_WORKERS):
                group.create_task(worker())
        self.answers_per_s.append(done / (time.perf_counter() - began))


@contextlib.contextmanager
def child(module: str, *arguments: str) -> Iterator[list[str]]:
    """Run a module of ours until the block ends; gives the words of its first line."""
    process = subprocess.Popen(
        [sys.executable, "-m", module, *arguments], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().split()
    finally:
        process.terminate()
        process.wait()


async def serve_gateway(socket_path: str, database: str) -> None:
    """Run a gateway in this process; prints its port and a key."""
    keys = KeyStore(Path(database))
    await keys.open()
    key = (await keys.create("bench")).key
    engine = EngineTarget(
        upstream=Upstream(socket_path=Path(socket_path)), key="boot", served_name="stub"
    )
    gateway = Gateway(keys, upstream=lambda: engine)
    await gateway.open()
    say(f"{gateway.info().port} {key}")
    await asyncio.Event().wait()


def say(line: str) -> None:
    """Write a line now."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def percentile(values: list[float], share: float) -> float:
    """Return the value below which `share` of all lie."""
    return statistics.quantiles(values, n=1000, method="inclusive")[round(share * 1000) - 1]


def row(count: int, direct: Side, gateway: Side) -> str:
    """Return one line of the table."""
    ttft = [[each.ttft_s * 1000 for each in side.samples] for side in (direct, gateway)]
    rate = [statistics.fmean(s.tokens_per_s for s in side.samples) for side in (direct, gateway)]
    p50 = [percentile(values, 0.5) for values in ttft]
    p99 = [percentile(values, 0.99) for values in ttft]
    loss = (1 - rate[1] / rate[0]) * 100
    return (
        f"| {count} | {len(direct.samples)} + {len(gateway.samples)} "
        f"| {p50[0]:.2f} / {p50[1]:.2f} | **{p50[1] - p50[0]:.2f}** "
        f"| {p99[0]:.2f} / {p99[1]:.2f} | **{p99[1] - p99[0]:.2f}** "
        f"| {rate[0]:.2f} / {rate[1]:.2f} | **{loss:.2f} %** |"
    )


async def measure(direct: Side, gateway: Side, seconds: float) -> None:
    """Run all cases and print the tables."""
    say(
        "| streams | samples | TTFT p50 ms, direct / gateway | added p50 ms "
        "| TTFT p99 ms, direct / gateway | added p99 ms | tok/s per stream | loss |"
    )
    say("|---|---|---|---|---|---|---|---|")
    for count, tokens in CASES:
        for side in (direct, gateway):
            await side.streams(count, 5, 0.2)  # warm connections
            side.samples.clear()
        for _ in range(BLOCKS):
            for side in (direct, gateway):
                await side.streams(count, tokens, seconds)
        say(row(count, direct, gateway))
    for _ in range(2):
        for side in (direct, gateway):
            await side.answers(seconds)
    rates = [statistics.fmean(side.answers_per_s) for side in (direct, gateway)]
    say(
        f"\nNot streamed, {UNARY_WORKERS} at a time: direct {rates[0]:,.0f} req/s, "
        f"through the gateway **{rates[1]:,.0f} req/s**."
    )


def machine() -> str:
    """Return date and machine in words."""
    name = platform.processor() or platform.machine()
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                name = line.partition(":")[2].strip()
                break
    load = f", load {os.getloadavg()[0]:.1f} at the start" if hasattr(os, "getloadavg") else ""
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    return f"{today}, {name}, {os.cpu_count()} cores, Python {platform.python_version()}{load}."


def main() -> None:
    """Measure, or run the gateway's process of a measurement."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=3.0, help="length of one block")
    parser.add_argument("--gateway", nargs=2, metavar=("SOCKET", "DATABASE"))
    options = parser.parse_args()
    if options.gateway:
        uvloop.run(serve_gateway(*options.gateway))
        return
    say(machine() + "\n")
    with tempfile.TemporaryDirectory() as folder:
        socket_path = str(Path(folder, "engine.sock"))
        with (
            child("tests.bench.stub_engine", socket_path) as stub,
            child(
                "tests.bench.bench_gateway", "--gateway", socket_path, str(Path(folder, "keys.db"))
            ) as gateway,
        ):
            key = gateway[1].encode()
            sides = (
                Side(Upstream(port=int(stub[0])), []),
                Side(Upstream(port=int(gateway[0])), [(b"authorization", b"Bearer " + key)]),
            )
            uvloop.run(measure(*sides, options.seconds))


if __name__ == "__main__":
    main()
