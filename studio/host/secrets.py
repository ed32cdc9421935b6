"""Secrets that the Studio needs again: in the system's keyring, else in files of mode 0600.

A folder knows what is kept and where, so that a list costs no unlocking; a secret itself stands in
it only where there is no keyring. One file for each secret, written whole or not at all.
Calls block: from the event loop, in a thread.
"""

import hashlib
import logging
from collections.abc import Iterator
from pathlib import Path

import msgspec

from studio.domain.errors import Damaged, HostLacks, NotFound
from studio.domain.secrets import StoreInfo, StoreKind
from studio.host import files, keyring_store
from studio.host.documents import read_json, write_json
from studio.host.keyring_faults import Unavailable

_SERVICE = "Weir Studio"
_NAME_BYTES = 16

logger = logging.getLogger(__name__)


class _Entry(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    kind: StoreKind
    secret: str | None = None


class SecretStore:
    """Keeps secrets by service (what they are for) and name."""

    def __init__(self, folder: Path) -> None:
        """`folder` lies in the Studio's home; each home has secrets of its own in the keyring."""
        self._folder = folder
        self._home = hashlib.sha256(str(folder).encode()).hexdigest()[:8]

    def info(self) -> StoreInfo:
        """Return where a secret would go now."""
        try:
            keyring_store.require()
        except Unavailable as error:
            return StoreInfo(kind=StoreKind.FILE, where=str(self._folder), reason=str(error))
        return StoreInfo(kind=StoreKind.KEYRING, where=keyring_store.name())

    def put(self, service: str, name: str, secret: str) -> StoreKind:
        """Keep a secret, in place of the one before; return where.

        Raises: HostLacks (`not-writable`, `disk-full`).
        """
        place, account = self._place(service, name), self._account(name)
        try:
            keyring_store.put(_title(service), account, secret)
        except Unavailable as error:
            logger.info("no keyring, so a secret is kept in a file: %s", error)
            entry = _Entry(name=name, kind=StoreKind.FILE, secret=secret)
        else:
            entry = _Entry(name=name, kind=StoreKind.KEYRING)
        files.make_private(self._folder)
        files.make_private(place.parent)
        write_json(place, entry, mode=0o600)
        return entry.kind

    def get(self, service: str, name: str) -> str:
        """Return a secret.

        Raises: NotFound (`secret-unknown`), HostLacks (`keyring-unavailable`), Damaged.
        """
        entry = read_json(self._place(service, name), _Entry)
        if entry is not None and entry.kind is StoreKind.FILE:
            if entry.secret is not None:
                return entry.secret
        elif entry is not None:
            account = self._account(name)
            try:
                found = keyring_store.get(_title(service), account)
            except Unavailable as error:
                raise HostLacks(
                    "keyring-unavailable",
                    f"It is kept in the {keyring_store.name()}, which cannot be read: {error}.",
                    hint="Unlock it, or ask from within the desktop session that it belongs to.",
                ) from error
            if found is not None:
                return found
        raise NotFound("secret-unknown", f"Nothing is kept for `{name}`.")

    def delete(self, service: str, name: str) -> bool:
        """Forget a secret; return whether there was one.

        The keyring may be locked for now: what is left in it is said in the log.
        """
        place, account = self._place(service, name), self._account(name)
        kind = self.kind(service, name)
        if kind is StoreKind.KEYRING:
            try:
                keyring_store.delete(_title(service), account)
            except Unavailable as error:
                logger.warning("`%s` is left in the keyring: %s", account, error)
        place.unlink(missing_ok=True)
        return kind is not None

    def kind(self, service: str, name: str) -> StoreKind | None:
        """Return where a secret is kept; None when it is not."""
        return _kind_of(self._place(service, name))

    def kinds(self, service: str) -> dict[str, StoreKind]:
        """Return the names of all that is kept for a service, and where; none that is damaged."""
        return {entry.name: entry.kind for entry in map(_entry, self._entries(service)) if entry}

    def _entries(self, service: str) -> Iterator[Path]:
        return iter(sorted((self._folder / service).glob("*.json")))

    def _place(self, service: str, name: str) -> Path:
        digest = hashlib.sha256(name.encode("utf-8")).digest()[:_NAME_BYTES].hex()
        return self._folder / service / f"{digest}.json"

    def _account(self, name: str) -> str:
        """Return the name in the keyring, which all homes of a person share."""
        return f"{name}@{self._home}"


def _title(service: str) -> str:
    """Return what the keyring's own window shows."""
    return f"{_SERVICE} {service}"


def _entry(place: Path) -> _Entry | None:
    try:
        return read_json(place, _Entry)
    except Damaged:
        return None


def _kind_of(place: Path) -> StoreKind | None:
    entry = _entry(place)
    return entry.kind if entry is not None else None
