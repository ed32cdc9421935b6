"""Recorded runs on a card: what `nvidia-smi` and `nvidia-smi dmon` printed, as machines."""

import ast
import dataclasses
import re
from pathlib import Path
from typing import Any

from tests.fakes.nvml_machines import MIB, h200, machine
from tests.fakes.recordings import ENGINE

_TABLE = re.compile(
    r"N/A\s+(?P<heat>\d+)C\s+P\d+\s+(?P<drawn>\d+)W /\s+(?P<limit>\d+)W \|\s+"
    r"(?P<used>\d+)MiB /\s+(?P<total>\d+)MiB \|\s+(?P<busy>\d+)%"
)
_PROCESS = re.compile(r"^(?P<pid>\d+), (?P<name>\S+), (?P<held>\d+) MiB$", re.MULTILINE)
_DMON = ("index", "drawn", "heat", "memory_heat", "busy", "bus", "enc", "dec", "jpg", "ofa",
         "memory_clock", "clock")  # fmt: skip


@dataclasses.dataclass(frozen=True, slots=True)
class Run:
    """One recorded run of an engine on an H200."""

    name: str

    @property
    def folder(self) -> Path:
        """Where it lies."""
        return ENGINE / "cuda" / self.name

    def metrics(self, moment: str) -> bytes:
        """Return the engine's text, `idle`, under `load` or `after` it."""
        return (self.folder / f"metrics_{moment}.txt").read_bytes()

    def table(self) -> dict[str, int]:
        """Return the numbers of nvidia-smi's table, at rest."""
        found = _TABLE.search((self.folder / "nvidia-smi.txt").read_text(encoding="utf-8"))
        assert found is not None
        return {name: int(value) for name, value in found.groupdict().items()}

    def holder(self) -> tuple[int, int]:
        """Return who holds the card's memory and how much, in MiB."""
        found = _PROCESS.search((self.folder / "nvidia-smi.txt").read_text(encoding="utf-8"))
        assert found is not None
        return int(found["pid"]), int(found["held"])

    def seconds(self) -> list[dict[str, int]]:
        """Return what dmon printed under load, second by second."""
        lines = (self.folder / "dmon.txt").read_text(encoding="utf-8").splitlines()
        rows = [line.split() for line in lines if not line.startswith("#")]
        return [dict(zip(_DMON, map(int, row), strict=True)) for row in rows]

    def clients(self) -> list[tuple[float, int, float]]:
        """Return what clients saw: seconds to the first token, pieces, seconds in all."""
        text = (self.folder / "load.txt").read_text(encoding="utf-8")
        found: list[tuple[float, int, float]] = ast.literal_eval(text.split(" ", 1)[1])
        return found

    def at_rest(self) -> dict[str, Any]:
        """Return the machine with its engine loaded and nothing to do."""
        told = self.table()
        card = self._card(
            drawn_mw=told["drawn"] * 1000, temperature=told["heat"], gpu_util=told["busy"]
        )
        return machine({**card, "memory_util": 0})

    def at_work(self, second: int) -> dict[str, Any]:
        """Return the machine in one second of its load."""
        told = self.seconds()[second]
        return machine(
            self._card(
                drawn_mw=told["drawn"] * 1000,
                temperature=told["heat"],
                gpu_util=told["busy"],
                memory_util=told["bus"],
                sm_clock=told["clock"],
                memory_clock=told["memory_clock"],
            )
        )

    def _card(self, **more: int) -> dict[str, Any]:
        told = self.table()
        pid, held = self.holder()
        return h200(
            total=told["total"] * MIB,
            used=told["used"] * MIB,
            power_mw=told["limit"] * 1000,
            processes=[{"pid": pid, "bytes": held * MIB}],
            **more,
        )


RUNS = (Run("r1-compiled-offload8"), Run("r2-eager-kvbytes"), Run("r6-noprefix"))
"""Compiled with a KV tier in host memory; eager with a pinned pool; without prefix caching."""
