"""Prompts of single keys, kept while a person has it so."""

import asyncio
import logging
from collections.abc import Callable

from studio.domain.control import KeyInfo
from studio.domain.errors import BadInput, NotFound, StudioError
from studio.domain.events import Event, KeysChanged
from studio.domain.keys import PromptEntry, PromptLogRequest, PromptLogState
from studio.gateway.prompt_log import PromptLog, local

logger = logging.getLogger(__name__)


class Prompts:
    """What the control API may ask about them."""

    def __init__(
        self,
        log: PromptLog,
        *,
        keys: Callable[[], list[KeyInfo]],
        publish: Callable[[Event], None],
    ) -> None:
        self._log = log
        self._keys = keys
        self._publish = publish

    def until(self, key_id: str) -> str | None:
        """Return till when prompts of a key are kept; None: they are not."""
        at_s = self._log.until(key_id)
        return None if at_s is None else local(at_s)

    def on(self) -> tuple[PromptLogState, ...]:
        """Return the keys whose prompts are kept now."""
        kept = self._log.on
        if not kept:
            return ()
        names = {key.id: key.name for key in self._keys()}
        return tuple(
            PromptLogState(key_id=key, key=names.get(key, key), until=local(at_s))
            for key, at_s in kept.items()
        )

    async def state(self, key_id: str) -> PromptLogState:
        """Return how it is for a key. Raises: NotFound (`key-unknown`)."""
        key = self._found(key_id)
        return await asyncio.to_thread(self._log.state, key.id, key.name)

    async def switch(self, key_id: str, request: PromptLogRequest) -> PromptLogState:
        """Keep a key's prompts for so long, or no longer.

        Raises: NotFound (`key-unknown`), BadInput (`key-revoked`, `prompts-too-long`), HostLacks.
        """
        key = self._found(key_id)
        if key.revoked_at is not None and request.seconds:
            raise BadInput("key-revoked", f"The key {key.name!r} was revoked.")
        await asyncio.to_thread(self._log.switch, key.id, request.seconds)
        word = "kept" if request.seconds else "no longer kept"
        logger.info("prompts of the key %s are %s", key.name, word)
        self._publish(KeysChanged())
        return await self.state(key.id)

    async def entries(self, key_id: str, count: int) -> list[PromptEntry]:
        """Return the newest prompts of a key, oldest first. Raises: NotFound (`key-unknown`)."""
        key = self._found(key_id)
        return await asyncio.to_thread(self._log.entries, key.id, count)

    async def clear(self, key_id: str) -> PromptLogState:
        """Delete the prompts of a key; whether more are kept stays as it is."""
        key = self._found(key_id)
        await asyncio.to_thread(self._log.clear, key.id)
        return await self.state(key.id)

    async def forget(self, key_id: str) -> None:
        """Delete the prompts of a key that is gone."""
        try:
            await asyncio.to_thread(self._log.forget, key_id)
        except StudioError as error:  # the key is gone all the same
            logger.warning("prompts of the revoked key %s still lie there: %s", key_id, error)

    def _found(self, key_id: str) -> KeyInfo:
        for key in self._keys():
            if key.id == key_id:
                return key
        raise NotFound(
            "key-unknown", f"There is no key {key_id!r}.", hint="`weir keys list` shows all."
        )
