"""The Secret Service of a Linux desktop, over D-Bus.

`keyring`'s own way to it waits for ever for a prompt that nobody answers, and leaves its connection
open when the answer is no. The attributes are `keyring`'s, so that its command finds what is kept.
Source: the freedesktop.org Secret Service API 0.2.
"""

from collections.abc import Iterator
from contextlib import closing, contextmanager

import secretstorage
from jeepney.wrappers import DBusErrorResponse
from secretstorage.exceptions import SecretStorageException

from studio.host.keyring_faults import Unavailable


def probe() -> None:
    """Return when there is one that could be asked. Raises: Unavailable."""
    with _translated(), closing(secretstorage.dbus_init()) as bus:
        if not secretstorage.check_service_availability(bus):
            raise Unavailable("no Secret Service runs here")


def put(service: str, account: str, secret: str, within_s: float) -> None:
    """Keep a secret, in place of the one before. Raises: Unavailable."""
    with _unlocked(within_s) as collection:
        attributes = {**_query(service, account), "application": "Python keyring library"}
        collection.create_item(f"{service}: {account}", attributes, secret.encode(), replace=True)


def get(service: str, account: str, within_s: float) -> str | None:
    """Return a secret, None when there is none. Raises: Unavailable."""
    with _unlocked(within_s) as collection:
        for item in collection.search_items(_query(service, account)):
            if item.is_locked():
                item.unlock(timeout=within_s)
            return item.get_secret().decode("utf-8", "replace")
    return None


def delete(service: str, account: str, within_s: float) -> None:
    """Forget a secret; none is no error. Raises: Unavailable."""
    with _unlocked(within_s) as collection:
        for item in collection.search_items(_query(service, account)):
            if item.is_locked():
                item.unlock(timeout=within_s)
            item.delete()


def _query(service: str, account: str) -> dict[str, str]:
    return {"service": service, "username": account}


@contextmanager
def _unlocked(within_s: float) -> Iterator[secretstorage.Collection]:
    with _translated(), closing(secretstorage.dbus_init()) as bus:
        collection = secretstorage.get_default_collection(bus)
        if collection.is_locked():
            collection.unlock(timeout=within_s)
        if collection.is_locked():
            raise Unavailable("it is locked")
        yield collection


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except TimeoutError as error:
        raise Unavailable("it waits for its password") from error
    except (SecretStorageException, DBusErrorResponse, OSError) as error:
        raise Unavailable(_reason(error)) from error


def _reason(error: Exception) -> str:
    text = " ".join(str(error).split()).rstrip(".!") or type(error).__name__
    if "DBUS_SESSION_BUS_ADDRESS" in text:
        return "this process belongs to no desktop session"
    return text[:1].lower() + text[1:]
