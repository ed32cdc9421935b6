"""The cards of this machine: NVML first, nvidia-smi when the library is missing.

Neither can stop us: NVML runs in a thread that nobody waits for beyond a deadline, nvidia-smi in a
process that is killed.
"""

import asyncio

from studio.host import nvml, smi
from studio.host.bounded import Bounded, Overdue
from studio.host.gpu_report import GpuReport

WITHIN_S = 10.0
"""How long the driver may take: several cards without persistence mode wake up one by one."""

_nvml: Bounded[GpuReport] = Bounded(nvml.read, name="nvml", within_s=WITHIN_S)


def from_library() -> GpuReport:
    """Return what NVML tells; blocks for milliseconds, at most for `WITHIN_S`."""
    try:
        return _nvml.call()
    except Overdue:
        note = f"NVIDIA's driver did not answer within {WITHIN_S:.0f} seconds."
        return GpuReport(note=note, fault="no-answer")


async def from_program(told: GpuReport) -> GpuReport:
    """Return what nvidia-smi tells where `told` lacks the library; else `told` itself."""
    if told.fault != "no-driver":
        return told
    program = await asyncio.to_thread(smi.find)
    return told if program is None else await smi.read(program)
