"""What is said of a key that is kept."""

from studio.cli.kept_key_text import made_text
from studio.domain.secrets import StoreInfo, StoreKind


def test_where_a_key_is_kept_and_why_is_said_when_it_is_made() -> None:
    """A file instead of the keyring is nothing to find out later."""
    keyring = made_text("helper", StoreInfo(kind=StoreKind.KEYRING, where="Secret Service"))
    file = made_text(
        "helper", StoreInfo(kind=StoreKind.FILE, where="/home/me/x", reason="it is locked")
    )

    assert "kept in the Secret Service" in keyring
    assert "(it is locked)" in file
    assert "/home/me/x" in file
    assert "weir keys reveal helper" in file
