"""The control API's calls about downloads and hubs' tokens."""

from studio.control.transport import Calls, part, query_text
from studio.domain.downloads import (
    DownloadDeed,
    DownloadList,
    Fetched,
    GetRequest,
    HubName,
    LimitRequest,
    LoginInfo,
    LoginRequest,
)


class DownloadCalls(Calls):
    """Models from hubs, and the queue."""

    async def get_model(self, request: GetRequest) -> Fetched:
        """Fetch files of a repository; returns when they are here, whole and proven."""
        return await self.call("POST", "/models/get", Fetched, body=request, patient=True)

    async def downloads(self) -> DownloadList:
        """Return the queue."""
        return await self.call("GET", "/downloads", DownloadList)

    async def change_download(self, reference: str, deed: DownloadDeed) -> DownloadList:
        """Pause, resume, cancel or move a download; return the queue as it then is."""
        return await self.call("POST", f"/downloads/{part(reference)}/{deed}", DownloadList)

    async def limit_downloads(self, request: LimitRequest) -> DownloadList:
        """Set the bandwidth of models."""
        return await self.call("POST", "/downloads/limit", DownloadList, body=request)

    async def hub_login(self, hub: HubName) -> LoginInfo:
        """Return which token a hub gets, without the token."""
        return await self.call("GET", f"/hubs/login{query_text(hub=hub)}", LoginInfo)

    async def log_in(self, request: LoginRequest) -> LoginInfo:
        """Keep a hub's token, or forget it."""
        return await self.call("POST", "/hubs/login", LoginInfo, body=request)
