"""The control API's calls about keys, the gateway and engines of others."""

from studio.control.transport import Calls, part, query_text
from studio.domain.adopt import AdoptRequest, AdoptResult, Forgotten
from studio.domain.control import (
    KeyInfo,
    KeyRequest,
    NewKey,
)
from studio.domain.demand import DemandChange, DemandReport, Queue
from studio.domain.gateway import GatewayChange, GatewayReport
from studio.domain.keys import (
    KeyLimits,
    LimitsChange,
    RenameRequest,
    RequestEntry,
    RevokeRequest,
    UsageBy,
    UsageRow,
)
from studio.domain.secrets import StoreInfo
from studio.domain.selftest import SelftestReport
from studio.domain.server import AdoptedInfo


class KeyCalls(Calls):
    """Keys, the gateway and engines of others."""

    async def keys(self) -> list[KeyInfo]:
        """Return every key with its usage; never the key itself."""
        return await self.call("GET", "/keys", list[KeyInfo])

    async def create_key(self, request: KeyRequest) -> NewKey:
        """Make a key; this is the only time that it can be read."""
        return await self.call("POST", "/keys", NewKey, body=request, patient=request.store)

    async def revoke_key(self, key_id: str, *, stop_running: bool = False) -> KeyInfo:
        """Make a key useless from now on; its running requests go on unless told."""
        body = RevokeRequest(stop_running=stop_running)
        return await self.call("POST", f"/keys/{part(key_id)}/revoke", KeyInfo, body=body)

    async def rotate_key(self, key_id: str) -> NewKey:
        """Replace a key's secret; this is the only time that the new one can be read."""
        return await self.call("POST", f"/keys/{part(key_id)}/rotate", NewKey)

    async def reveal_key(self, key_id: str) -> NewKey:
        """Return a key that was made with `store`."""
        return await self.call("POST", f"/keys/{part(key_id)}/reveal", NewKey, patient=True)

    async def secret_store(self) -> StoreInfo:
        """Return where a key that is made with `store` would be kept."""
        return await self.call("GET", "/secrets", StoreInfo)

    async def rename_key(self, key_id: str, name: str) -> KeyInfo:
        """Give a key another name."""
        body = RenameRequest(name=name)
        return await self.call("POST", f"/keys/{part(key_id)}/rename", KeyInfo, body=body)

    async def limit_key(self, key_id: str, limits: KeyLimits) -> KeyInfo:
        """Replace all that a key may do."""
        body = LimitsChange(limits=limits)
        return await self.call("POST", f"/keys/{part(key_id)}/limits", KeyInfo, body=body)

    async def usage(
        self, *, key_id: str | None = None, seconds: int, by: UsageBy
    ) -> list[UsageRow]:
        """Return what keys used in the last `seconds` (at most 400 days), oldest first."""
        query = query_text(key=key_id, seconds=str(seconds), by=by.value)
        return await self.call("GET", f"/keys/usage{query}", list[UsageRow])

    async def requests(
        self, *, key_id: str | None = None, lines: int = 200, errors_only: bool = False
    ) -> list[RequestEntry]:
        """Return the newest requests, oldest first: no prompts, no answers."""
        query = query_text(key=key_id, lines=str(lines), errors="1" if errors_only else None)
        return await self.call("GET", f"/requests{query}", list[RequestEntry])

    async def gateway(self) -> GatewayReport:
        """Return how the gateway is set up, and where it can be reached."""
        return await self.call("GET", "/gateway", GatewayReport)

    async def change_gateway(self, change: GatewayChange) -> GatewayReport:
        """Change names and doors of the gateway."""
        return await self.call("POST", "/gateway", GatewayReport, body=change)

    async def on_demand(self) -> DemandReport:
        """Return what requests may start, and who waits."""
        return await self.call("GET", "/gateway/on-demand", DemandReport)

    async def change_on_demand(self, change: DemandChange) -> DemandReport:
        """Change what requests may start."""
        return await self.call("POST", "/gateway/on-demand", DemandReport, body=change)

    async def queue(self) -> Queue:
        """Return who waits for an engine, and what happens next."""
        return await self.call("GET", "/gateway/queue", Queue)

    async def gateway_selftest(self) -> SelftestReport:
        """Let the gateway attack itself; takes some seconds."""
        return await self.call("POST", "/gateway/selftest", SelftestReport, patient=True)

    async def adopted(self) -> AdoptedInfo:
        """Return the vLLM that is adopted."""
        return await self.call("GET", "/adopted", AdoptedInfo)

    async def adopt(self, request: AdoptRequest) -> AdoptResult:
        """Serve clients from a vLLM that others run; returns when it has answered."""
        return await self.call("POST", "/adopted", AdoptResult, body=request, patient=True)

    async def forget_adopted(self) -> Forgotten:
        """Let go of the adopted vLLM; it runs on."""
        return await self.call("POST", "/adopted/forget", Forgotten)
