"""A download in a process of its own that is killed again and again, and what that costs."""

import contextlib
import functools
import hashlib
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from studio.host.paths import bundled_root
from studio.host.transfer.part import PartFile
from tests.fakes.hostile import Hostile
from tests.fakes.waiting import until

SMALL_BUFFERS = """
import socket
class Small(socket.socket):
    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16 << 10)
socket.socket = Small
"""
"""Put before a program: the system would keep megabytes for each of its connections while it waits
for the processor, all of which a kill loses; a test that counts them measures the machine."""
_PROGRAM = """
import asyncio, sys
from pathlib import Path
from studio.host.download import Wanted, fetch
from studio.host.network import NetworkPolicy
url, sha256, size, target = sys.argv[1:]
wanted = Wanted(url=url, sha256=sha256, bytes=int(size))
asyncio.run(fetch(wanted, Path(target), policy=NetworkPolicy()))
"""
LIMIT_S = 120.0


@contextlib.contextmanager
def downloading(url: str, data: bytes, target: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a download in a process of its own; at the end nothing of it is left."""
    arguments = [url, hashlib.sha256(data).hexdigest(), str(len(data)), str(target)]
    process = subprocess.Popen(
        [sys.executable, "-c", SMALL_BUFFERS + _PROGRAM, *arguments],
        env={**os.environ, "PYTHONPATH": str(bundled_root())},
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        process.wait(LIMIT_S)


def kill_at(server: Hostile, target: str, data: bytes, file: Path, points: list[int]) -> list[int]:
    """Kill a download each time that the server has sent so many bytes more than are kept.

    Return how many bytes each kill has cost; then the file is fetched to its end.
    """
    lost: list[int] = []
    for point in points:
        goal = point + sum(lost)
        with downloading(server.url(target), data, file) as process:
            until(
                functools.partial(_is_due, server, goal, process), f"{goal} bytes", limit_s=LIMIT_S
            )
            assert process.poll() is None, "it ended before it could be killed"
            process.send_signal(signal.SIGKILL)
            process.wait(LIMIT_S)
        until(lambda: not server.open_connections, "the end of its connections")
        lost.append(server.sent - sum(lost) - kept_bytes(file, data))
    with downloading(server.url(target), data, file) as process:
        assert process.wait(LIMIT_S) == 0
    return lost


def _is_due(server: Hostile, goal: int, process: subprocess.Popen[bytes]) -> bool:
    return server.sent >= goal or process.poll() is not None


def kept_bytes(file: Path, data: bytes) -> int:
    """Return how many bytes a next run will find; those that are wrong count as none."""
    part = PartFile.try_open(file.with_name(f"{file.name}.part"))
    assert part is not None
    try:
        part.resume(sha256=hashlib.sha256(data).hexdigest(), size=len(data), sources=set())
        assert all(part.read(s, e - s) == data[s:e] for s, e in part.spans())
        return part.present
    finally:
        part.close()


def random_points(count: int, size: int, choice: random.Random) -> list[int]:
    """Return points in order, far enough apart for a process to come that far."""
    step = size // (count + 1)
    return [step * number + choice.randrange(step // 2, step) for number in range(count)]
