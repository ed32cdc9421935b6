"""Keys that may be shown again: what helpers fill clients' set-ups with.

Most keys are shown once and are a hash from then on. One that was made with `store` also lies in
the system's keyring, or where there is none in a file (`studio/host/secrets.py`).
"""

import asyncio

import msgspec

from studio.domain.control import KeyInfo, NewKey
from studio.domain.errors import NotFound
from studio.domain.secrets import StoreInfo
from studio.host.secrets import SecretStore

SERVICE = "client-keys"


class KeptKeys:
    """Keeps secrets of keys, by the key's id."""

    def __init__(self, store: SecretStore) -> None:
        self._store = store

    async def info(self) -> StoreInfo:
        """Return where the next one would go."""
        return await asyncio.to_thread(self._store.info)

    async def keep(self, made: NewKey) -> NewKey:
        """Keep a key that was just made. Raises: what writing raises."""
        kind = await asyncio.to_thread(self._store.put, SERVICE, made.info.id, made.key)
        return msgspec.structs.replace(made, info=msgspec.structs.replace(made.info, stored=kind))

    async def keep_anew(self, made: NewKey) -> NewKey:
        """Keep the new secret of a key, if its old one was kept."""
        if await asyncio.to_thread(self._store.kind, SERVICE, made.info.id) is None:
            return made
        return await self.keep(made)

    async def reveal(self, info: KeyInfo) -> NewKey:
        """Return a key in full.

        Raises: NotFound (`key-not-stored`), HostLacks (`keyring-unavailable`), Damaged.
        """
        try:
            secret = await asyncio.to_thread(self._store.get, SERVICE, info.id)
        except NotFound as error:
            raise NotFound(
                "key-not-stored",
                f"Of the key `{info.name}` only a hash is kept, so it cannot be shown again.",
                hint=f"`weir keys rotate {info.name}` gives it a new secret. A key that is made"
                " with `--store` can be shown.",
            ) from error
        (shown,) = await self.marked([info])
        return NewKey(info=shown, key=secret)

    async def forget(self, key_id: str) -> None:
        """Forget a key's secret, if it is kept."""
        await asyncio.to_thread(self._store.delete, SERVICE, key_id)

    async def marked(self, infos: list[KeyInfo]) -> list[KeyInfo]:
        """Return the keys with where each is kept."""
        kinds = await asyncio.to_thread(self._store.kinds, SERVICE)
        if not kinds:
            return infos
        return [msgspec.structs.replace(info, stored=kinds.get(info.id)) for info in infos]
