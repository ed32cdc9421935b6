"""What the gateway costs: direct to the engine, through it, through nginx, through LiteLLM.

`python -m tests.bench.bench_gateway` prints tables. Engine (a stub), proxies and load are processes
of their own; blocks of all sides alternate, so that a busy machine hurts all alike. TTFT is taken
at the client: request sent to first byte of the body.
"""

import argparse
import asyncio
import contextlib
import datetime
import os
import platform
import statistics
import sys
import tempfile
import time
from pathlib import Path

import uvloop

from studio.gateway.engine import EngineTarget
from studio.gateway.keys import KeyStore
from studio.gateway.service import Gateway
from studio.host.http_client import Upstream
from tests.bench import peers
from tests.bench.load import WORKERS, Side

# Concurrent streams and tokens per stream: short streams where few run, for enough first tokens.
CASES = ((1, 10), (8, 20), (64, 50))
BLOCKS = 4
RAMP = (128, 192, 256, 320, 384, 448, 512, 640, 768, 896, 1024)
RAMP_TOKENS = 200
DIRECT_LOSS = 0.003
"""The highest count of streams is the last at which the direct way loses no more of its tok/s."""
TOKENS_PER_S = 100.0
SLOW = "LiteLLM"
"""Left out where it would need minutes for each block."""
IDLE = 1000


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


def rows(count: int, sides: list[Side], used: dict[str, float]) -> None:
    """Print the lines of one count of streams."""
    direct = sides[0]
    base = [percentile([one.ttft_s * 1e3 for one in direct.samples], at) for at in (0.5, 0.99)]
    full = statistics.fmean(one.tokens_per_s for one in direct.samples)
    for side in sides:
        ttft = [one.ttft_s * 1e3 for one in side.samples]
        p50, p99 = percentile(ttft, 0.5), percentile(ttft, 0.99)
        rate = statistics.fmean(one.tokens_per_s for one in side.samples)
        if rate > full * 1.01:  # late, and then all at once: no pace that anybody sees
            rate = statistics.fmean(one.tokens_per_s_in_all for one in side.samples)
        added = ("", "", "")
        if side is not direct:
            loss = (1 - rate / full) * 100
            added = (f"**{p50 - base[0]:.2f}**", f"**{p99 - base[1]:.2f}**", f"**{loss:.2f} %**")
        tokens = sum(one.tokens for one in side.samples)
        cost = f"{used[side.name] * 1e6 / tokens:.1f}" if side.pids else ""
        say(
            f"| {count} | {side.name} | {len(side.samples):,} | {p50:.2f} | {added[0]} "
            f"| {p99:.2f} | {added[1]} | {rate:.2f} | {added[2]} | {cost} |"
        )


async def case(count: int, tokens: int, sides: list[Side], seconds: float, blocks: int) -> None:
    """Measure all sides at one count of streams."""
    used = dict.fromkeys((side.name for side in sides), 0.0)
    for side in sides:
        await side.streams(count, 5, 0.2)  # warm connections
        side.samples.clear()
    for _ in range(blocks):
        for side in sides:
            before_s = peers.cpu_s(side.pids)
            await side.streams(count, tokens, seconds)
            used[side.name] += peers.cpu_s(side.pids) - before_s
    rows(count, sides, used)


async def highest(direct: Side, seconds: float) -> int:
    """Return the highest count of streams at which the direct way keeps its pace."""
    best = CASES[-1][0]
    for count in RAMP:
        await direct.streams(count, 5, 0.2)
        direct.samples.clear()
        await direct.streams(count, RAMP_TOKENS, seconds)
        rate = statistics.fmean(one.tokens_per_s for one in direct.samples)
        direct.samples.clear()
        if rate < TOKENS_PER_S * (1 - DIRECT_LOSS):
            break
        best = count
    return best


async def idle(sides: list[Side]) -> None:
    """Print what idle connections hold."""
    say(f"\n| | at rest, MB | {IDLE:,} idle connections, MB |")
    say("|---|---|---|")
    for side in sides:
        if not side.pids:
            continue
        before = peers.memory_mb(side.pids)
        kept = await side.idle(IDLE)
        say(f"| {side.name} | {before:.1f} | **{peers.memory_mb(side.pids):.1f}** |")
        for writer in kept:
            writer.transport.abort()


async def measure(sides: list[Side], options: argparse.Namespace) -> None:
    """Run all cases and print the tables."""
    seconds: float = options.seconds
    say("| streams | | samples | TTFT p50, ms | added | TTFT p99, ms | added | tok/s | loss | µs |")
    say("|---|---|---|---|---|---|---|---|---|---|")
    for count, tokens in CASES:
        await case(count, tokens, sides, seconds, BLOCKS)
    fast = [side for side in sides if side.name != SLOW]
    most = options.streams or await highest(sides[0], seconds)
    await case(most, RAMP_TOKENS, fast, seconds, BLOCKS)
    await idle(sides)
    for _ in range(BLOCKS):
        for side in sides:
            await side.answers(seconds)
    say(f"\n| whole answers, {WORKERS} at a time | a second |\n|---|---|")
    for side in sides:
        say(f"| {side.name} | **{statistics.fmean(side.answers_per_s):,.0f}** |")


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
    parser.add_argument("--streams", type=int, help="the highest count, instead of looking for it")
    parser.add_argument("--peers", nargs="*", default=["nginx", "litellm"])
    parser.add_argument("--gateway", nargs=2, metavar=("SOCKET", "DATABASE"))
    options = parser.parse_args()
    if options.gateway:
        uvloop.run(serve_gateway(*options.gateway))
        return
    began_s = time.perf_counter()
    say(machine() + "\n")
    with (
        tempfile.TemporaryDirectory() as folder,
        peers.sides(Path(folder), names=tuple(options.peers)) as sides,
    ):
        uvloop.run(measure(sides, options))
    say(f"\nTook {time.perf_counter() - began_s:.0f} s.")


if __name__ == "__main__":
    main()
