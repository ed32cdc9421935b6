"""What this machine is: operating system, memory, disk, cards. Never an invented value.

The cards come from NVML through pynvml; where it answers with an error the field is None, and
`gpu_note` says in words why no card is listed.
"""

import contextlib
import os
import platform
import sys
from pathlib import Path

import psutil
import pynvml

from studio.domain.hardware import Gpu, HostSnapshot
from studio.host.files import free_bytes

_WSL_LIBRARY = Path("/usr/lib/wsl/lib/libnvidia-ml.so.1")


def snapshot(home: Path) -> HostSnapshot:
    """Return the host as it is now; `home` says which disk is meant. Blocks for milliseconds."""
    gpus, driver, note = _cards()
    memory = psutil.virtual_memory()
    return HostSnapshot(
        system=sys.platform if sys.platform != "win32" else "windows",
        machine=_machine(),
        os_name=_os_name(),
        glibc=platform.libc_ver()[1] or None,
        is_wsl=_is_wsl(),
        cpu_name=_cpu_name(),
        cpu_count=len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count(),
        memory_bytes=memory.total,
        memory_free_bytes=memory.available,
        disk_free_bytes=free_bytes(home),
        driver=driver,
        gpus=gpus,
        gpu_note=note,
    )


def _machine() -> str:
    machine = platform.machine().lower()
    return {"amd64": "x86_64", "arm64": "aarch64"}.get(machine, machine)


def _os_name() -> str:
    with contextlib.suppress(OSError):
        return platform.freedesktop_os_release().get("PRETTY_NAME", platform.system())
    return f"{platform.system()} {platform.release()}"


def _is_wsl() -> bool:
    with contextlib.suppress(OSError):
        return "microsoft" in Path("/proc/sys/kernel/osrelease").read_text().lower()
    return False


def _cpu_name() -> str | None:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip() or None
    return platform.processor() or None


def _cards() -> tuple[tuple[Gpu, ...], str | None, str | None]:
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError_LibraryNotFound:
        if _WSL_LIBRARY.exists():
            return (), None, f"NVIDIA's library lies in {_WSL_LIBRARY.parent} but cannot be loaded."
        return (), None, "No NVIDIA driver was found on this machine."
    except pynvml.NVMLError as error:
        return (), None, f"NVIDIA's driver does not answer: {error}."
    try:
        driver = _text(pynvml.nvmlSystemGetDriverVersion())
        cards = tuple(_card(index) for index in range(pynvml.nvmlDeviceGetCount()))
    except pynvml.NVMLError as error:
        return (), None, f"NVIDIA's driver does not list its cards: {error}."
    finally:
        with contextlib.suppress(pynvml.NVMLError):
            pynvml.nvmlShutdown()
    return cards, driver, None if cards else "NVIDIA's driver lists no card."


def _card(index: int) -> Gpu:
    handle = pynvml.nvmlDeviceGetHandleByIndex(index)
    name = uuid = capability = total = free = None
    with contextlib.suppress(pynvml.NVMLError):
        name = _text(pynvml.nvmlDeviceGetName(handle))
    with contextlib.suppress(pynvml.NVMLError):
        uuid = _text(pynvml.nvmlDeviceGetUUID(handle))
    with contextlib.suppress(pynvml.NVMLError):
        major, minor = pynvml.nvmlDeviceGetCudaComputeCapability(handle)
        capability = f"{major}.{minor}"
    with contextlib.suppress(pynvml.NVMLError):
        memory = pynvml.nvmlDeviceGetMemoryInfo(handle)
        total, free = int(memory.total), int(memory.free)
    return Gpu(
        index=index,
        name=name or f"NVIDIA card {index}",
        uuid=uuid,
        compute_capability=capability,
        total_bytes=total,
        free_bytes=free,
    )


def _text(value: str | bytes) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value
