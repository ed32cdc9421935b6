"""The cards as NVIDIA's management library (NVML) tells of them, through pynvml.

Each question is asked by itself: what a card or driver does not support is None, and what fails in
another way (a card that is lost) is kept in the card's `faults`, in the driver's own words.
"""

import contextlib
import ctypes
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import psutil
import pynvml

from studio.domain.hardware import Gpu, GpuProcess, MigDevice
from studio.host.gpu_links import links_between
from studio.host.gpu_report import GpuReport, short_bus_id, sorted_out

WSL_LIBRARY = Path("/usr/lib/wsl/lib/libnvidia-ml.so.1")
"""Windows lends its driver to WSL here; a distribution's own library would not work."""

# By number: older releases of pynvml lack some of the names.
_DRIVER_NOT_LOADED = 9
_LIBRARY_NOT_FOUND = 12
_VERSION_MISMATCH = 18
_GPU_NOT_FOUND = 28
NOT_SUPPORTED = frozenset((2, 3, 4, 6, 13, 25, 26))
"""Answers that mean `not known`: argument, support, permission, nothing there, function, version,
deprecated (nvmlReturn_t in NVIDIA's nvml.h). Any other error is a fault of the card."""

THROTTLE_REASONS = {
    0x04: "sw-power-cap",
    0x08: "hw-slowdown",
    0x10: "sync-boost",
    0x20: "sw-thermal-slowdown",
    0x40: "hw-thermal-slowdown",
    0x80: "hw-power-brake",
    0x100: "display-clock-setting",
}
"""NVML's `nvmlClocksEventReasons` bits, without idle and the clocks a person chose."""

_REFUSALS = {
    _LIBRARY_NOT_FOUND: ("no-driver", "No NVIDIA driver was found on this machine."),
    _DRIVER_NOT_LOADED: (
        "not-loaded",
        "NVIDIA's library is here, but the driver's kernel module is not loaded.",
    ),
    _VERSION_MISMATCH: (
        "version-mismatch",
        "NVIDIA's library and the loaded kernel module are of different versions.",
    ),
    _GPU_NOT_FOUND: ("no-card", "NVIDIA's driver lists no card."),
}
_COMPUTE_MODES = {0: "default", 2: "prohibited", 3: "exclusive-process"}
_SLOWDOWN = 1
_MEMORY_CLOCK = 2
_GPU_SENSOR = 0


def read() -> GpuReport:
    """Return what the library tells; blocks, for ever when the driver hangs (`gpus.py` bounds it).

    On `fault` `no-driver` the library itself is missing, and nvidia-smi may still be asked.
    """
    prefer(WSL_LIBRARY)
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        return refused(error)
    try:
        return _read_all()
    except pynvml.NVMLError as error:
        return GpuReport(
            note=f"NVIDIA's driver does not list its cards: {words(error)}.", fault="other"
        )
    finally:
        with contextlib.suppress(pynvml.NVMLError):
            pynvml.nvmlShutdown()


def words(error: pynvml.NVMLError) -> str:
    """Return an NVML error in the library's own words, without a full stop."""
    return str(error).rstrip(".").strip() or "it gave no reason"


def prefer(library: Path) -> None:
    """Load `library` where it exists: pynvml's later search by name finds what is loaded."""
    if library.exists():
        with contextlib.suppress(OSError):
            ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)


def refused(error: pynvml.NVMLError) -> GpuReport:
    """Return the report of a library that cannot be used at all."""
    code = int(error.value)
    if code == _LIBRARY_NOT_FOUND and WSL_LIBRARY.exists():
        note = f"NVIDIA's library lies in {WSL_LIBRARY.parent} but cannot be loaded."
        return GpuReport(note=note, fault="no-driver")
    fault, note = _REFUSALS.get(
        code, ("other", f"NVIDIA's driver does not answer: {words(error)}.")
    )
    return GpuReport(note=note, fault=fault)


def _read_all() -> GpuReport:
    system = Asker()
    driver = text_of(system.ask(pynvml.nvmlSystemGetDriverVersion))
    cuda = system.ask(pynvml.nvmlSystemGetCudaDriverVersion_v2)
    handles: dict[int, Any] = {}
    cards = []
    for index in range(pynvml.nvmlDeviceGetCount()):
        asker = Asker()
        handle = asker.ask(pynvml.nvmlDeviceGetHandleByIndex, index)
        if handle is None:
            faults = tuple(asker.faults) or ("the driver gives no access to it",)
            cards.append(Gpu(index=index, name=f"NVIDIA card {index}", faults=faults))
            continue
        handles[index] = handle
        cards.append(_card(index, handle, asker))
    return sorted_out(
        tuple(cards),
        source="nvml",
        driver=driver,
        cuda_version=f"{cuda // 1000}.{cuda % 1000 // 10}" if cuda else None,
        links=links_between(handles, {one.index: one.pci_bus_id for one in cards}),
    )


class Asker:
    """Asks one card after the other question and keeps what went wrong."""

    def __init__(self) -> None:
        self.faults: list[str] = []
        self.codes: list[int] = []
        """NVML's number of each failure, also of those that it words alike."""

    def ask(self, call: Callable[..., Any], *arguments: object) -> Any:
        """Return the answer, or None."""
        try:
            return call(*arguments)
        except pynvml.NVMLError as error:
            if error.value not in NOT_SUPPORTED:
                self.codes.append(int(error.value))
                fault = words(error)
                if fault not in self.faults:
                    self.faults.append(fault)
        except UnicodeDecodeError:  # cards with changed firmware carry any bytes as their name
            pass
        return None


def _card(index: int, handle: Any, asker: Asker) -> Gpu:
    ask = asker.ask
    capability = ask(pynvml.nvmlDeviceGetCudaComputeCapability, handle)
    total, reserved, free, used = memory(handle, asker)
    pci = ask(pynvml.nvmlDeviceGetPciInfo, handle)
    limits = ask(pynvml.nvmlDeviceGetPowerManagementLimitConstraints, handle)
    ecc = ask(pynvml.nvmlDeviceGetEccMode, handle)
    mig = ask(pynvml.nvmlDeviceGetMigMode, handle)
    model = ask(pynvml.nvmlDeviceGetDriverModel, handle)
    reasons = ask(event_reasons(), handle)
    modes = ask(pynvml.nvmlDeviceGetComputeMode, handle)
    limit = ask(pynvml.nvmlDeviceGetEnforcedPowerLimit, handle)
    default = ask(pynvml.nvmlDeviceGetPowerManagementDefaultLimit, handle)
    return Gpu(
        index=index,
        name=text_of(ask(pynvml.nvmlDeviceGetName, handle)) or f"NVIDIA card {index}",
        uuid=text_of(ask(pynvml.nvmlDeviceGetUUID, handle)),
        compute_capability=f"{capability[0]}.{capability[1]}" if capability else None,
        total_bytes=total,
        reserved_bytes=reserved,
        free_bytes=free,
        used_bytes=used,
        processes=processes(handle, asker),
        pci_bus_id=short_bus_id(text_of(pci.busId)) if pci is not None else None,
        pcie_generation=ask(pynvml.nvmlDeviceGetCurrPcieLinkGeneration, handle),
        pcie_generation_max=ask(pynvml.nvmlDeviceGetMaxPcieLinkGeneration, handle),
        pcie_width=ask(pynvml.nvmlDeviceGetCurrPcieLinkWidth, handle),
        pcie_width_max=ask(pynvml.nvmlDeviceGetMaxPcieLinkWidth, handle),
        power_limit_w=watts(limit),
        power_default_w=watts(default),
        power_max_w=watts(limits[1] if limits else None),
        temperature_c=ask(pynvml.nvmlDeviceGetTemperature, handle, _GPU_SENSOR),
        slowdown_temperature_c=ask(pynvml.nvmlDeviceGetTemperatureThreshold, handle, _SLOWDOWN),
        throttle_reasons=None if reasons is None else throttle_reasons(reasons),
        memory_clock_mhz=ask(pynvml.nvmlDeviceGetClockInfo, handle, _MEMORY_CLOCK),
        memory_clock_max_mhz=ask(pynvml.nvmlDeviceGetMaxClockInfo, handle, _MEMORY_CLOCK),
        memory_bus_bits=ask(pynvml.nvmlDeviceGetMemoryBusWidth, handle),
        display_attached=_flag(ask(pynvml.nvmlDeviceGetDisplayMode, handle)),
        display_active=_flag(ask(pynvml.nvmlDeviceGetDisplayActive, handle)),
        is_integrated=None if capability is None else False,
        is_wddm=None if model is None else model[0] == 0,
        ecc_enabled=_flag(ecc[0] if ecc else None),
        mig_enabled=_flag(mig[0] if mig else None),
        mig_devices=_mig_devices(handle, asker) if mig and mig[0] else (),
        compute_mode=_COMPUTE_MODES.get(modes) if modes is not None else None,
        faults=tuple(asker.faults),
    )


def event_reasons() -> Callable[..., Any]:
    """Return the question under the name that this release of pynvml has for it."""
    newer = getattr(pynvml, "nvmlDeviceGetCurrentClocksEventReasons", None)
    found: Callable[..., Any] = newer or pynvml.nvmlDeviceGetCurrentClocksThrottleReasons
    return found


def memory(handle: Any, asker: Asker) -> tuple[int | None, int | None, int | None, int | None]:
    """Return total, reserved, free and used bytes; an old driver counts reserved as used."""
    told = asker.ask(pynvml.nvmlDeviceGetMemoryInfo, handle, pynvml.nvmlMemory_v2)
    if told is not None:
        return int(told.total), int(told.reserved), int(told.free), int(told.used)
    told = asker.ask(pynvml.nvmlDeviceGetMemoryInfo, handle)
    if told is not None:
        return int(told.total), None, int(told.free), int(told.used)
    return None, None, None, None


def processes(
    handle: Any, asker: Asker, name_of: Callable[[int], str | None] | None = None
) -> tuple[GpuProcess, ...] | None:
    """Return who holds memory of a card, most first; None where the driver does not say."""
    name_of = name_of or process_name
    computing = asker.ask(pynvml.nvmlDeviceGetComputeRunningProcesses, handle)
    drawing = asker.ask(pynvml.nvmlDeviceGetGraphicsRunningProcesses, handle)
    if computing is None and drawing is None:
        return None
    found = {one.pid: _process(one, name_of, is_graphics=True) for one in drawing or ()}
    found |= {one.pid: _process(one, name_of, is_graphics=False) for one in computing or ()}
    return tuple(sorted(found.values(), key=lambda one: -(one.bytes or 0)))


def _process(told: Any, name_of: Callable[[int], str | None], *, is_graphics: bool) -> GpuProcess:
    held = told.usedGpuMemory
    return GpuProcess(
        pid=int(told.pid),
        name=name_of(int(told.pid)),
        bytes=None if held is None else int(held),
        is_graphics=is_graphics,
    )


def process_name(pid: int) -> str | None:
    """Return what a process is called, None when it cannot be seen from here."""
    try:
        return psutil.Process(pid).name() or None
    except (psutil.Error, OSError, ValueError):
        return None


def _mig_devices(handle: Any, asker: Asker) -> tuple[MigDevice, ...]:
    count = asker.ask(pynvml.nvmlDeviceGetMaxMigDeviceCount, handle) or 0
    quiet = Asker()  # a place without a slice is no fault
    slices: Iterable[Any] = (
        quiet.ask(pynvml.nvmlDeviceGetMigDeviceHandleByIndex, handle, place)
        for place in range(count)
    )
    return tuple(_mig_device(one, asker) for one in slices if one is not None)


def _mig_device(handle: Any, asker: Asker) -> MigDevice:
    memory = asker.ask(pynvml.nvmlDeviceGetMemoryInfo, handle)
    return MigDevice(
        name=text_of(asker.ask(pynvml.nvmlDeviceGetName, handle)),
        uuid=text_of(asker.ask(pynvml.nvmlDeviceGetUUID, handle)),
        total_bytes=None if memory is None else int(memory.total),
    )


def throttle_reasons(bits: int) -> tuple[str, ...]:
    """Return the names behind NVML's bits that mean lowered clocks."""
    return tuple(name for bit, name in THROTTLE_REASONS.items() if bits & bit)


def watts(milliwatts: int | None) -> float | None:
    """Return NVML's milliwatts in watts."""
    return None if milliwatts is None else milliwatts / 1000


def _flag(value: int | None) -> bool | None:
    return None if value is None else bool(value)


def text_of(value: str | bytes | None) -> str | None:
    """Return what pynvml answered as text; nothing is not known."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    return value or None
