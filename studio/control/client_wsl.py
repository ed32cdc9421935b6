"""The control API's calls about the Studio's own Linux inside Windows."""

from studio.control.transport import Calls
from studio.domain.wsl import (
    WslConfigRequest,
    WslContents,
    WslLanRequest,
    WslRemoveRequest,
    WslReport,
    WslSetupRequest,
)


class WslCalls(Calls):
    """How far it is, the next step, its memory, its disk, its end."""

    async def wsl_report(self) -> WslReport:
        """Return how far the setup is."""
        return await self.call("GET", "/wsl", WslReport, patient=True)

    async def wsl_setup(self, request: WslSetupRequest) -> WslReport:
        """Take the next step; returns what is then to do."""
        return await self.call("POST", "/wsl/setup", WslReport, body=request, patient=True)

    async def wsl_memory(self, request: WslConfigRequest) -> WslReport:
        """Write a memory into `.wslconfig`."""
        return await self.call("POST", "/wsl/memory", WslReport, body=request, patient=True)

    async def wsl_lan(self, request: WslLanRequest) -> WslReport:
        """Let other machines reach the gateway, or no longer; asks for the administrator."""
        return await self.call("POST", "/wsl/lan", WslReport, body=request, patient=True)

    async def wsl_compact(self) -> WslReport:
        """Give back what the disk image does not use."""
        return await self.call("POST", "/wsl/compact", WslReport, patient=True)

    async def wsl_remove(self, request: WslRemoveRequest) -> WslContents:
        """Say what is in it; with a yes, remove it."""
        return await self.call("POST", "/wsl/remove", WslContents, body=request, patient=True)
