"""What passes the gateway: keys, caches, changes of requests, prompts. One object of four parts."""

from collections.abc import Callable

from studio.app.adjust import Adjustments
from studio.app.cache import Cache
from studio.app.kept_keys import KeptKeys
from studio.app.keys import Keys
from studio.app.prompts import Prompts
from studio.app.wiring import Parts
from studio.domain.events import Event
from studio.domain.keys import UsageBy, UsageRow


class Traffic:
    """Makes the parts and joins them: when a key goes, all that is kept of it goes."""

    def __init__(self, parts: Parts, publish: Callable[[Event], None]) -> None:
        self._parts = parts
        self.keys = Keys(
            parts.keys,
            publish,
            KeptKeys(parts.secrets),
            prompts_until=lambda key_id: self.prompts.until(key_id),
            on_gone=self._gone,
        )
        self.prompts = Prompts(parts.prompts, keys=self.keys.infos, publish=publish)
        self.cache = Cache(
            parts.paths.cache_findings, parts.doctor, names=self.keys.names, publish=publish
        )
        self.adjustments = Adjustments(
            parts.adjuster, parts.settings, engine=parts.target, names=self.keys.names
        )
        parts.on_finding = self.cache.heard
        self._is_live = False

    def begin(self) -> None:
        """Take notice that from now on requests pass."""
        self._is_live = True
        self.cache.begin()
        self.adjustments.begin()

    async def used(self, seconds: int) -> list[UsageRow]:
        """Return what each key used in the last `seconds`."""
        return await self.keys.used(key_id=None, since_s=seconds, by=UsageBy.KEY)

    async def close(self) -> None:
        """Write what is still in memory."""
        if self._is_live:
            self._parts.doctor.close()
            await self.cache.keep()
        self._parts.prompts.close()
        await self.keys.close()

    async def _gone(self, key_id: str) -> None:
        await self.prompts.forget(key_id)
        await self.cache.forget(key_id)
        self.adjustments.forget(key_id)
