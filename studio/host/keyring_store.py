"""The system's keyring: Secret Service on Linux, the Credential Manager on Windows, the Keychain.

All of it is foreign code that may wait for a person, so each call has a deadline. `keyring` would
look for plug-ins and take what other packages bring along; here only the system's own stores count,
so that it can be said where a secret is.
"""

import sys
from collections.abc import Callable
from typing import Protocol, TypeVar

from studio.host.bounded import Bounded, Overdue
from studio.host.keyring_faults import Unavailable

PROBE_S = 5.0
PROMPT_S = 30.0
"""Long enough to type the keyring's password when it asks for it."""
_SPARE_S = 5.0

T = TypeVar("T")


class _Keyring(Protocol):
    """What each system's module offers; all of it raises Unavailable."""

    def probe(self) -> None:
        """Return when there is one that could be asked."""

    def put(self, service: str, account: str, secret: str, within_s: float) -> None:
        """Keep a secret, in place of the one before."""

    def get(self, service: str, account: str, within_s: float) -> str | None:
        """Return a secret, None when there is none."""

    def delete(self, service: str, account: str, within_s: float) -> None:
        """Forget a secret; none is no error."""


def name() -> str:
    """Return what people call this system's store."""
    return {"win32": "Windows Credential Manager", "darwin": "macOS Keychain"}.get(
        sys.platform, "Secret Service"
    )


def require() -> None:
    """Return when there is a keyring. Raises: Unavailable."""
    _call(lambda: _system().probe(), within_s=PROBE_S)


def put(service: str, account: str, secret: str) -> None:
    """Keep a secret, in place of the one before. Raises: Unavailable."""
    within_s = PROMPT_S
    _call(lambda: _system().put(service, account, secret, within_s), within_s=within_s + _SPARE_S)


def get(service: str, account: str) -> str | None:
    """Return a secret, None when there is none. Raises: Unavailable."""
    within_s = PROMPT_S
    return _call(lambda: _system().get(service, account, within_s), within_s=within_s + _SPARE_S)


def delete(service: str, account: str) -> None:
    """Forget a secret; none is no error. Raises: Unavailable."""
    within_s = PROMPT_S
    _call(lambda: _system().delete(service, account, within_s), within_s=within_s + _SPARE_S)


def _system() -> _Keyring:
    """Return the keyring of this system; its libraries take 0.1 s to load."""
    if sys.platform != "linux":
        from studio.host import native_keyring

        return native_keyring
    from studio.host import secret_service

    return secret_service


def _call(work: Callable[[], T], *, within_s: float) -> T:
    """Do `work` in a thread that nobody has to wait for."""

    def tried() -> T | Unavailable:
        try:
            return work()
        except Unavailable as error:
            return error

    try:
        found = Bounded(tried, name="weir-keyring", within_s=within_s).call()
    except Overdue:
        raise Unavailable(f"it did not answer within {within_s:g} s") from None
    if isinstance(found, Unavailable):
        raise found
    return found
