"""What is said of a key that is kept."""

from studio.cli.kept_key_text import made_text
from studio.domain.control import KeyInfo
from studio.domain.secrets import StoreInfo, StoreKind

KEYRING = StoreInfo(kind=StoreKind.KEYRING, where="Secret Service")
FILE = StoreInfo(kind=StoreKind.FILE, where="/home/me/x", reason="no Secret Service runs here")


def made(kind: StoreKind) -> KeyInfo:
    """Return a key that is kept there."""
    return KeyInfo(id="1", name="helper", prefix="p", created_at="x", stored=kind)


def test_where_a_key_is_kept_and_why_is_said_when_it_is_made() -> None:
    """A file instead of the keyring is nothing to find out later."""
    file = made_text(made(StoreKind.FILE), FILE)

    assert "kept in the Secret Service" in made_text(made(StoreKind.KEYRING), KEYRING)
    assert "(no Secret Service runs here)" in file
    assert "/home/me/x" in file
    assert "weir keys reveal helper" in file


def test_a_keyring_that_stayed_locked_is_told_from_none() -> None:
    """It is there, and the key is not in it."""
    text = made_text(made(StoreKind.FILE), KEYRING)

    assert "Secret Service stayed locked" in text
    assert "a file that only you can read" in text
    assert "None" not in text
