"""The control API's calls about caches, changes of requests and prompts of single keys."""

from studio.control.transport import Calls, part, query_text
from studio.domain.cache import CacheReport
from studio.domain.gateway import AdjustmentChange, AdjustmentList
from studio.domain.keys import PromptEntry, PromptLogRequest, PromptLogState


class TrafficCalls(Calls):
    """What passes the gateway."""

    async def cache(self) -> CacheReport:
        """Return whose prompts are computed anew each turn, and why."""
        return await self.call("GET", "/cache", CacheReport)

    async def clear_cache_findings(self) -> CacheReport:
        """Forget what was found; what still is will be found again."""
        return await self.call("POST", "/cache/clear", CacheReport)

    async def adjustments(self) -> AdjustmentList:
        """Return the rules that change requests so that the engine takes them."""
        return await self.call("GET", "/gateway/adjustments", AdjustmentList)

    async def adjust(self, change: AdjustmentChange) -> AdjustmentList:
        """Switch one of them, or all."""
        return await self.call("POST", "/gateway/adjustments", AdjustmentList, body=change)

    async def prompts(self, key_id: str, *, lines: int = 20) -> list[PromptEntry]:
        """Return the newest prompts that were kept of a key, oldest first."""
        query = query_text(lines=str(lines))
        return await self.call("GET", f"/keys/{part(key_id)}/prompts{query}", list[PromptEntry])

    async def prompt_log(self, key_id: str) -> PromptLogState:
        """Return whether a key's prompts are kept."""
        return await self.call("GET", f"/keys/{part(key_id)}/prompts/state", PromptLogState)

    async def log_prompts(self, key_id: str, seconds: int) -> PromptLogState:
        """Keep a key's prompts for so long; 0: no longer."""
        body = PromptLogRequest(seconds=seconds)
        return await self.call("POST", f"/keys/{part(key_id)}/prompts", PromptLogState, body=body)

    async def clear_prompts(self, key_id: str) -> PromptLogState:
        """Delete the prompts that were kept of a key."""
        return await self.call("POST", f"/keys/{part(key_id)}/prompts/clear", PromptLogState)
