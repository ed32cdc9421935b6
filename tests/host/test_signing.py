"""Keys that sign: made once, kept private, compared by fingerprint."""

import stat
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519

from studio.domain.errors import BadInput, Busy, Damaged, HostLacks
from studio.host import signing
from studio.host.files import exclusive

PURPOSE = b"test 1"


def test_the_own_key_is_made_once_and_stays_private(tmp_path: Path) -> None:
    """A second export signs with the same key, and nobody else reads it."""
    place = tmp_path / "signing" / "key"

    first, was_made = signing.own(place)
    again, was_made_again = signing.own(place)

    assert (was_made, was_made_again) == (True, False)
    assert again.public_key == first.public_key
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert stat.S_IMODE(place.parent.stat().st_mode) == 0o700


def test_a_key_that_a_copy_made_readable_is_made_private_again(tmp_path: Path) -> None:
    """Sync tools and `cp` from a stick give every file the same mode."""
    place = tmp_path / "signing" / "key"
    signing.own(place)
    place.chmod(0o644)

    signing.own(place)

    assert stat.S_IMODE(place.stat().st_mode) == 0o600


def test_two_that_make_a_key_at_once_do_not_make_two(tmp_path: Path) -> None:
    """The loser's file would be signed by a key that is gone."""
    place = tmp_path / "signing" / "key"
    with exclusive(tmp_path / "signing" / "key.lock"), pytest.raises(Busy) as caught:
        signing.own(place)

    assert caught.value.code == "signing-key-busy"
    assert not place.exists()


def test_a_signature_is_for_one_message_and_one_purpose(tmp_path: Path) -> None:
    """What was signed as one thing must not pass for another."""
    signer, _ = signing.own(tmp_path / "key")
    other, _ = signing.own(tmp_path / "other" / "key")
    mark = signer.sign(PURPOSE, b"message")

    assert mark == signer.sign(PURPOSE, b"message")
    assert signing.is_valid(signer.public_key, mark, PURPOSE, b"message")
    assert not signing.is_valid(signer.public_key, mark, PURPOSE, b"massage")
    assert not signing.is_valid(signer.public_key, mark, b"test 2", b"message")
    assert not signing.is_valid(other.public_key, mark, PURPOSE, b"message")
    assert not signing.is_valid(signer.public_key, mark[:-1], PURPOSE, b"message")
    assert not signing.is_valid(b"", mark, PURPOSE, b"message")


def test_a_fingerprint_is_read_as_people_write_it(tmp_path: Path) -> None:
    """It is read out over a telephone and typed from another screen."""
    signer, _ = signing.own(tmp_path / "key")
    shown = signer.fingerprint

    assert signing.fingerprint(signer.public_key) == shown
    for typed in (shown.upper(), shown.replace("-", " "), f" {shown.replace('-', ':')}\n"):
        assert signing.read_fingerprint(typed) == shown


@pytest.mark.parametrize("typed", ["", "3f9a", "z" * 32, "0" * 31, "0" * 33, "é" * 32])
def test_what_is_no_fingerprint_is_refused(typed: str) -> None:
    """A beginning of one would be easy to forge."""
    with pytest.raises(BadInput) as caught:
        signing.read_fingerprint(typed)

    assert caught.value.code == "fingerprint-invalid"


def test_keys_of_openssl_and_ssh_are_taken(tmp_path: Path) -> None:
    """A team that has a signing key uses that one."""
    key = ed25519.Ed25519PrivateKey.generate()
    none = serialization.NoEncryption()
    for name, form in (
        ("pem", serialization.PrivateFormat.PKCS8),
        ("ssh", serialization.PrivateFormat.OpenSSH),
    ):
        place = tmp_path / name
        place.write_bytes(key.private_bytes(serialization.Encoding.PEM, form, none))

        assert signing.load(place).public_key == key.public_key().public_bytes_raw()


def _other_kind() -> bytes:
    key = ec.generate_private_key(ec.SECP256R1())
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def _with_passphrase() -> bytes:
    return ed25519.Ed25519PrivateKey.generate().private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(b"secret"),
    )


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\0" * 200_000,
        b"-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n",
        _other_kind(),
        _with_passphrase(),
    ],
    ids=["empty", "zeros", "half an ssh key", "elliptic curve", "passphrase"],
)
def test_what_is_no_key_is_refused_in_words(tmp_path: Path, content: bytes) -> None:
    """The reason is named, and how to make one."""
    place = tmp_path / "key"
    place.write_bytes(content)

    with pytest.raises(Damaged) as caught:
        signing.load(place)

    assert caught.value.code == "signing-key-invalid"
    assert "openssl" in (caught.value.hint or "")


def test_a_key_that_is_not_there_is_named(tmp_path: Path) -> None:
    """With its path, since it was typed."""
    with pytest.raises(HostLacks) as caught:
        signing.load(tmp_path / "no key")

    assert caught.value.code == "not-readable"
    assert str(tmp_path / "no key") in caught.value.message
    assert signing.own_fingerprint(tmp_path / "no key") is None


def test_who_signs_nothing_does_not_load_the_mathematics() -> None:
    """It takes 50 ms, and every command passes by here."""
    code = (
        "import sys, studio.app.studio; sys.exit('cryptography.hazmat.primitives' in sys.modules)"
    )

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
