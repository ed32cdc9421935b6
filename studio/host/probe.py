"""What this machine is: system, memory, disks, cards. Never an invented value.

`snapshot` asks what answers at once; `look` asks programs too (compilers, WSL's own, nvidia-smi
where NVIDIA's library is missing). Neither can be held up by a driver that hangs.
"""

import asyncio
import contextlib
import os
import platform
import sys
from collections.abc import Mapping
from pathlib import Path

import msgspec
import psutil

from studio.domain.hardware import HostSnapshot
from studio.host import (
    adapters,
    container,
    disks,
    gpus,
    limits,
    machine,
    programs,
    system_name,
    wsl,
)
from studio.host.gpu_report import GpuReport
from studio.host.paths import Paths


def snapshot(home: Path, folders: Mapping[str, Path] | None = None) -> HostSnapshot:
    """Return the host as it is now; `home` says which disk is meant. Blocks for milliseconds."""
    return _with_cards(_without_cards(home, folders or {"home": home}), gpus.from_library())


async def look(paths: Paths) -> HostSnapshot:
    """Return the host as it is now, with all that can be found out in a moment."""
    folders = {
        "home": paths.home,
        "runtimes": paths.runtimes,
        "models": paths.models,
        "cache": paths.cache,
    }
    async with asyncio.TaskGroup() as tasks:
        bare = tasks.create_task(asyncio.to_thread(_without_cards, paths.home, folders))
        cards = tasks.create_task(_cards())
        tools = tasks.create_task(programs.toolchain())
        network = tasks.create_task(_network())
    host = _with_cards(bare.result(), cards.result())
    facts = host.wsl
    if facts is not None and network.result() is not None:
        facts = msgspec.structs.replace(facts, networking_mode=network.result())
    return msgspec.structs.replace(host, toolchain=tools.result(), wsl=facts)


async def _cards() -> GpuReport:
    return await gpus.from_program(await asyncio.to_thread(gpus.from_library))


async def _network() -> str | None:
    return await wsl.networking_mode() if wsl.is_wsl(_kernel()) else None


def _without_cards(home: Path, folders: Mapping[str, Path]) -> HostSnapshot:
    memory, swap = psutil.virtual_memory(), _swap()
    kernel = _kernel()
    is_wsl = wsl.is_wsl(kernel)
    shm, shm_free = machine.shared_memory()
    found = disks.disks({"home": home, **folders}, is_wsl=is_wsl)
    return HostSnapshot(
        system=sys.platform if sys.platform != "win32" else "windows",
        machine=_machine(),
        os_name=_os_name(),
        kernel=kernel or None,
        glibc=_glibc(),
        is_wsl=is_wsl,
        wsl=wsl.facts(kernel) if is_wsl else None,
        container=container.facts() if sys.platform == "linux" else None,
        cpu_name=machine.cpu_name(),
        cpu_count=machine.cpu_count(),
        cpu_cores=machine.cpu_cores(),
        cpu_flags=machine.cpu_flags(),
        memory_bytes=memory.total,
        memory_free_bytes=memory.available,
        swap_bytes=swap[0],
        swap_free_bytes=swap[1],
        shm_bytes=shm,
        shm_free_bytes=shm_free,
        disk_free_bytes=next((one.free_bytes for one in found if "home" in one.holds), None),
        disks=found,
        limits=limits.read(),
        clock=machine.clock(),
        locale=machine.locale_name(),
    )


def _with_cards(host: HostSnapshot, told: GpuReport) -> HostSnapshot:
    cards = told.cards
    if host.is_wsl:  # Windows lends the card and keeps its memory in hand
        cards = tuple(msgspec.structs.replace(one, is_wddm=True) for one in cards)
        # There the driver lists no process at all, which does not mean that none is there.
        cards = tuple(
            one if one.processes else msgspec.structs.replace(one, processes=None) for one in cards
        )
    known = {one.pci_bus_id for one in cards} | {one.pci_bus_id for one in told.integrated}
    whole = msgspec.structs.replace(
        host,
        driver=told.driver,
        cuda_version=told.cuda_version,
        gpus=cards,
        gpu_source=told.source,
        gpu_note=told.note,
        gpu_fault=told.fault,
        gpu_links=told.links,
        adapters=(*told.integrated, *adapters.adapters(known)),
    )
    return msgspec.convert(_printable(msgspec.to_builtins(whole)), HostSnapshot)


def _printable(raw: object) -> object:
    """Return `raw` with `?` for what no terminal should print and JSON cannot hold.

    Firmware, processes and mount points carry any bytes as their names.
    """
    if isinstance(raw, dict):
        return {key: _printable(value) for key, value in raw.items()}
    if isinstance(raw, list | tuple):
        return [_printable(value) for value in raw]
    if isinstance(raw, str) and not raw.isprintable():
        return "".join(one if one.isprintable() else "?" for one in raw)
    return raw


def _swap() -> tuple[int | None, int | None]:
    with contextlib.suppress(OSError, RuntimeError, psutil.Error):
        swap = psutil.swap_memory()
        return swap.total, swap.free
    return None, None


def _kernel() -> str:
    return os.uname().release if hasattr(os, "uname") else system_name.release()


def _machine() -> str:
    name = system_name.machine().lower()
    return {"amd64": "x86_64", "arm64": "aarch64"}.get(name, name)


def _glibc() -> str | None:
    library, version = platform.libc_ver()
    return version or None if library == "glibc" else None


def _os_name() -> str:
    if sys.platform == "win32":
        return system_name.windows_title(sys.getwindowsversion().build)
    with contextlib.suppress(OSError):
        return platform.freedesktop_os_release().get("PRETTY_NAME", system_name.system())
    return f"{system_name.system()} {system_name.release()}"
