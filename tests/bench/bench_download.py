"""What kills cost a download, and how fast one is beside curl.

`python -m tests.bench.bench_download` prints two tables. Kills: a process that downloads from a
loopback server of limited speed gets SIGKILL at random points of the file; what the server has sent
and the next run does not find is counted. Speed: the same server without a limit, and one that
limits each connection; curl and the Studio in turn, `--rounds` times, into the same folder.
"""

import argparse
import asyncio
import hashlib
import multiprocessing
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from multiprocessing.synchronize import Event
from pathlib import Path

from studio.domain.units import bytes_text
from studio.host.download import Wanted, fetch
from studio.host.network import NetworkPolicy
from tests.fakes import hostile
from tests.fakes.killed_downloads import kill_at, random_points

MB = 1_000_000


def say(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def kills(count: int, size: int, rate: float, folder: Path, seed: int) -> None:
    """Print what each of `count` kills has cost."""
    choice = random.Random(seed)
    data = choice.randbytes(size)
    file = folder / "killed"
    with hostile.serving({"/f": data}) as server:
        server.bytes_per_s = rate
        lost = kill_at(server, "/f", data, file, random_points(count, size, choice))
    assert hashlib.sha256(file.read_bytes()).digest() == hashlib.sha256(data).digest()
    file.unlink()
    say(f"{count} kills of a file of {bytes_text(size)} at {rate / MB:.0f} MB/s, goal 1 MiB each")
    say(f"| {'fetched again for each kill':32} | {'median':>9} | {'most':>9} | {'all':>9} |")
    say("|---|---|---|---|")
    found = [bytes_text(statistics.median(lost)), bytes_text(max(lost)), bytes_text(sum(lost))]
    say(f"| {'':32} | {found[0]:>9} | {found[1]:>9} | {found[2]:>9} |")


def serve(data: bytes, each_bytes_per_s: float | None, port: "multiprocessing.Queue[int]",
          stop: Event) -> None:  # fmt: skip
    """Serve in a process of its own: the server must not take the client's time."""
    with hostile.serving({"/f": data}) as server:
        server.each_bytes_per_s = each_bytes_per_s
        port.put(server.port)
        stop.wait()


def speeds(size: int, rounds: int, each: float | None, folder: Path) -> None:
    """Print how long curl and the Studio take for a file."""
    data = random.Random(size).randbytes(size)
    sha256 = hashlib.sha256(data).hexdigest()
    context = multiprocessing.get_context("fork")
    port: multiprocessing.Queue[int] = context.Queue()
    stop = context.Event()
    server = context.Process(target=serve, args=(data, each, port, stop), daemon=True)
    server.start()
    url = f"http://127.0.0.1:{port.get()}/f"
    target = folder / "file"

    def studio(connections: int) -> Callable[[], None]:
        policy = NetworkPolicy(connections=connections)
        wanted = Wanted(url=url, sha256=sha256, bytes=size)
        return lambda: asyncio.run(_fetch(wanted, target, policy))

    def curl() -> None:
        subprocess.run(["curl", "-sS", "-o", str(target), url], check=True)

    def curl_and_digest() -> None:
        curl()
        subprocess.run(["sync", str(target)], check=True)
        subprocess.run(["sha256sum", str(target)], check=True, stdout=subprocess.DEVNULL)

    sides: dict[str, Callable[[], None]] = {
        "curl": curl,
        "curl, sync, sha256sum": curl_and_digest,
        **{f"weir, {number} connections": studio(number) for number in (1, 2, 4, 8)},
    }
    taken: dict[str, list[float]] = {name: [] for name in sides}
    for _round in range(rounds):
        for name, side in sides.items():
            target.unlink(missing_ok=True)
            began = time.perf_counter()
            side()
            taken[name].append(time.perf_counter() - began)
    stop.set()
    server.join(10)
    limit = "no limit" if each is None else f"{each / MB:.0f} MB/s for each connection"
    say(f"\n{bytes_text(size)} from loopback, {limit}, median of {rounds}")
    say(f"| {'side':24} | {'s':>6} | {'MB/s':>6} |")
    say("|---|---|---|")
    for name, values in taken.items():
        middle = statistics.median(values)
        say(f"| {name:24} | {middle:6.2f} | {size / middle / MB:6.0f} |")


async def _fetch(wanted: Wanted, target: Path, policy: NetworkPolicy) -> None:
    await fetch(wanted, target, policy=policy)


def main() -> None:
    """Run what the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--size-mb", type=int, default=400, help="of the file for the speed")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="bench-download-"))
    try:
        say(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores")
        if chosen.kills:
            kills(chosen.kills, 100 * MB, 12.0 * MB, folder, chosen.seed)
        if shutil.which("curl") is not None:
            speeds(chosen.size_mb * MB, chosen.rounds, None, folder)
            speeds(60 * MB, chosen.rounds, 10.0 * MB, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
