"""What `weir top` costs: CPU of its process at one tick a second, and bytes sent to the terminal.

    python -m tests.bench.bench_top [--seconds N]

A stand-in for the service tells of eight cards, nine kinds of spill, 20 keys, 60 requests and a
busy engine. `weir top` runs as a process of its own on a pseudo-terminal. Goal: at most 3 % of a
core.
"""

import argparse
import asyncio
import contextlib
import datetime
import fcntl
import json
import os
import platform
import pty
import struct
import sys
import tempfile
import termios
import time
from pathlib import Path

import msgspec
import psutil

from studio.cli.top_view import screen
from studio.control.transport import PREFIX
from studio.domain.control import GatewayInfo, ServiceInfo, Status
from studio.domain.events import EngineChanged, GatewayChanged, Ticked
from studio.domain.spill import SpillFlow, SpillKind
from studio.host.http_server import Exchange, serve
from tests.cli.top_samples import ENGINE, MIB, card, keys, requests, state, ticks

TOKEN = "bench"
SIZES = ((80, 24), (120, 40), (200, 60))
SETTLE_S = 4.0
GOAL_SHARE = 0.03
JSON = [(b"content-type", b"application/json")]
EVENTS = [(b"content-type", b"text/event-stream")]
CARDS = tuple(card(number, name="NVIDIA H200") for number in range(8))
SPILL = tuple(SpillFlow(kind=kind, bytes=MIB, bytes_per_s=1.0) for kind in SpillKind)


class Service:
    """Answers what `weir top` asks for."""

    def __init__(self) -> None:
        self._ticks = ticks(CARDS, SPILL, 600)
        self._answers = {
            "/status": Status(
                service=ServiceInfo(version="0", pid=1, started_at=0.0, home="/"),
                engine=ENGINE,
                gateway=GatewayInfo(base_url="http://127.0.0.1:18020/v1", requests=9),
                tick=self._ticks[-1],
            ),
            "/history": self._ticks,
            "/keys": keys(*(f"key {number}" for number in range(20))),
            "/requests": requests(60),
        }

    async def handle(self, exchange: Exchange) -> None:
        """Answer one call."""
        path = exchange.path.removeprefix(PREFIX)
        if path != "/events":
            exchange.respond(200, JSON, msgspec.json.encode(self._answers.get(path, [])))
            return
        exchange.start(200, EVENTS)
        exchange.write(_frame(EngineChanged(engine=ENGINE)))
        exchange.write(_frame(GatewayChanged(base_url="http://127.0.0.1:18020/v1")))
        number = 0
        while not exchange.is_gone:
            number += 1
            tick = msgspec.structs.replace(
                self._ticks[number % len(self._ticks)],
                at=time.time(),
                cards=tuple(
                    msgspec.structs.replace(one, power_w=200.0 + (number * one.index) % 50)
                    for one in CARDS
                ),
            )
            exchange.write(_frame(Ticked(tick=tick)))
            await asyncio.sleep(1.0)


def _frame(event: msgspec.Struct) -> bytes:
    return b"data: " + msgspec.json.encode(event) + b"\n\n"


async def measure(home: Path, size: tuple[int, int], seconds: float) -> tuple[float, float, float]:
    """Return share of a core, bytes a second, and resident megabytes of one `weir top`."""
    main, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "studio",
        "top",
        stdin=side,
        stdout=side,
        stderr=side,
        env={**os.environ, "WEIR_HOME": str(home), "TERM": "xterm-256color"},
        start_new_session=True,
    )
    os.close(side)
    os.set_blocking(main, False)
    sent = 0

    def drain() -> None:
        nonlocal sent
        with contextlib.suppress(BlockingIOError, OSError):
            sent += len(os.read(main, 1 << 20))

    loop = asyncio.get_running_loop()
    loop.add_reader(main, drain)
    try:
        await asyncio.sleep(SETTLE_S)
        process = psutil.Process(child.pid)
        before, bytes_before, began = process.cpu_times(), sent, time.monotonic()
        await asyncio.sleep(seconds)
        after, elapsed = process.cpu_times(), time.monotonic() - began
        used = after.user + after.system - before.user - before.system
        megabytes = process.memory_info().rss / 1e6
        return used / elapsed, (sent - bytes_before) / elapsed, megabytes
    finally:
        child.terminate()
        await child.wait()
        loop.remove_reader(main)
        os.close(main)


def frame_ms(size: tuple[int, int]) -> float:
    """Return what making one screen costs, without drawing it."""
    shown = state(CARDS, SPILL)
    began = time.perf_counter()
    for number in range(100):
        screen(shown, *size, now=1e9 + number)
    return (time.perf_counter() - began) * 10


async def main() -> None:
    """Print one row for each size."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=20.0)
    options = parser.parse_args()
    today = datetime.datetime.now(tz=datetime.UTC).date()
    load = os.getloadavg()[0]
    print(f"{platform.machine()}, {os.cpu_count()} cores, load {load:.1f}, {today}\n")
    print("| terminal | CPU, % of a core | bytes/s to the terminal | one screen, ms | RSS, MB |")
    print("|---|---|---|---|---|")
    server = await serve(Service().handle, port=0)
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        service = Path(folder) / "service"
        service.mkdir()
        (service / "token").write_text(TOKEN)
        address = {"port": server.port, "pid": os.getpid(), "version": "0", "started_at": 0.0}
        (service / "service.json").write_text(json.dumps(address))
        for size in SIZES:
            share, sent, megabytes = await measure(Path(folder), size, options.seconds)
            worst = max(worst, share)
            made = frame_ms(size)
            name = f"{size[0]} × {size[1]}"
            print(f"| {name} | {share * 100:.2f} | {sent:,.0f} | {made:.2f} | {megabytes:.1f} |")
    await server.close()
    print(f"\nGoal of {GOAL_SHARE:.0%}: {'kept' if worst <= GOAL_SHARE else 'missed'}.")


if __name__ == "__main__":
    asyncio.run(main())
