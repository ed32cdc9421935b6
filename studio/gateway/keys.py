"""Named keys, what each may do and what each has used, in SQLite.

Keys live in memory while the gateway runs; SQLite is where they survive. A request never waits for
the disk: usage is added up in memory and written about once a second by one thread of its own.
Keys are 256 random bits, so a single SHA-256 protects them at rest: slow hashes exist for secrets
that can be guessed, and would cost every request milliseconds here.
"""

import asyncio
import hashlib
import hmac
import logging
import secrets
import sqlite3
import time
import unicodedata
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from studio.domain.control import KeyInfo, NewKey
from studio.domain.errors import BadInput, NotFound, StudioError
from studio.domain.keys import KeyLimits, RequestEntry, UsageBy, UsageRow
from studio.gateway import usage_book
from studio.gateway.database import Database
from studio.gateway.dialects import Refusal
from studio.gateway.key import Key, Running, iso
from studio.gateway.key_limits import checked
from studio.gateway.usage import RequestRecord, Tokens
from studio.gateway.usage_book import Pending, UsageBook
from studio.gateway.usage_models import rows_by_model

PREFIX = "sk-weir-"
NAME_LENGTH = 64
FLUSH_S = 1.0
"""How much usage a power cut may cost, in seconds."""

_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_KEY_BYTES = 32
_KEY_DIGITS = 43
_SHOWN_DIGITS = 4

_INSERT = (
    "INSERT INTO keys (id, name, prefix, sha256, created_at, limits) VALUES (?, ?, ?, ?, ?, ?)"
)
_UPDATE = (
    "UPDATE keys SET revoked_at = ?, last_used_at = ?, requests = ?, errors = ?,"
    " prompt_tokens = ?, cached_tokens = ?, generated_tokens = ?, last_address = ? WHERE id = ?"
)
_CHANGE = (
    "UPDATE keys SET name = ?, prefix = ?, sha256 = ?, limits = ?, rotated_at = ? WHERE id = ?"
)
_SELECT = (
    "SELECT id, name, prefix, sha256, created_at, revoked_at, last_used_at, requests, errors,"
    " prompt_tokens, cached_tokens, generated_tokens, limits, last_address, rotated_at"
    " FROM keys ORDER BY rowid"
)
_RETRY_S = 5.0

Row = tuple[str | None, str | None, int, int, int, int, int, str | None, str]
Rows = list[Row]
Infos = list[KeyInfo]
UsageRows = list[UsageRow]
Entries = list[RequestEntry]
T = TypeVar("T")

logger = logging.getLogger(__name__)


Keys = list[Key]


class KeyStore:
    """All keys. Open it once in a process; `close` writes what is still in memory."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.usage = UsageBook()
        self._database = Database(path)
        self._is_open = False
        self._keys: dict[str, Key] = {}
        self._active: dict[str, Key] = {}
        self._dirty: set[Key] = set()
        self._timer: asyncio.TimerHandle | None = None

    async def open(self) -> None:
        """Read the keys; makes the file (mode 0600) when there is none.

        Raises: Damaged (`keys-damaged`, `keys-too-new`), HostLacks (`not-writable`, `disk-full`).
        """
        await self._database.open()
        self._is_open = True
        for key in await self._database.run(_load):
            self._keys[key.id] = key
            if key.revoked_at is None:
                self._active[key.digest] = key
        now_s = time.time()
        await self._database.run(lambda connection: self.usage.load(connection, now_s))

    async def close(self) -> None:
        """Write what is still in memory, and close the file."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        try:
            if self._is_open:
                await self.flush()
        finally:
            self._is_open = False
            await self._database.close()

    async def create(self, name: str, limits: KeyLimits | None = None) -> NewKey:
        """Make a key. The answer holds it in full, and nothing else ever will.

        Raises: BadInput (`key-name-invalid`, `key-name-taken`, `key-limit-invalid`), and what
        writing to the file raises.
        """
        name = self._checked(name)
        limits = checked(limits or KeyLimits(), now_s=time.time())
        secret, prefix = _new_secret()
        key = Key(
            id=secrets.token_hex(6),
            name=name,
            prefix=prefix,
            digest=_digest(secret.encode()),
            created_at=iso(time.time()),
            limits=limits,
        )
        row = (key.id, key.name, key.prefix, key.digest, key.created_at, _limits_text(limits))
        # Taken before the write, so that two calls at once cannot both have the name.
        self._keys[key.id] = key
        try:
            await self._database.run(lambda connection: connection.execute(_INSERT, row))
        except StudioError:
            del self._keys[key.id]
            raise
        self._active[key.digest] = key
        return NewKey(info=key.info, key=secret)

    async def rotate(self, key_id: str) -> NewKey:
        """Give a key a new secret; the old one is refused from now on. Usage and limits stay.

        Raises: NotFound (`key-unknown`), BadInput (`key-revoked`), what writing raises.
        """
        key = self._working(key_id)
        secret, prefix = _new_secret()
        digest, at = _digest(secret.encode()), iso(time.time())
        await self._change(key, prefix=prefix, digest=digest, rotated_at=at)
        self._active.pop(key.digest, None)
        key.prefix, key.digest, key.rotated_at = prefix, digest, at
        if key.revoked_at is None:  # it may have been revoked meanwhile
            self._active[digest] = key
        return NewKey(info=key.info, key=secret)

    async def rename(self, key_id: str, name: str) -> KeyInfo:
        """Give a key another name.

        Raises: NotFound (`key-unknown`), BadInput (`key-revoked`, `key-name-invalid`,
        `key-name-taken`), what writing raises.
        """
        key = self._working(key_id)
        name, before = self._checked(name, but=key), key.name
        key.name = name
        try:
            await self._change(key)
        except StudioError:
            key.name = before
            raise
        return key.info

    async def limit(self, key_id: str, limits: KeyLimits) -> KeyInfo:
        """Let a key do this, and nothing else, from now on.

        Raises: NotFound (`key-unknown`), BadInput (`key-revoked`, `key-limit-invalid`), what
        writing raises.
        """
        key = self._working(key_id)
        limits = checked(limits, now_s=time.time())
        await self._change(key, limits=limits)
        key.limit(limits)
        return key.info

    async def revoke(self, key_id: str) -> KeyInfo:
        """Make a key useless from now on; also by name. A request that runs goes on to its end.

        Raises: NotFound (`key-unknown`), and what writing to the file raises.
        """
        key = self._found(key_id)
        if key.revoked_at is None:
            key.revoked_at = iso(time.time())
            self._active.pop(key.digest, None)  # refused from now on, even if the write fails
            row = _row(key)
            await self._database.run(lambda connection: connection.execute(_UPDATE, row))
        return key.info

    def cut(self, key_id: str) -> int:
        """End the requests of a key that run now; return how many."""
        key = self._found(key_id)
        running = list(key.running)
        for request in running:
            request.cut(Refusal(401, "key-revoked", "The key of this request was revoked."))
        return len(running)

    def list(self) -> Infos:
        """Return all keys with their usage, oldest first."""
        return [key.info for key in self._keys.values()]

    def info(self, key_id: str) -> KeyInfo:
        """Return a key by id or name. Raises: NotFound (`key-unknown`)."""
        return self._found(key_id).info

    @property
    def running(self) -> Iterator[Running]:
        """Yield the requests of all keys that the engine works on."""
        for key in self._keys.values():
            yield from key.running

    @property
    def active(self) -> int:
        """Return how many keys work now."""
        return len(self._active)

    def verify(self, secret: bytes) -> Key | None:
        """Return the key that `secret` is, if it works now; under 5 µs, no disk.

        The look-up is by digest, which nobody can steer, and the comparison takes constant time.
        """
        digest = _digest(secret)
        key = self._active.get(digest)
        if key is not None and hmac.compare_digest(key.digest, digest):
            return key
        return None

    def count(self, key: Key, *, tokens: Tokens, is_error: bool) -> None:
        """Add one finished request to a key's totals; written within about a second."""
        key.requests += 1
        key.errors += is_error
        key.prompt_tokens += tokens.prompt or 0
        key.cached_tokens += tokens.cached or 0
        key.generated_tokens += tokens.generated or 0
        key.last_used_s = time.time()
        self._dirty.add(key)
        self._arm(FLUSH_S)

    def record(self, key: Key, record: RequestRecord, *, is_error: bool) -> None:
        """Add one finished request to totals, hours and list."""
        if record.address is not None:
            key.last_address = record.address
        self.usage.add(key.id, record, is_error=is_error)
        self.count(key, tokens=record.tokens, is_error=is_error)

    def record_refused(self, record: RequestRecord) -> None:
        """Keep a request that did not reach the engine, in the list only."""
        self.usage.log(record)
        self._arm(FLUSH_S)

    async def used(
        self, *, key_id: str | None, since_s: float, until_s: float, by: UsageBy
    ) -> UsageRows:
        """Return what keys used in a span of time. Raises: NotFound (`key-unknown`)."""
        chosen = None if key_id is None else self._found(key_id).id
        names = {key.id: key.name for key in self._keys.values()}
        await self.flush()
        if by is UsageBy.MODEL:
            return await self._database.run(
                lambda connection: rows_by_model(
                    connection, key_id=chosen, since_s=since_s, until_s=until_s
                )
            )
        return await self._database.run(
            lambda connection: usage_book.rows(
                connection, names, key_id=chosen, since_s=since_s, until_s=until_s, by=by
            )
        )

    async def requests(self, *, key_id: str | None, count: int, errors_only: bool) -> Entries:
        """Return the newest requests, oldest first. Raises: NotFound (`key-unknown`)."""
        chosen = None if key_id is None else self._found(key_id).id
        names = {key.id: key.name for key in self._keys.values()}
        await self.flush()
        return await self._database.run(
            lambda connection: usage_book.newest(
                connection, names, key_id=chosen, count=count, errors_only=errors_only
            )
        )

    async def flush(self) -> None:
        """Write the usage that is only in memory. Raises: what writing to the file raises."""
        keys, rows, pending = self._take()
        if not keys and not pending.hours and not pending.requests:
            return
        try:
            await self._database.run(lambda connection: self._put(connection, rows, pending))
        except StudioError:
            self._give_back(keys, pending)
            raise

    def _arm(self, after_s: float) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(after_s, self._begin_flush)

    def _begin_flush(self) -> None:
        self._timer = None
        keys, rows, pending = self._take()
        written = self._database.submit(lambda connection: self._put(connection, rows, pending))
        asyncio.wrap_future(written).add_done_callback(
            lambda done: self._flushed(done, keys, pending)
        )

    def _flushed(self, done: asyncio.Future[None], keys: Keys, pending: Pending) -> None:
        error = None if done.cancelled() else done.exception()
        if error is None:
            return
        logger.warning("Usage of keys is not written yet: %s", error)
        self._give_back(keys, pending)
        self._arm(_RETRY_S)

    def _take(self) -> tuple[Keys, Rows, Pending]:
        keys, self._dirty = list(self._dirty), set()
        return keys, [_row(key) for key in keys], self.usage.take()

    def _give_back(self, keys: Keys, pending: Pending) -> None:
        self._dirty.update(keys)  # rows hold totals, so nothing is counted twice
        self.usage.restore(pending)

    def _put(self, connection: sqlite3.Connection, rows: Rows, pending: Pending) -> None:
        connection.executemany(_UPDATE, rows)
        self.usage.write(connection, pending, time.time())

    async def _change(
        self,
        key: Key,
        *,
        prefix: str | None = None,
        digest: str | None = None,
        limits: KeyLimits | None = None,
        rotated_at: str | None = None,
    ) -> None:
        row = (
            key.name,
            prefix or key.prefix,
            digest or key.digest,
            _limits_text(limits or key.limits),
            rotated_at or key.rotated_at,
            key.id,
        )
        await self._database.run(lambda connection: connection.execute(_CHANGE, row))

    def _checked(self, name: str, but: Key | None = None) -> str:
        name = unicodedata.normalize("NFC", name).strip()
        if not 1 <= len(name) <= NAME_LENGTH or not name.isprintable():
            raise BadInput(
                "key-name-invalid",
                f"A key's name has 1 to {NAME_LENGTH} visible characters; {name!r} has not.",
                hint="Name the program or person that will use the key, for example `laptop`.",
            )
        if self._named(name) not in (None, but):
            raise BadInput(
                "key-name-taken",
                f"There is a key named {name!r} already.",
                hint="Choose another name, or revoke that key first.",
            )
        return name

    def _found(self, key_id: str) -> Key:
        key = self._keys.get(key_id) or self._named(key_id)
        if key is None:
            raise NotFound(
                "key-unknown",
                f"There is no key {key_id!r}.",
                hint="`weir keys list` shows all of them.",
            )
        return key

    def _working(self, key_id: str) -> Key:
        key = self._found(key_id)
        if key.revoked_at is not None:
            raise BadInput(
                "key-revoked",
                f"The key {key.name!r} was revoked.",
                hint="Make a new one: `weir keys create NAME`.",
            )
        return key

    def _named(self, name: str) -> Key | None:
        """Return the key of that name that works; names differ by more than case."""
        folded = name.casefold()
        for key in self._keys.values():
            if key.revoked_at is None and key.name.casefold() == folded:
                return key
        return None


def _load(connection: sqlite3.Connection) -> Keys:
    return [_key(row) for row in connection.execute(_SELECT)]


def _row(key: Key) -> Row:
    return (
        key.revoked_at,
        None if key.last_used_s is None else iso(key.last_used_s),
        key.requests,
        key.errors,
        key.prompt_tokens,
        key.cached_tokens,
        key.generated_tokens,
        key.last_address,
        key.id,
    )


def _key(row: tuple[Any, ...]) -> Key:
    key = Key(
        id=row[0],
        name=row[1],
        prefix=row[2],
        digest=row[3],
        created_at=row[4],
        limits=msgspec.json.decode(row[12], type=KeyLimits),
    )
    key.revoked_at = row[5]
    key.last_used_s = None if row[6] is None else datetime.fromisoformat(row[6]).timestamp()
    key.requests, key.errors = row[7], row[8]
    key.prompt_tokens, key.cached_tokens, key.generated_tokens = row[9], row[10], row[11]
    key.last_address, key.rotated_at = row[13], row[14]
    return key


def _limits_text(limits: KeyLimits) -> str:
    named = msgspec.to_builtins(limits)
    return msgspec.json.encode({k: v for k, v in named.items() if v is not None}).decode()


def _new_secret() -> tuple[str, str]:
    """Return a new secret and the part of it that is shown in lists."""
    digits = _base62(secrets.token_bytes(_KEY_BYTES))
    return PREFIX + digits, PREFIX + digits[:_SHOWN_DIGITS]


def _digest(secret: bytes) -> str:
    return hashlib.sha256(secret).hexdigest()


def _base62(raw: bytes) -> str:
    number = int.from_bytes(raw, "big")
    digits = []
    for _ in range(_KEY_DIGITS):
        number, digit = divmod(number, len(_DIGITS))
        digits.append(_DIGITS[digit])
    return "".join(reversed(digits))
