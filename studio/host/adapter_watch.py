"""Keeps one PowerShell of Windows writing what graphics adapters hold, for as long as we run.

It is started again when it ends or falls silent, each time after a longer pause; meanwhile nothing
is known, and why is said.
"""

import asyncio
import os
import time
from collections.abc import Mapping, Sequence

from studio.domain.errors import HostLacks
from studio.domain.readings import AdapterReadings
from studio.host import adapter_memory, powershell, process

_SILENT_S = 45.0
"""PowerShell may take many seconds to start on a busy machine, and half a minute to try again."""
_A_DAY_S = 86_400.0
_FIRST_PAUSE_S = 1.0
_LONGEST_PAUSE_S = 300.0
_LASTED_S = 60.0
"""One that ran for so long was well: the next pause is short again."""
_STARTING = "Windows is being asked; the first answer takes some seconds."


class _Silent(Exception):
    """It runs and writes nothing."""


class AdapterWatch:
    """`run` until cancelled; `now` is what was read last."""

    def __init__(
        self,
        *,
        environ: Mapping[str, str] = os.environ,
        argv: Sequence[str] | None = None,
        silent_s: float = _SILENT_S,
        first_pause_s: float = _FIRST_PAUSE_S,
    ) -> None:
        """`argv`: what is run in PowerShell's place."""
        self._environ = environ
        self._argv = list(argv or powershell.command(adapter_memory.SCRIPT))
        self._silent_s = silent_s
        self._first_pause_s = first_pause_s
        self._last = AdapterReadings(note=_STARTING)
        self._lines = adapter_memory.Lines()
        self._heard_s = 0.0
        self.starts = 0
        self.pause_s = first_pause_s
        """How long it waits after the next end."""

    @property
    def now(self) -> AdapterReadings:
        """Return what is known now; a reading that has grown old is none."""
        return adapter_memory.fresh(self._last)

    async def run(self) -> None:
        """Start it, hear it, and start it again when it ends."""
        while True:
            began_s = time.monotonic()
            self._last = AdapterReadings(note=await self._once())
            if time.monotonic() - began_s > _LASTED_S:
                self.pause_s = self._first_pause_s
            await asyncio.sleep(self.pause_s)
            self.pause_s = min(2 * self.pause_s, _LONGEST_PAUSE_S)

    async def _once(self) -> str:
        """Run one to its end; return why nothing is known from now on."""
        self._lines = adapter_memory.Lines()
        self._heard_s = time.monotonic()
        self.starts += 1
        try:
            done = await process.run(
                self._argv,
                env=powershell.environment(self._environ),
                timeout_s=_A_DAY_S,
                on_line=self._hear,
                on_tick=self._look,
            )
        except HostLacks:
            return "Windows' PowerShell cannot be started from here, so its counters are not known."
        except OSError as error:
            return f"Windows' PowerShell cannot be started: {error.strerror or error}."
        except _Silent:
            return "Windows' PowerShell fell silent and was started again."
        return f"Windows' PowerShell ended (exit status {done.exit_code}) and is started again."

    def _hear(self, line: str) -> None:
        found = self._lines.hear(line)
        if found is not None:
            self._heard_s = time.monotonic()
            self._last = found

    def _look(self, _pid: int) -> None:
        if time.monotonic() - self._heard_s > self._silent_s:
            raise _Silent
