"""Looking at processes: ours by their marker, and what each is. Starts none and ends none."""

import contextlib
from pathlib import Path

import psutil

from studio.domain.control import ProcessInfo
from studio.host.child import MARKER

GONE = (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess)
"""What asking a process may raise when it is gone, or somebody else's."""

COMPILERS = (
    "cc1", "cicc", "clang", "cudafe++", "fatbinary", "g++", "gcc", "ld", "ninja", "nvcc", "nvlink",
    "ptxas", "tcc",
)  # fmt: skip
"""What Triton, torch.compile and FlashInfer start to make a kernel."""

TITLE = "VLLM::"
"""How vLLM's own processes begin their titles (its VLLM_PROCESS_NAME_PREFIX)."""


def marked(home: Path) -> list[psutil.Process]:
    """Return living engine processes that a service of `home` started, this boot or an earlier."""
    wanted = str(home)
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(*GONE, OSError):
            if process.environ().get(MARKER) == wanted:
                found.append(process)
    return found


def is_living(process: psutil.Process) -> bool:
    """Tell whether it exists and is no zombie."""
    with contextlib.suppress(*GONE):
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    return False


def title(process: psutil.Process) -> str:
    """Return what a process calls itself, for people: `VLLM::EngineCore`, or its program's name."""
    with contextlib.suppress(*GONE, OSError):
        first = next(iter(process.cmdline()), "").strip()
        return _text(first if first.startswith(TITLE) else process.name())
    return "a process"


def titled(root: int) -> list[tuple[str, int]]:
    """Return the descendants of `root` that call themselves an engine's part, with their titles."""
    found = []
    with contextlib.suppress(*GONE):
        for one in psutil.Process(root).children(recursive=True):
            name = title(one)
            if name.startswith(TITLE):
                found.append((name.removeprefix(TITLE), one.pid))
    return found


def is_compiling(root: int) -> bool:
    """Tell whether a descendant of `root` is a compiler: then a kernel is made on first use."""
    with contextlib.suppress(*GONE):
        for one in psutil.Process(root).children(recursive=True):
            with contextlib.suppress(*GONE):
                if one.name().startswith(COMPILERS) and is_living(one):
                    return True
    return False


def tree(root: int, *, own_role: str) -> list[ProcessInfo]:
    """Return `root` and its descendants, with the part each plays."""
    with contextlib.suppress(*GONE):
        top = psutil.Process(root)
        rows = [_describe(top, own_role), *(_describe(p, None) for p in top.children(True))]
        return [row for row in rows if row is not None]
    return []


def group_memory(leader: int) -> tuple[int | None, int | None]:
    """Return the resident and the swapped bytes of `leader` and its descendants; None when unknown.

    Looks at every process of the machine to find them: some 25 µs each. Swap on Linux only.
    """
    rss: int | None = None
    swap: int | None = None
    with contextlib.suppress(*GONE):
        top = psutil.Process(leader)
        for process in (top, *top.children(recursive=True)):
            with contextlib.suppress(*GONE):
                rss = (rss or 0) + process.memory_info().rss
            with contextlib.suppress(OSError, ValueError):
                for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
                    if line.startswith("VmSwap:"):
                        swap = (swap or 0) + int(line.split()[1]) * 1024
    return rss, swap


def _describe(process: psutil.Process, role: str | None) -> ProcessInfo | None:
    with contextlib.suppress(*GONE), process.oneshot():
        arguments = [_text(part) for part in process.cmdline()]
        times = process.cpu_times()
        return ProcessInfo(
            pid=process.pid,
            parent=process.ppid(),
            role=role or _role(process.name(), arguments),
            command=" ".join(arguments) or process.name(),
            rss_bytes=process.memory_info().rss,
            cpu_s=times.user + times.system,
            started_at=process.create_time(),
        )
    return None


def _text(raw: str) -> str:
    """Return what may be shown and sent of a string of bytes that need not be text."""
    return raw.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _role(name: str, arguments: list[str]) -> str:
    shown = " ".join(arguments) or name
    if any(Path(part).name == "guard.py" for part in arguments):
        return "guard"
    if "EngineCore" in shown:
        return "engine-core"
    if "Worker" in shown:
        return "worker"
    if "resource_tracker" in shown:
        return "helper"
    return "engine" if " serve " in f" {shown} " else "helper"


def started_at(pid: int) -> float | None:
    """Return when a living process was started, in seconds since the epoch; None: there is none."""
    with contextlib.suppress(*GONE):
        process = psutil.Process(pid)
        if process.status() != psutil.STATUS_ZOMBIE:
            return float(process.create_time())
    return None
