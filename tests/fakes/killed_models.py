"""A model that comes in a process of its own, which is killed again and again."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from studio.host.paths import bundled_root
from tests.fakes.hub import NAME, Hub
from tests.fakes.killed_downloads import SMALL_BUFFERS
from tests.fakes.waiting import until

_PROGRAM = """
import asyncio, os, sys
from pathlib import Path
from studio.domain.downloads import GetRequest
from studio.host.network import NetworkPolicy
from studio.host.paths import Paths
from studio.hub import get
from studio.hub.access import Access
folder, name, limit = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
access = Access(paths=Paths(folder / "home", folder / "catalogue"), policy=NetworkPolicy(),
                environ=os.environ)
throttle = get.Throttle(limit or None)
found = asyncio.run(get.get(GetRequest(repository=name), access, throttle=throttle))
print(found.folder)
# Not `ru_maxrss`: that of whoever started this process counts in it.
print(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0])
"""
LIMIT_S = 120.0


@contextlib.contextmanager
def getting(hub: Hub, folder: Path, *, limit: int = 0) -> Iterator[subprocess.Popen[str]]:
    """Get a model in a process of its own; at the end nothing of it is left.

    It prints where the model is, and the most memory that it took, in KiB. Where the server's
    buffers are small, its own are too.
    """
    program = _PROGRAM if hub.send_buffer is None else SMALL_BUFFERS + _PROGRAM
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(folder), NAME, str(limit)],
        env={
            **os.environ,
            "PYTHONPATH": str(bundled_root()),
            "HF_ENDPOINT": hub.url,
            "HF_HOME": str(folder / "hf"),
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        process.communicate(timeout=LIMIT_S)


def kill_when(hub: Hub, process: "subprocess.Popen[str]", sent: int) -> bool:
    """Kill a download once so many bytes were sent; return whether it was still at it."""
    until(
        lambda: hub.sent_bytes >= sent or process.poll() is not None,
        f"{sent} bytes",
        limit_s=LIMIT_S,
    )
    is_running = process.poll() is None
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(signal.SIGKILL)
    process.wait(LIMIT_S)
    until(lambda: not hub.under_way, "the end of its requests")
    return is_running


def whole(process: "subprocess.Popen[str]") -> tuple[Path, int]:
    """Wait for the end of a download; return its folder, and its memory in bytes."""
    said, _ = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 0
    folder, memory = said.splitlines()
    return Path(folder), int(memory) << 10
