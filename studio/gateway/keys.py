"""Named keys and what each has used, in SQLite.

Keys live in memory while the gateway runs; SQLite is where they survive. A request never waits for
the disk: usage is added up in memory and written about once a second by one thread of its own.
Keys are 256 random bits, so a single SHA-256 protects them at rest: slow hashes exist for secrets
that can be guessed, and would cost every request milliseconds here.
"""

import asyncio
import contextlib
import errno
import hashlib
import hmac
import logging
import os
import secrets
import sqlite3
import time
import unicodedata
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from studio.domain.control import KeyInfo, NewKey
from studio.domain.errors import BadInput, Damaged, HostLacks, NotFound, StudioError
from studio.gateway.usage import Tokens
from studio.host.files import from_os_error

PREFIX = "sk-weir-"
NAME_LENGTH = 64
SCHEMA_VERSION = 1
FLUSH_S = 1.0
"""How much usage a power cut may cost, in seconds."""

_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_KEY_BYTES = 32
_KEY_DIGITS = 43
_SHOWN_DIGITS = 4

_SCHEMA = """
CREATE TABLE keys (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    prefix TEXT NOT NULL,
    sha256 TEXT NOT NULL UNIQUE,
    created_at TEXT NOT NULL,
    revoked_at TEXT,
    last_used_at TEXT,
    max_concurrent INTEGER,
    requests INTEGER NOT NULL DEFAULT 0,
    errors INTEGER NOT NULL DEFAULT 0,
    prompt_tokens INTEGER NOT NULL DEFAULT 0,
    cached_tokens INTEGER NOT NULL DEFAULT 0,
    generated_tokens INTEGER NOT NULL DEFAULT 0
) STRICT
"""
_UPDATE = (
    "UPDATE keys SET revoked_at = ?, last_used_at = ?, requests = ?, errors = ?,"
    " prompt_tokens = ?, cached_tokens = ?, generated_tokens = ? WHERE id = ?"
)
_SELECT = (
    "SELECT id, name, prefix, sha256, created_at, revoked_at, last_used_at, max_concurrent,"
    " requests, errors, prompt_tokens, cached_tokens, generated_tokens FROM keys ORDER BY rowid"
)
_RETRY_S = 5.0

Row = tuple[str | None, str | None, int, int, int, int, int, str]
Rows = list[Row]
Infos = list[KeyInfo]
T = TypeVar("T")

logger = logging.getLogger(__name__)


class Key:
    """One key as the running gateway holds it; counters move on the event loop only."""

    __slots__ = (
        "cached_tokens",
        "created_at",
        "digest",
        "errors",
        "generated_tokens",
        "id",
        "in_flight",
        "last_used_s",
        "max_concurrent",
        "name",
        "prefix",
        "prompt_tokens",
        "requests",
        "revoked_at",
    )

    def __init__(
        self,
        *,
        id: str,
        name: str,
        prefix: str,
        digest: str,
        created_at: str,
        max_concurrent: int | None,
    ) -> None:
        self.id = id
        self.name = name
        self.prefix = prefix
        self.digest = digest
        self.created_at = created_at
        self.max_concurrent = max_concurrent
        self.revoked_at: str | None = None
        self.last_used_s: float | None = None
        self.in_flight = 0
        self.requests = 0
        self.errors = 0
        self.prompt_tokens = 0
        self.cached_tokens = 0
        self.generated_tokens = 0

    @property
    def info(self) -> KeyInfo:
        """Return the key without its secret."""
        return KeyInfo(
            id=self.id,
            name=self.name,
            prefix=self.prefix,
            created_at=self.created_at,
            revoked_at=self.revoked_at,
            last_used_at=None if self.last_used_s is None else _iso(self.last_used_s),
            max_concurrent=self.max_concurrent,
            requests=self.requests,
            errors=self.errors,
            prompt_tokens=self.prompt_tokens,
            cached_tokens=self.cached_tokens,
            generated_tokens=self.generated_tokens,
        )


Keys = list[Key]


class KeyStore:
    """All keys. Open it once in a process; `close` writes what is still in memory."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._database: sqlite3.Connection | None = None
        self._writer = ThreadPoolExecutor(max_workers=1, thread_name_prefix="weir-keys")
        self._keys: dict[str, Key] = {}
        self._active: dict[str, Key] = {}
        self._dirty: set[Key] = set()
        self._timer: asyncio.TimerHandle | None = None

    async def open(self) -> None:
        """Read the keys; makes the file (mode 0600) when there is none.

        Raises: Damaged (`keys-damaged`, `keys-too-new`), HostLacks (`not-writable`, `disk-full`).
        """
        for key in await self._write(self._load):
            self._keys[key.id] = key
            if key.revoked_at is None:
                self._active[key.digest] = key

    async def close(self) -> None:
        """Write what is still in memory, and close the file."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        try:
            await self.flush()
        finally:
            if self._database is not None:
                await self._write(self._database.close)
                self._database = None
            self._writer.shutdown(wait=False)

    async def create(self, name: str, *, max_concurrent: int | None = None) -> NewKey:
        """Make a key. The answer holds it in full, and nothing else ever will.

        Raises: BadInput (`key-name-invalid`, `key-name-taken`, `key-limit-invalid`), and what
        writing to the file raises.
        """
        name = self._checked(name)
        if max_concurrent is not None and max_concurrent < 1:
            raise BadInput(
                "key-limit-invalid",
                f"A key must allow at least 1 request at a time, not {max_concurrent}.",
                hint="Leave the limit out for none.",
            )
        digits = _base62(secrets.token_bytes(_KEY_BYTES))
        secret = PREFIX + digits
        key = Key(
            id=secrets.token_hex(6),
            name=name,
            prefix=PREFIX + digits[:_SHOWN_DIGITS],
            digest=_digest(secret.encode()),
            created_at=_iso(time.time()),
            max_concurrent=max_concurrent,
        )
        # Taken before the write, so that two calls at once cannot both have the name.
        self._keys[key.id] = key
        try:
            await self._write(lambda: self._insert(key))
        except StudioError:
            del self._keys[key.id]
            raise
        self._active[key.digest] = key
        return NewKey(info=key.info, key=secret)

    async def revoke(self, key_id: str) -> KeyInfo:
        """Make a key useless from now on; also by name. A request that runs goes on to its end.

        Raises: NotFound (`key-unknown`), and what writing to the file raises.
        """
        key = self._keys.get(key_id) or self._named(key_id)
        if key is None:
            raise NotFound(
                "key-unknown",
                f"There is no key {key_id!r}.",
                hint="`weir keys list` shows all of them.",
            )
        if key.revoked_at is None:
            key.revoked_at = _iso(time.time())
            self._active.pop(key.digest, None)  # refused from now on, even if the write fails
            await self._write(lambda: self._update([_row(key)]))
        return key.info

    def list(self) -> Infos:
        """Return all keys with their usage, oldest first."""
        return [key.info for key in self._keys.values()]

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
        """Add one finished request to a key's usage; written within about a second."""
        key.requests += 1
        key.errors += is_error
        key.prompt_tokens += tokens.prompt or 0
        key.cached_tokens += tokens.cached or 0
        key.generated_tokens += tokens.generated or 0
        key.last_used_s = time.time()
        self._dirty.add(key)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(FLUSH_S, self._begin_flush)

    async def flush(self) -> None:
        """Write the usage that is only in memory. Raises: what writing to the file raises."""
        keys, self._dirty = list(self._dirty), set()
        if not keys:
            return
        rows = [_row(key) for key in keys]
        try:
            await self._write(lambda: self._update(rows))
        except StudioError:
            self._dirty.update(keys)
            raise

    def _begin_flush(self) -> None:
        self._timer = None
        keys, self._dirty = list(self._dirty), set()
        rows = [_row(key) for key in keys]
        written = self._writer.submit(self._update, rows)
        asyncio.wrap_future(written).add_done_callback(lambda done: self._flushed(done, keys))

    def _flushed(self, done: asyncio.Future[None], keys: Keys) -> None:
        error = None if done.cancelled() else done.exception()
        if error is None:
            return
        logger.warning("Usage of keys is not written yet: %s", error)
        self._dirty.update(keys)  # rows hold totals, so nothing is counted twice
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_RETRY_S, self._begin_flush)

    def _checked(self, name: str) -> str:
        name = unicodedata.normalize("NFC", name).strip()
        if not 1 <= len(name) <= NAME_LENGTH or not name.isprintable():
            raise BadInput(
                "key-name-invalid",
                f"A key's name has 1 to {NAME_LENGTH} visible characters; {name!r} has not.",
                hint="Name the program or person that will use the key, for example `laptop`.",
            )
        if self._named(name) is not None:
            raise BadInput(
                "key-name-taken",
                f"There is a key named {name!r} already.",
                hint="Choose another name, or revoke that key first.",
            )
        return name

    def _named(self, name: str) -> Key | None:
        """Return the key of that name that works; names differ by more than case."""
        folded = name.casefold()
        for key in self._keys.values():
            if key.revoked_at is None and key.name.casefold() == folded:
                return key
        return None

    async def _write(self, act: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._writer, act)

    # On the writer's thread, the only one that touches SQLite

    def _load(self) -> Keys:
        with _translated(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
            database = sqlite3.connect(self.path, timeout=5.0, isolation_level=None)
            self._database = database
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = NORMAL")
            version = int(database.execute("PRAGMA user_version").fetchone()[0])
            if version > SCHEMA_VERSION:
                raise Damaged(
                    "keys-too-new",
                    f"{self.path} was written by a newer version of the Studio.",
                    hint="Use that version, or move the file away and make new keys.",
                )
            if version == 0:
                with _transaction(database):
                    database.execute(_SCHEMA)
                    database.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            rows = database.execute(_SELECT)
            return [_key(row) for row in rows]

    def _insert(self, key: Key) -> None:
        with _translated(self.path), _transaction(self._opened) as database:
            database.execute(
                "INSERT INTO keys (id, name, prefix, sha256, created_at, max_concurrent)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                (key.id, key.name, key.prefix, key.digest, key.created_at, key.max_concurrent),
            )

    def _update(self, rows: Rows) -> None:
        with _translated(self.path), _transaction(self._opened) as database:
            database.executemany(_UPDATE, rows)

    @property
    def _opened(self) -> sqlite3.Connection:
        assert self._database is not None, "the key store is not open"
        return self._database


def _row(key: Key) -> Row:
    return (
        key.revoked_at,
        None if key.last_used_s is None else _iso(key.last_used_s),
        key.requests,
        key.errors,
        key.prompt_tokens,
        key.cached_tokens,
        key.generated_tokens,
        key.id,
    )


def _key(row: tuple[Any, ...]) -> Key:
    key = Key(
        id=row[0],
        name=row[1],
        prefix=row[2],
        digest=row[3],
        created_at=row[4],
        max_concurrent=row[7],
    )
    key.revoked_at = row[5]
    key.last_used_s = None if row[6] is None else datetime.fromisoformat(row[6]).timestamp()
    key.requests, key.errors = row[8], row[9]
    key.prompt_tokens, key.cached_tokens, key.generated_tokens = row[10], row[11], row[12]
    return key


@contextlib.contextmanager
def _transaction(database: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    database.execute("BEGIN IMMEDIATE")
    try:
        yield database
    except BaseException:
        database.execute("ROLLBACK")
        raise
    database.execute("COMMIT")


@contextlib.contextmanager
def _translated(path: Path) -> Iterator[None]:
    """Turn what SQLite and the disk raise into what a person can act on."""
    try:
        yield
    except OSError as error:
        raise from_os_error(error, path) from error
    except sqlite3.OperationalError as error:
        code = error.sqlite_errorcode & 0xFF
        if code == sqlite3.SQLITE_FULL:
            raise from_os_error(OSError(errno.ENOSPC, "disk full"), path) from error
        if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
            raise HostLacks(
                "keys-locked",
                f"{path} is held by another program.",
                hint="Close whatever has the file open, then try again.",
            ) from error
        raise from_os_error(OSError(errno.EIO, str(error)), path) from error
    except (sqlite3.DatabaseError, ValueError) as error:
        raise Damaged(
            "keys-damaged",
            f"{path} cannot be read: {error}.",
            hint="Move the file away; the Studio makes a new one, and keys must be made anew.",
        ) from error


def _digest(secret: bytes) -> str:
    return hashlib.sha256(secret).hexdigest()


def _base62(raw: bytes) -> str:
    number = int.from_bytes(raw, "big")
    digits = []
    for _ in range(_KEY_DIGITS):
        number, digit = divmod(number, len(_DIGITS))
        digits.append(_DIGITS[digit])
    return "".join(reversed(digits))


def _iso(at_s: float) -> str:
    return datetime.fromtimestamp(at_s, UTC).isoformat(timespec="milliseconds")
