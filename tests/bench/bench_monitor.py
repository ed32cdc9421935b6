"""What the monitor costs with eight cards and one engine, beside nvitop's own snapshots.

    python -m tests.bench.bench_monitor [--seconds N] [--every S]

Cards are the stand-in of NVIDIA's library (tests/fakes/nvml), eight H200 at work with two processes
each; the engine answers with a recorded text of 77 kB whose counters move. Sampler, engine and
nvitop are processes of their own and run at the same time; each tells its own processor time.
nvitop and prometheus_client come into a virtual environment under `~/.cache`, for this only.
"""

import argparse
import asyncio
import contextlib
import datetime
import json
import os
import platform
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import msgspec
import uvloop

from studio.domain.events import Ticked
from studio.domain.metrics import Tick
from studio.host.card_reader import CardReader
from studio.host.http_client import Upstream
from studio.host.http_server import Exchange, Server, serve
from studio.monitor import prometheus
from studio.monitor.history import History
from studio.monitor.sampler import Sampler
from tests.fakes.nvml_machines import MIB, h200, machine
from tests.fakes.nvml_stub import build, put
from tests.fakes.recordings import ENGINE

NVITOP = "nvitop==1.7.2"
GENERAL_PARSER = "prometheus_client==0.26.0"
VENV = Path.home() / ".cache" / "weir-studio-bench" / "nvitop"
CARDS = 8
WARM_UP_S = 3.0
_RECORDED = ENGINE / "metrics" / "main-under-load.txt"
_TEXTS = {
    "0.32 CPU, idle": ENGINE / "metrics" / "dummy-idle.txt",
    "0.32 CPU, speculation, idle": ENGINE / "metrics" / "main-idle.txt",
    "0.32 CPU, speculation, under load": _RECORDED,
    "0.26 CUDA with a CPU tier, under load": ENGINE
    / "cuda"
    / "r1-compiled-offload8"
    / "metrics_load.txt",
}
_GENERAL = """
import pathlib, sys, time
from prometheus_client.parser import text_string_to_metric_families as read
text = pathlib.Path(sys.argv[1]).read_text()
def once():
    began = time.process_time()
    list(read(text))
    return time.process_time() - began
print(sorted(once() for _ in range(15))[7])
"""
_SNAPSHOTS = """
import resource, sys, time
from nvitop import Device, take_snapshots
seconds, every = float(sys.argv[1]), float(sys.argv[2])
devices = Device.all()
take_snapshots(devices)
def spent():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
time.sleep(float(sys.argv[3]))
began_s, began, count = spent(), time.monotonic(), 0
while time.monotonic() - began < seconds:
    found = take_snapshots(devices)
    count += 1
    time.sleep(max(0.0, every - (time.monotonic() - began) % every))
print(spent() - began_s, time.monotonic() - began, count, len(found.devices))
"""


def main() -> None:
    """Print one row for each program."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--every", type=float, default=1.0)
    parser.add_argument("--role", choices=("engine", "sampler"), default=None)
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args()
    if options.role == "engine":
        uvloop.run(_engine())
    elif options.role == "sampler":
        print(json.dumps(uvloop.run(_sample(options.port, options.seconds, options.every))))
    else:
        _compare(options.seconds, options.every)
        _parsing()


def _compare(seconds: float, every: float) -> None:
    today = datetime.datetime.now(tz=datetime.UTC).date()
    print(f"{platform.machine()}, {os.cpu_count()} cores, {today}, {seconds:.0f} s\n")
    python = _nvitop()
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as ends:
        folder = Path(name)
        engine = ends.enter_context(_child("--role", "engine"))
        port = int(_line(engine))
        environment = _machine(folder, engine.pid)
        times = ["--seconds", str(seconds), "--every", str(every)]
        sampler = ends.enter_context(
            _child("--role", "sampler", "--port", str(port), *times, environment=environment)
        )
        arguments = [str(seconds), str(every), str(WARM_UP_S)]
        other = ends.enter_context(
            subprocess.Popen(
                [str(python), "-c", _SNAPSHOTS, *arguments],
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        )
        own: dict[str, float] = json.loads(_line(sampler))
        cpu_s, wall_s, count, devices = (float(part) for part in _line(other).split())
    if devices != CARDS or own["cards"] != CARDS:
        sys.exit(f"Not all cards were seen: {own['cards']:.0f} here, {devices:.0f} by nvitop.")
    print("| program | readings | CPU, % of a core | a reading, ms |")
    print("|---|---|---|---|")
    _row("Studio: 8 cards, engine of 77 kB, host, rates, event", own["cpu_s"], own["wall_s"], own)
    print(
        f"| nvitop {NVITOP.partition('==')[2]}: 8 cards and their processes | {count:.0f} | "
        f"{cpu_s / wall_s * 100:.2f} | {cpu_s / count * 1000:.1f} |"
    )
    print(
        f"\nOf the Studio's, by its own account {own['share'] * 100:.2f} %, of which the cards' "
        f"thread {own['cards_s'] / own['wall_s'] * 100:.2f} %; ticks left out: "
        f"{own['left_out']:.0f}."
    )


def _parsing() -> None:
    """Print what reading one text takes, here and with the general parser."""
    print("\n| text | size, kB | ours, ms | prometheus_client, ms |")
    print("|---|---|---|---|")
    for name, path in _TEXTS.items():
        text = path.read_text(encoding="utf-8")
        ours = sorted(_seconds_of(text) for _ in range(200))
        theirs = subprocess.run(
            [str(_nvitop()), "-c", _GENERAL, str(path)], check=True, capture_output=True, text=True
        )
        print(
            f"| {name} | {len(text) / 1000:.0f} | {ours[len(ours) // 2] * 1000:.2f} | "
            f"{float(theirs.stdout) * 1000:.0f} |"
        )


def _seconds_of(text: str) -> float:
    began = time.process_time()
    prometheus.parse(text)
    return time.process_time() - began


def _row(name: str, cpu_s: float, wall_s: float, own: dict[str, float]) -> None:
    each_ms = cpu_s / own["count"] * 1000
    print(f"| {name} | {own['count']:.0f} | {cpu_s / wall_s * 100:.2f} | {each_ms:.1f} |")


# Processes


@contextlib.contextmanager
def _child(
    *arguments: str, environment: dict[str, str] | None = None
) -> Iterator["subprocess.Popen[str]"]:
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.bench.bench_monitor", *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield child
    finally:
        child.terminate()
        child.wait()


def _line(child: "subprocess.Popen[str]") -> str:
    output: IO[str] | None = child.stdout
    assert output is not None
    line = output.readline()
    if not line:
        sys.exit("A process of this measurement has ended early.")
    return line


def _machine(folder: Path, pid: int) -> dict[str, str]:
    """Return the environment of a process that sees eight cards with processes that exist."""
    library = build(folder)
    scenario = folder / "cards.txt"
    holders = [{"pid": pid, "bytes": 80_000 * MIB}, {"pid": os.getpid(), "bytes": 900 * MIB}]
    cards = [h200(n, processes=holders, pcie_rx=2000, pcie_tx=500) for n in range(CARDS)]
    put(scenario, machine(*cards, pcie_ms=20))
    return {
        **os.environ,
        "LD_LIBRARY_PATH": str(library.parent),
        "FAKE_NVML": str(scenario),
    }


def _nvitop() -> Path:
    python = VENV / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(VENV)], check=True)
        pip = [str(python), "-m", "pip", "install", "-q"]
        subprocess.run([*pip, NVITOP, GENERAL_PARSER], check=True)
    return python


# The sampler's process


async def _sample(port: int, seconds: float, every: float) -> dict[str, float]:
    upstream = Upstream(port=port)
    reader = CardReader()
    seen: list[Tick] = []
    encoder = msgspec.json.Encoder()

    async def fetch() -> bytes | None:
        status, _, body = await upstream.fetch("GET", "/metrics", timeout_s=0.8)
        return body if status == 200 else None

    def publish(tick: Tick) -> None:
        encoder.encode(Ticked(tick=tick))
        seen.append(tick)

    sampler = Sampler(
        fetch=fetch,
        engine_pid=lambda: None,
        publish=publish,
        history=History(),
        cards=reader.read,
        cards_cpu_s=lambda: reader.cpu_s,
        interval_s=lambda: every,
    )
    result: dict[str, float] = {}
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(sampler.run())
        await asyncio.sleep(WARM_UP_S)
        seen.clear()
        cards_s, began_s, began = reader.cpu_s, _spent_s(), time.monotonic()
        await asyncio.sleep(seconds)
        result = {
            "cpu_s": _spent_s() - began_s,
            "wall_s": time.monotonic() - began,
            "cards_s": reader.cpu_s - cards_s,
            "count": len(seen),
            "cards": min(len(tick.cards or ()) for tick in seen),
            "share": sampler.info().cost_share or 0.0,
            "left_out": sampler.info().left_out,
        }
        assert all(tick.decode_tokens_per_s for tick in seen)
        running.cancel()
    upstream.close()
    return result


def _spent_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


# The engine's process


async def _engine() -> None:
    text = _RECORDED.read_text(encoding="utf-8")
    asked = 0

    def moved(found: "re.Match[str]") -> str:
        return f"{found[1]} {float(found[2]) + asked * 100}"

    async def handle(exchange: Exchange) -> None:
        nonlocal asked
        asked += 1
        body = re.sub(r"^(vllm:generation_tokens_total\S+) (\S+)", moved, text, flags=re.MULTILINE)
        exchange.respond(200, [(b"content-type", b"text/plain")], body.encode())

    server: Server = await serve(handle)
    sys.stdout.write(f"{server.port}\n")
    sys.stdout.flush()
    waiting: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    await waiting


if __name__ == "__main__":
    main()
