"""The cards as `nvidia-smi` tells of them, for machines where NVIDIA's library cannot be loaded.

Three questions, asked at the same time: everything as XML, what the XML lacks (compute
capability), and the matrix of links. What is not understood is not known; nothing is filled in.
"""

import asyncio
import os
import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from studio.domain.errors import HostLacks
from studio.domain.hardware import Gpu, GpuProcess, MigDevice
from studio.host import process
from studio.host.gpu_links import links_of_matrix
from studio.host.gpu_report import GpuReport, short_bus_id, sorted_out
from studio.host.smi_xml import Element, NotUnderstood, read_xml

WSL_PROGRAM = Path("/usr/lib/wsl/lib/nvidia-smi")
WITHIN_S = 10.0
"""Without its persistence mode a driver of several cards takes seconds to wake up."""
_MOST_LINES = 200_000
_UNITS = {"kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30}
_AMOUNT = re.compile(r"^(?P<value>-?\d+(?:\.\d+)?)\s*(?P<unit>[A-Za-z]*)$")
_EVENTS = "clocks_event_reasons"
_REASONS = {
    "sw_power_cap": "sw-power-cap",
    "hw_slowdown": "hw-slowdown",
    "sync_boost": "sync-boost",
    "sw_thermal_slowdown": "sw-thermal-slowdown",
    "hw_thermal_slowdown": "hw-thermal-slowdown",
    "hw_power_brake_slowdown": "hw-power-brake",
    "display_clocks_setting": "display-clock-setting",
}
_MODES = {
    "Default": "default",
    "Exclusive_Process": "exclusive-process",
    "Prohibited": "prohibited",
}


def find(environ: Mapping[str, str] = os.environ, wsl: Path = WSL_PROGRAM) -> str | None:
    """Return the program's path: the one that Windows lends to WSL first, then the PATH."""
    if os.access(wsl, os.X_OK):
        return str(wsl)
    found = shutil.which("nvidia-smi", path=environ.get("PATH", os.defpath))
    if found is None and sys.platform == "win32":
        folder = Path(environ.get("SYSTEMROOT", "C:/Windows"), "System32", "nvidia-smi.exe")
        return str(folder) if folder.is_file() else None
    return found


async def read(program: str, *, within_s: float = WITHIN_S) -> GpuReport:
    """Return what `program` tells; a hang or nonsense becomes a note, never an exception."""
    questions = (
        ("-q", "-x"),
        ("--query-gpu=pci.bus_id,compute_cap", "--format=csv,noheader"),
        ("topo", "-m"),
    )
    answers: list[str | None] = [None] * len(questions)

    async def ask(place: int) -> None:
        answers[place] = await output([program, *questions[place]], within_s)

    try:
        async with asyncio.timeout(within_s + 1.0), asyncio.TaskGroup() as tasks:
            for place in range(len(questions)):
                tasks.create_task(ask(place))
    except TimeoutError:  # killed, but the kernel does not let it go
        return _silent(within_s)
    whole, capabilities, matrix = answers
    if whole is None:
        return _silent(within_s)
    try:
        return parse(whole, capabilities or "", matrix or "")
    except NotUnderstood as error:
        note = f"nvidia-smi printed something that is not understood: {error}"
        return GpuReport(note=note, fault="no-sense")


def _silent(within_s: float) -> GpuReport:
    note = f"nvidia-smi did not answer within {within_s:.0f} seconds."
    return GpuReport(note=note, fault="no-answer")


async def output(argv: list[str], within_s: float) -> str | None:
    """Return what a program printed; None when it had to be ended."""
    lines: list[str] = []

    def keep(line: str) -> None:
        if len(lines) < _MOST_LINES:
            lines.append(line)

    environment = process.helper_environment()
    try:
        done = await process.run(argv, env=environment, timeout_s=within_s, on_line=keep)
    except HostLacks:  # gone since it was found
        return ""
    except OSError:  # a file that is no program
        return ""
    return None if done.timed_out else "\n".join(lines)


def parse(whole: str, capabilities: str = "", matrix: str = "") -> GpuReport:
    """Return the report behind `nvidia-smi -q -x` and the two short answers.

    Raises: NotUnderstood.
    """
    log = read_xml(whole)
    cards = tuple(card for card, _ in _cards(log, _capabilities(capabilities)))
    # From driver 595 on the names tell kernel driver and CUDA library apart.
    driver = log.text("driver_version") or log.text("kmd_version")
    cuda = log.text("cuda_version") or log.text("cuda_umd_version")
    return sorted_out(
        cards,
        source="nvidia-smi",
        driver=driver,
        cuda_version=cuda,
        links=links_of_matrix(matrix),
    )


def cards_of(whole: str) -> list[tuple[Gpu, Element]]:
    """Return each card behind `nvidia-smi -q -x`, and all that was said of it.

    Raises: NotUnderstood.
    """
    return _cards(read_xml(whole), {})


def _cards(log: Element, capabilities: Mapping[str, str]) -> list[tuple[Gpu, Element]]:
    return [(_card(place, one, capabilities), one) for place, one in enumerate(log.all("gpu"))]


def _capabilities(text: str) -> dict[str, str]:
    found = {}
    for line in text.splitlines():
        address, _, capability = (part.strip() for part in line.partition(","))
        bus_id = short_bus_id(address)
        if bus_id is not None and re.fullmatch(r"\d+\.\d+", capability):
            found[bus_id] = capability
    return found


def _card(place: int, gpu: Element, capabilities: Mapping[str, str]) -> Gpu:
    bus_id = short_bus_id(gpu.text("pci/pci_bus_id") or gpu.attributes.get("id"))
    capability = capabilities.get(bus_id or "")
    link = "pci/pci_gpu_link_info"
    power = "gpu_power_readings" if gpu.one("gpu_power_readings") else "power_readings"
    mig = _flag(gpu.text("mig_mode/current_mig"))
    model = gpu.text("driver_model/current_dm")
    return Gpu(
        index=place,
        name=gpu.text("product_name") or f"NVIDIA card {place}",
        uuid=gpu.text("uuid"),
        compute_capability=capability,
        total_bytes=_bytes(gpu.text("fb_memory_usage/total")),
        reserved_bytes=_bytes(gpu.text("fb_memory_usage/reserved")),
        free_bytes=_bytes(gpu.text("fb_memory_usage/free")),
        used_bytes=_bytes(gpu.text("fb_memory_usage/used")),
        processes=_processes(gpu),
        pci_bus_id=bus_id,
        pcie_generation=whole_number(gpu.text(f"{link}/pcie_gen/current_link_gen")),
        pcie_generation_max=whole_number(gpu.text(f"{link}/pcie_gen/max_link_gen")),
        pcie_width=whole_number(gpu.text(f"{link}/link_widths/current_link_width")),
        pcie_width_max=whole_number(gpu.text(f"{link}/link_widths/max_link_width")),
        power_limit_w=number(
            gpu.text(f"{power}/current_power_limit") or gpu.text(f"{power}/enforced_power_limit")
        ),
        power_default_w=number(gpu.text(f"{power}/default_power_limit")),
        power_max_w=number(gpu.text(f"{power}/max_power_limit")),
        temperature_c=whole_number(gpu.text("temperature/gpu_temp")),
        slowdown_temperature_c=whole_number(gpu.text("temperature/gpu_temp_slow_threshold")),
        throttle_reasons=_reasons(gpu),
        memory_clock_mhz=whole_number(gpu.text("clocks/mem_clock")),
        memory_clock_max_mhz=whole_number(gpu.text("max_clocks/mem_clock")),
        display_attached=_flag(gpu.text("display_attached") or gpu.text("display_mode")),
        display_active=_flag(gpu.text("display_active")),
        is_integrated=None if capability is None else False,
        is_wddm=None if model is None else model == "WDDM",
        ecc_enabled=_flag(gpu.text("ecc_mode/current_ecc")),
        mig_enabled=mig,
        mig_devices=_mig_devices(gpu) if mig else (),
        compute_mode=_MODES.get(gpu.text("compute_mode") or ""),
    )


def _processes(gpu: Element) -> tuple[GpuProcess, ...] | None:
    listed = gpu.one("processes")
    if listed is None:
        return None
    found = []
    for one in listed.all("process_info"):
        pid = whole_number(one.text("pid"))
        if pid is None:
            continue
        held = _bytes(one.text("used_memory"))
        is_graphics = "C" not in (one.text("type") or "C")
        name = (one.text("process_name") or "").rpartition("/")[2] or None
        found.append(GpuProcess(pid=pid, name=name, bytes=held, is_graphics=is_graphics))
    return tuple(sorted(found, key=lambda one: -(one.bytes or 0)))


def _mig_devices(gpu: Element) -> tuple[MigDevice, ...]:
    listed = gpu.one("mig_devices")
    slices = listed.all("mig_device") if listed is not None else []
    return tuple(
        MigDevice(uuid=one.text("uuid"), total_bytes=_bytes(one.text("fb_memory_usage/total")))
        for one in slices
    )


def _reasons(gpu: Element) -> tuple[str, ...] | None:
    for group, prefix in ((_EVENTS, "clocks_event_reason"), ("clocks_throttle_reasons", None)):
        listed = gpu.one(group)
        if listed is None:
            continue
        start = f"{prefix or 'clocks_throttle_reason'}_"
        return tuple(
            name for key, name in _REASONS.items() if listed.text(f"{start}{key}") == "Active"
        )
    return None


def _amount(text: str | None) -> tuple[float, str] | None:
    found = _AMOUNT.match(text) if text else None
    return (float(found["value"]), found["unit"].lower()) if found else None


def _bytes(text: str | None) -> int | None:
    found = _amount(text)
    if found is None or found[1] not in _UNITS:
        return None
    return int(found[0] * _UNITS[found[1]])


def number(text: str | None) -> float | None:
    """Return the number of an amount with its unit; `N/A` is not known."""
    found = _amount(text)
    return found[0] if found else None


def whole_number(text: str | None) -> int | None:
    """Return the same as a whole number."""
    found = _amount(text)
    return int(found[0]) if found else None


def _flag(text: str | None) -> bool | None:
    return {"enabled": True, "yes": True, "disabled": False, "no": False}.get((text or "").lower())
