"""The control API's calls about updates of the Studio itself."""

from studio.control.transport import Calls
from studio.domain.self_update import UpdateApplyRequest, UpdateCheckRequest, UpdateStatus


class UpdateCalls(Calls):
    """What is newer, fetching it, letting it take over, going back."""

    async def update_status(self) -> UpdateStatus:
        """Return where updates of the Studio stand; asks nobody."""
        return await self.call("GET", "/update", UpdateStatus)

    async def update_check(self, request: UpdateCheckRequest) -> UpdateStatus:
        """Look at the feed of releases."""
        return await self.call("POST", "/update/check", UpdateStatus, body=request, patient=True)

    async def update_get(self, request: UpdateCheckRequest) -> UpdateStatus:
        """Fetch the newest version and lay it beside the present one."""
        return await self.call("POST", "/update/get", UpdateStatus, body=request, patient=True)

    async def update_apply(self, request: UpdateApplyRequest) -> UpdateStatus:
        """Let a staged version take over at the next start of the service, or not."""
        return await self.call("POST", "/update/apply", UpdateStatus, body=request)

    async def update_rollback(self) -> UpdateStatus:
        """Let the version before take over at the next start of the service."""
        return await self.call("POST", "/update/rollback", UpdateStatus)
