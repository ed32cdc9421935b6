"""The keyrings of Windows and macOS, through `keyring`; neither asks and waits."""

import sys

from keyring.backend import KeyringBackend
from keyring.errors import KeyringError

from studio.host.keyring_faults import Unavailable


def probe() -> None:
    """Return when there is one that could be asked. Raises: Unavailable."""
    get("Weir Studio", "probe", 0.0)


def put(service: str, account: str, secret: str, within_s: float) -> None:
    """Keep a secret, in place of the one before. Raises: Unavailable."""
    del within_s
    try:
        backend().set_password(service, account, secret)
    except (KeyringError, OSError, RuntimeError) as error:
        raise _unavailable(error) from error


def get(service: str, account: str, within_s: float) -> str | None:
    """Return a secret, None when there is none. Raises: Unavailable."""
    del within_s
    try:
        return backend().get_password(service, account)
    except (KeyringError, OSError, RuntimeError) as error:
        raise _unavailable(error) from error


def delete(service: str, account: str, within_s: float) -> None:
    """Forget a secret; none is no error. Raises: Unavailable."""
    if get(service, account, within_s) is None:
        return
    try:
        backend().delete_password(service, account)
    except (KeyringError, OSError, RuntimeError) as error:
        raise _unavailable(error) from error


def backend() -> KeyringBackend:
    """Return `keyring`'s way to this system's own store."""
    return _kind()()


def _kind() -> type[KeyringBackend]:
    if sys.platform == "darwin":
        from keyring.backends import macOS

        return macOS.Keyring
    from keyring.backends import Windows

    return Windows.WinVaultKeyring


def _unavailable(error: Exception) -> Unavailable:
    text = " ".join(str(error).split()).rstrip(".!") or type(error).__name__
    return Unavailable(text[:1].lower() + text[1:])
