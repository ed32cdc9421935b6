"""The control API's calls about removing the Studio."""

from studio.control.transport import Calls
from studio.domain.uninstall import UninstallPlan, UninstallRequest, UninstallResult


class UninstallCalls(Calls):
    """What there is, and taking it away."""

    async def uninstall_plan(self) -> UninstallPlan:
        """Return every file and folder that the Studio made; counting takes as long as it takes."""
        return await self.call("GET", "/uninstall", UninstallPlan, patient=True)

    async def uninstall(self, request: UninstallRequest) -> UninstallResult:
        """Remove groups of them."""
        return await self.call("POST", "/uninstall", UninstallResult, body=request)
