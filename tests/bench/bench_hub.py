"""Models from a hub beside curl and huggingface_hub's own download, over a line that takes time.

`python -m tests.bench.bench_hub` prints: seconds and processor time for one large file, for a small
repository and for many small files, the most memory, what the digest costs and how exact a limit
is. The hub is the tests' own, the line before it takes 20 ms there and back; each is a process of
its own. Each side is a process that takes its own time, without its start. hf-xet is not among
them: it needs the real hub's storage, so huggingface_hub's plain transfer stands for it.
"""

import argparse
import hashlib
import multiprocessing
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from multiprocessing import queues
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import NamedTuple, TypeAlias

from studio.domain.units import bytes_text
from studio.host.paths import bundled_root
from tests.bench.relay import Line
from tests.fakes import hub as fake
from tests.fakes.hub import NAME, Hub

MB = 1_000_000
_ROUND_TRIP_S = 0.02
_PIECE = 128 << 10
_TOOK = "print(time.perf_counter() - began, time.process_time() - used); "
_PEAK = "print(int(open('/proc/self/status').read().partition('VmHWM:')[2].split()[0]) << 10)"
_OURS = """
import asyncio, os, sys, time
from pathlib import Path
from studio.domain.downloads import GetRequest
from studio.host.network import NetworkPolicy
from studio.host.paths import Paths
from studio.hub import get
from studio.hub.access import Access
folder, name, limit = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
access = Access(paths=Paths(folder / "home", folder), policy=NetworkPolicy(), environ=os.environ)
throttle = get.Throttle(limit) if limit else None
began, used = time.perf_counter(), time.process_time()
asyncio.run(get.get(GetRequest(repository=name), access, throttle=throttle))
"""
_THEIRS = """
import sys, time
from huggingface_hub import snapshot_download
began, used = time.perf_counter(), time.process_time()
snapshot_download(sys.argv[2], token=False)
"""
_FILE = """
import asyncio, sys, time
from pathlib import Path
from studio.host.download import Wanted, fetch
from studio.host.network import NetworkPolicy
wanted = Wanted(url=sys.argv[1], sha256=sys.argv[3] or None, bytes=int(sys.argv[4]))
began, used = time.perf_counter(), time.process_time()
asyncio.run(fetch(wanted, Path(sys.argv[2]), policy=NetworkPolicy()))
"""


def say(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


Said: TypeAlias = "queues.Queue[str]"


def serve(files: dict[str, bytes], ports: Said, reached: Said, stop: Event) -> None:
    """Serve until told to stop; know the addresses by which it is reached over the line."""
    hub = Hub(files=files, lfs=frozenset(files), piece_bytes=_PIECE)
    for data in files.values():  # a hub knows them
        hub.sha256_of(data)
        hub.blob_id_of(data)
    with fake.running(hub):
        ports.put(hub.url)
        ports.put(hub.cdn)
        hub.url, hub.cdn = reached.get(), reached.get()
        stop.wait()


def carry(rate: float, ports: Said, reached: Said, told: Said, stop: Event) -> None:
    """Be the line."""
    with Line(one_way_s=_ROUND_TRIP_S / 2, bytes_per_s=rate) as line:
        for url in (ports.get(), ports.get()):
            over = line.to(url)
            reached.put(over)
            told.put(over)
        stop.wait()


class Took(NamedTuple):
    """What a side needs."""

    seconds: float
    cpu_s: float
    memory: int


class Served:
    """A repository behind a line, and who fetches it."""

    def __init__(self, files: dict[str, bytes], rate: float, folder: Path) -> None:
        self.files = files
        self._folder = folder
        context = multiprocessing.get_context("fork")
        ports, reached, told = (context.Queue() for _ in range(3))
        self._stop = context.Event()
        works: list[tuple[Callable[..., None], tuple[object, ...]]] = [
            (serve, (files, ports, reached, self._stop)),
            (carry, (rate, ports, reached, told, self._stop)),
        ]
        self._processes = [
            context.Process(target=work, args=known, daemon=True) for work, known in works
        ]
        for process in self._processes:
            process.start()
        self.url, self.cdn = told.get(), told.get()

    def __enter__(self) -> "Served":
        return self

    def __exit__(self, *_what: object) -> None:
        self._stop.set()
        for process in self._processes:
            process.join(10)

    def _python(self, program: str, *arguments: str) -> Took:
        """Run a side."""
        place = self._folder / "side"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        environment: Mapping[str, str] = {
            **os.environ, "PYTHONPATH": str(bundled_root()), "HF_ENDPOINT": self.url,
            "HF_HOME": str(place / "hf"), "HF_HUB_DISABLE_XET": "1",
            "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        }  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-c", program + _TOOK + _PEAK, *arguments],
            env=environment, check=True, capture_output=True, text=True,
        )  # fmt: skip
        seconds, cpu_s, memory = done.stdout.split()
        return Took(float(seconds), float(cpu_s), int(memory))

    def ours(self, limit: int = 0) -> Took:
        """Fetch the repository by the Studio."""
        return self._python(_OURS, str(self._folder / "side"), NAME, str(limit))

    def theirs(self) -> Took:
        """Fetch it by huggingface_hub."""
        return self._python(_THEIRS, "", NAME)

    def plain(self, *, has_digest: bool) -> Took:
        """Fetch the first file by the Studio's downloader, with a digest or without."""
        name, data = next(iter(self.files.items()))
        digest = hashlib.sha256(data).hexdigest() if has_digest else ""
        target = str(self._folder / "side/file")
        return self._python(_FILE, f"{self.cdn}/cdn/{name}", target, digest, str(len(data)))

    def curl(self) -> Took:
        """Fetch every file by curl, one after another over one connection."""
        place = self._folder / "side"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        words: list[str] = []
        for number, name in enumerate(self.files):
            words += ["-o", str(place / str(number)), f"{self.url}/{NAME}/resolve/main/{name}"]
        form = ["-w", "%{time_total}\n"]
        before = os.times()
        done = subprocess.run(
            ["curl", "-sSL", *form, *words], check=True, capture_output=True, text=True
        )
        after = os.times()
        cpu_s = sum(after[2:4]) - sum(before[2:4])
        return Took(sum(map(float, done.stdout.split())), cpu_s, 0)


def compare(title: str, files: dict[str, bytes], rate: float, rounds: int, folder: Path) -> None:
    """Print how long each side takes, in turn."""
    size = sum(map(len, files.values()))
    taken: dict[str, list[Took]] = {}
    with Served(files, rate, folder) as served:
        sides: dict[str, Callable[[], Took]] = {
            "curl": served.curl, "huggingface_hub": served.theirs, "weir": served.ours,
        }  # fmt: skip
        for _round in range(rounds):
            for name, side in sides.items():
                taken.setdefault(name, []).append(side())
    say(f"\n{title}: {bytes_text(size)}, {rate / MB:.0f} MB/s, 20 ms, median of {rounds}")
    say("| side | s | of them processor | MB/s | most memory |")
    say("|---|---|---|---|---|")
    middle = {
        name: statistics.median(one.seconds for one in found) for name, found in taken.items()
    }
    for name, found in taken.items():
        memory = max(one.memory for one in found)
        cpu_s = statistics.median(one.cpu_s for one in found)
        shown = bytes_text(memory) if memory else ""
        speed = size / middle[name] / MB
        say(f"| {name} | {middle[name]:.2f} | {cpu_s:.2f} | {speed:.1f} | {shown} |")
    best = min(middle["curl"], middle["huggingface_hub"])
    say(f"the better of the others takes {best / middle['weir']:.3f} of weir's time (goal 0.95)")


def digest_cost(data: bytes, rates: list[float], rounds: int, folder: Path) -> None:
    """Print what the digest costs, on lines of several speeds."""
    for rate in rates:
        with Served({"file": data}, rate, folder) as served:
            taken: dict[bool, list[Took]] = {True: [], False: []}
            for _round in range(rounds):
                for kind, found in taken.items():
                    found.append(served.plain(has_digest=kind))
        with_it, without = (
            statistics.median(one.seconds for one in taken[kind]) for kind in (True, False)
        )
        cpu_s = [statistics.median(one.cpu_s for one in taken[kind]) for kind in (True, False)]
        say(
            f"digest, {bytes_text(len(data))} at {rate / MB:.0f} MB/s: {with_it:.2f} s with, "
            f"{without:.2f} s without: {with_it / without - 1:+.1%} (goal 10 %); "
            f"processor {cpu_s[0]:.2f} s with, {cpu_s[1]:.2f} s without"
        )


def limits(data: bytes, rate: float, folder: Path) -> None:
    """Print how exact limits are: by what twice as much takes longer, without begin and end."""
    for limit in (2 * MB, 8 * MB):
        sizes = (6 * limit, 12 * limit)
        taken: list[float] = []
        for size in sizes:
            with Served({"file": data[:size]}, rate, folder) as served:
                taken.append(served.ours(limit).seconds)
        found = (sizes[1] - sizes[0]) / (taken[1] - taken[0])
        say(f"limit {limit / MB:.0f} MB/s: {found / MB:.3f} MB/s, {found / limit - 1:+.1%}")


def many(count: int, rate: float, folder: Path) -> None:
    """Print time, processor time and memory of a repository of many small files."""
    files = {f"{one // 500}/{one:05}.npy": b"%d" % one * 300 for one in range(count)}
    with Served(files, rate, folder) as served:
        for name, side in (("weir", served.ours), ("huggingface_hub", served.theirs)):
            took = side()
            say(
                f"{count:,} small files, {name}: {took.seconds:.1f} s, of them processor "
                f"{took.cpu_s:.1f} s, {bytes_text(took.memory)}"
            )


def main() -> None:
    """Run what the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rate-mb", type=float, default=25.0, help="of the line, in MB/s")
    parser.add_argument("--size-mb", type=int, default=200)
    parser.add_argument("--many", type=int, default=2000)
    parser.add_argument("--only", choices=("large", "shards", "digest", "limits", "many"))
    chosen = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="bench-hub-"))
    rate, size = chosen.rate_mb * MB, chosen.size_mb * MB
    try:
        say(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores")
        data = random.Random(1).randbytes(size)
        half = size // 4
        small = {f"{one}.json": random.Random(one).randbytes(2_000) for one in range(10)}
        shards = {f"model-{one}.safetensors": data[one * half : (one + 1) * half] for one in (0, 1)}
        large = {"model.safetensors": data}
        parts: dict[str, Callable[[], None]] = {
            "large": lambda: compare("one large file", large, rate, chosen.rounds, folder),
            "shards": lambda: compare(
                "two shards and ten small files", shards | small, rate, chosen.rounds, folder
            ),
            "digest": lambda: digest_cost(data, [rate, 4 * rate], chosen.rounds, folder),
            "limits": lambda: limits(data, rate, folder),
            "many": lambda: many(chosen.many, rate, folder),
        }
        for name, part in parts.items():
            if chosen.only in (None, name):
                part()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
