"""The control API's call about the disk that holds the Studio's folder."""

from studio.control.transport import Calls
from studio.domain.disk import DiskReport


class DiskCalls(Calls):
    """The disk."""

    async def disk(self) -> DiskReport:
        """Return what the Studio takes of its disk; folders are measured for it."""
        return await self.call("GET", "/disk", DiskReport, patient=True)
