"""Keys of chat clients: made, limited, replaced and revoked, and what each has used."""

import asyncio
import time
from collections.abc import Awaitable, Callable

import msgspec

from studio.app.kept_keys import KeptKeys
from studio.domain.control import KeyInfo, KeyRequest, NewKey
from studio.domain.errors import StudioError
from studio.domain.events import Event, KeysChanged
from studio.domain.keys import LimitsChange, RenameRequest, RequestEntry, RevokeRequest, UsageBy
from studio.domain.keys import UsageRow as Row
from studio.domain.secrets import StoreInfo
from studio.gateway.keys import KeyStore

Infos = list[KeyInfo]
Rows = list[Row]
Entries = list[RequestEntry]


class Keys:
    """What the control API may ask about keys; opens the store when it is first needed."""

    def __init__(
        self,
        store: KeyStore,
        publish: Callable[[Event], None],
        kept: KeptKeys,
        *,
        prompts_until: Callable[[str], str | None] = lambda _key_id: None,
        on_gone: Callable[[str], Awaitable[None]] | None = None,
    ) -> None:
        """`prompts_until`: of a key; `on_gone` hears of each that was revoked."""
        self._prompts_until = prompts_until
        self._on_gone = on_gone
        self._store = store
        self._kept = kept
        self._publish = publish
        self._is_open = False
        self._turn = asyncio.Lock()

    @property
    def active(self) -> int:
        """Return how many keys work now."""
        return self._store.active

    async def open(self) -> None:
        """Read the keys, once. Raises: Damaged, HostLacks."""
        async with self._turn:
            if not self._is_open:
                await self._store.open()
                self._is_open = True

    async def close(self) -> None:
        """Write what is still in memory."""
        if self._is_open:
            self._is_open = False
            await self._store.close()

    async def all(self) -> Infos:
        """Return every key with its usage."""
        await self.open()
        return await self._kept.marked(self.infos())

    def infos(self) -> Infos:
        """Return every key, of a store that is open."""
        return [
            msgspec.structs.replace(key, prompts_until=self._prompts_until(key.id))
            for key in self._store.list()
        ]

    def names(self) -> dict[str, str]:
        """Return the names of all keys by id; none before the store is open."""
        return {key.id: key.name for key in self._store.list()}

    async def reveal(self, key_id: str) -> NewKey:
        """Return a key that is kept to be shown again.

        Raises: NotFound (`key-unknown`, `key-not-stored`), HostLacks (`keyring-unavailable`).
        """
        await self.open()
        return await self._kept.reveal(self._store.info(key_id))

    async def store_info(self) -> StoreInfo:
        """Return where a key that is made with `store` would be kept."""
        return await self._kept.info()

    async def create(self, request: KeyRequest) -> NewKey:
        """Make a key."""
        await self.open()
        made = await self._store.create(request.name, request.limits)
        if request.store:
            try:
                made = await self._kept.keep(made)
            except StudioError:
                await self._store.revoke(made.info.id)  # nobody will ever know it
                raise
        self._publish(KeysChanged())
        return made

    async def first(self, request: KeyRequest) -> NewKey | None:
        """Make a key when there is none that works."""
        return None if self._store.active else await self.create(request)

    async def rotate(self, key_id: str) -> NewKey:
        """Replace a key's secret."""
        await self.open()
        made = await self._store.rotate(key_id)
        try:
            made = await self._kept.keep_anew(made)
        except StudioError:
            await self._kept.forget(made.info.id)  # the old one is of no use
        self._publish(KeysChanged())
        return made

    async def rename(self, key_id: str, request: RenameRequest) -> KeyInfo:
        """Give a key another name."""
        await self.open()
        info = await self._store.rename(key_id, request.name)
        self._publish(KeysChanged())
        return info

    async def limit(self, key_id: str, change: LimitsChange) -> KeyInfo:
        """Replace what a key may do."""
        await self.open()
        info = await self._store.limit(key_id, change.limits)
        self._publish(KeysChanged())
        return info

    async def revoke(self, key_id: str, request: RevokeRequest) -> KeyInfo:
        """Make a key useless, and end its running requests where that is asked for."""
        await self.open()
        info = await self._store.revoke(key_id)
        if request.stop_running:
            self._store.cut(info.id)
        await self._kept.forget(info.id)
        if self._on_gone is not None:
            await self._on_gone(info.id)
        self._publish(KeysChanged())
        return info

    async def used(
        self, *, key_id: str | None, since_s: int, by: UsageBy, now_s: float | None = None
    ) -> Rows:
        """Return what keys used in the last `since_s` seconds."""
        await self.open()
        until_s = time.time() if now_s is None else now_s
        return await self._store.used(
            key_id=key_id, since_s=until_s - since_s, until_s=until_s, by=by
        )

    async def requests(self, *, key_id: str | None, count: int, errors_only: bool) -> Entries:
        """Return the newest requests, oldest first."""
        await self.open()
        return await self._store.requests(key_id=key_id, count=count, errors_only=errors_only)
