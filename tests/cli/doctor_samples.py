"""A doctor's report with something of everything."""

from studio.domain.doctor import (
    EVERYTHING,
    Area,
    Check,
    DoctorReport,
    Level,
    PresetVerdict,
    RuntimeVerdict,
)
from studio.domain.hardware import HostSnapshot
from studio.domain.runtimes import RuntimeState

DRIVER = Check(
    code="driver",
    area=Area.CARDS,
    title="NVIDIA driver",
    level=Level.STOPS,
    found="It is 535.1. cu13 needs 580 or newer.",
    advice="Update NVIDIA's driver to branch 580, then restart.",
    stops=("cu13",),
)
CARDS = tuple(
    Check(
        code="card-power",
        area=Area.CARDS,
        title=f"Card {index} power",
        level=Level.GOOD,
        found="Power limit 300 W, by default 300 W.",
        gpu=index,
    )
    for index in range(2)
)
SLOTS = tuple(
    Check(
        code="card-mig",
        area=Area.CARDS,
        title=f"Card {index}",
        level=Level.LOOK,
        found="It is split.",
        advice=f"Run `nvidia-smi -i {index}`.",
        gpu=index,
    )
    for index in range(2)
)
CLOCK = Check(
    code="clock", area=Area.SYSTEM, title="Clock", level=Level.UNKNOWN, found="Not known."
)
DISK = Check(
    code="disk-writable",
    area=Area.STORAGE,
    title="Disk of home (/)",
    level=Level.STOPS,
    found="Nothing can be written there.",
    advice="Check owner and permissions.",
    stops=(EVERYTHING,),
)
HOST = HostSnapshot(system="linux", machine="x86_64", os_name="Debian 12")
REPORT = DoctorReport(
    version="0.1.0",
    title="2× NVIDIA X · Debian 12",
    level=Level.LOOK,
    checks=(DRIVER, *CARDS, *SLOTS, CLOCK),
    runtimes=(
        RuntimeVerdict(name="cpu", title="CPU", usable=True, state=RuntimeState.INSTALLED),
        RuntimeVerdict(name="sm70", title="V100", usable=True, state=RuntimeState.NOT_PINNED),
        RuntimeVerdict(name="cu13", title="CUDA", usable=False, reasons=("The driver is old.",)),
    ),
    presets=(
        PresetVerdict(id="cpu-demo", title="Small", usable=True),
        PresetVerdict(id="27b", title="Large", usable=False, reasons=("It needs a card.",)),
    ),
    host=HOST,
)
