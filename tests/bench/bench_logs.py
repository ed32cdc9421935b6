"""What a flood of log lines costs the service: CPU, stalls of the loop, and whether the tail stays.

    python -m tests.bench.bench_logs [--seconds 10] [--rate 100000]

A real child process, started through the guard as an engine is, prints the lines; the real keeper,
boot reader and bus take them. The loop's stalls are measured by a timer that should fire each 5 ms.
"""

import argparse
import asyncio
import resource
import sys
import tempfile
import time
from collections import deque
from pathlib import Path

from studio.domain.metrics import LogLine
from studio.host import child
from studio.serving import log_pages, phases
from studio.serving.log_file import file_of
from studio.serving.logs import LogKeeper

_TICK_S = 0.005
_FLOOD = """
import sys, time
rate, seconds = int(sys.argv[1]), float(sys.argv[2])
write, flush = sys.stdout.buffer.write, sys.stdout.buffer.flush
began, sent = time.monotonic(), 0
while sent < rate * seconds:
    due = min(int((time.monotonic() - began) * rate), int(rate * seconds))
    if due > sent:
        write(b"".join(
            b"(EngineCore pid=2709) INFO 11-29 13:47:36 [core.py:1] step %d: 3 running\\n"
            % n for n in range(sent, due)))
        flush()
        sent = due
    time.sleep(0.002)
"""


async def _watch(stalls: list[float]) -> None:
    loop = asyncio.get_running_loop()
    while True:
        began = loop.time()
        await asyncio.sleep(_TICK_S)
        stalls.append(loop.time() - began - _TICK_S)


async def _measure(rate: int, seconds: float, folder: Path) -> None:
    announced = [0, 0]

    def on_lines(lines: tuple[LogLine, ...], dropped: int) -> None:
        announced[0] += len(lines)
        announced[1] += dropped

    loop = asyncio.get_running_loop()
    keeper = LogKeeper(
        file_of(folder, "engine"), clock=time.time, on_lines=on_lines, timer=loop.call_later
    )
    kept: deque[str] = deque(maxlen=4000)

    def on_output(data: bytes) -> None:
        for line in keeper.feed(data):
            kept.append(line)
            phases.read(line)

    argv = (sys.executable, "-c", _FLOOD, str(rate), str(seconds))
    stalls: list[float] = []
    running = await child.start(argv, {}, python=sys.executable, cwd=folder, grace_s=1.0)
    before, began = resource.getrusage(resource.RUSAGE_SELF), time.monotonic()
    async with asyncio.TaskGroup() as tasks:
        watch = tasks.create_task(_watch(stalls))
        await running.pump(on_output)
        watch.cancel()
    took_s = time.monotonic() - began
    used = resource.getrusage(resource.RUSAGE_SELF)
    await running.close()
    keeper.close()
    cpu_s = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
    stalls.sort()
    wanted = [f"step {n}:" for n in range(int(rate * seconds) - 5000, int(rate * seconds))]
    page = log_pages.newest(folder, "engine", lines=5000)
    in_ring = all(w in line.text for w, line in zip(wanted, keeper.tail(5000), strict=True))
    in_file = all(w in line.text for w, line in zip(wanted, page.lines, strict=True))
    rate_text = f"{keeper.seq / took_s:,.0f} a second"
    print(f"lines                 {keeper.seq:,} in {took_s:.1f} s: {rate_text}")
    print(f"supervisor CPU        {cpu_s:.2f} s, {cpu_s / took_s:.0%} of one core")
    print(f"loop stall, median    {stalls[len(stalls) // 2] * 1000:.1f} ms")
    print(f"loop stall, 99 %      {stalls[int(len(stalls) * 0.99)] * 1000:.1f} ms")
    print(f"loop stall, worst     {stalls[-1] * 1000:.1f} ms")
    print(f"announced             {announced[0]:,}, left out {announced[1]:,}")
    print(f"newest 5,000 lines    ring {'whole' if in_ring else 'NOT whole'}, "
          f"file {'whole' if in_file else 'NOT whole'}")  # fmt: skip


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--rate", type=int, default=100_000)
    asked = parser.parse_args()
    import uvloop

    with (
        tempfile.TemporaryDirectory() as folder,
        asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
    ):
        runner.run(_measure(asked.rate, asked.seconds, Path(folder)))


if __name__ == "__main__":
    main()
