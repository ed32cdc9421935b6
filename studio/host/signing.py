"""Ed25519 keys: made once, kept private, known to people by a fingerprint.

The mathematics is that of `cryptography`, which takes 50 ms to load: each function that needs it
does so, and no command that signs nothing waits for it. A signature covers a line that says what
is signed, so that one made for one purpose proves nothing for another.
"""

import hashlib
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from studio.domain.errors import BadInput, Busy, Damaged, HostLacks
from studio.host.files import exclusive, make_private, write_atomic

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

PUBLIC_KEY_BYTES = 32
SIGNATURE_BYTES = 64
_FINGERPRINT_DIGITS = 32
"""128 bits: nobody makes another key to a given fingerprint, and a person can still compare it."""
_GROUP_DIGITS = 4
_KEY_LIMIT_BYTES = 64 << 10


class Signer:
    """A private key, able to sign."""

    def __init__(self, key: "Ed25519PrivateKey") -> None:
        self._key = key
        self.public_key = key.public_key().public_bytes_raw()
        self.fingerprint = fingerprint(self.public_key)

    def sign(self, purpose: bytes, message: bytes) -> bytes:
        """Return the signature of `message` for one purpose; equal inputs give equal bytes."""
        return self._key.sign(_covered(purpose, message))

    def sign_digest(self, digest: bytes) -> bytes:
        """Return the bare signature of a digest, as OpenPGP wants it.

        Nothing that `sign` covers is as short as a digest, so neither can be taken for the other.
        """
        return self._key.sign(digest)


def is_valid(public_key: bytes, signature: bytes, purpose: bytes, message: bytes) -> bool:
    """Tell whether the holder of `public_key` signed `message` for this purpose."""
    if len(public_key) != PUBLIC_KEY_BYTES or len(signature) != SIGNATURE_BYTES:
        return False
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, _covered(purpose, message))
    except InvalidSignature:
        return False
    return True


def fingerprint(public_key: bytes) -> str:
    """Return what people compare: the first 128 bits of the key's sha256, in groups of four."""
    digits = hashlib.sha256(public_key).hexdigest()[:_FINGERPRINT_DIGITS]
    groups = range(0, _FINGERPRINT_DIGITS, _GROUP_DIGITS)
    return "-".join(digits[at : at + _GROUP_DIGITS] for at in groups)


def read_fingerprint(text: str) -> str:
    """Return a fingerprint as a person typed it, in the form of `fingerprint`.

    Raises: BadInput (`fingerprint-invalid`).
    """
    digits = "".join(text.split()).replace("-", "").replace(":", "").lower()
    if len(digits) != _FINGERPRINT_DIGITS or not set(digits) <= set("0123456789abcdef"):
        raise BadInput(
            "fingerprint-invalid",
            f"A fingerprint has {_FINGERPRINT_DIGITS} hexadecimal digits; found `{text}`.",
            hint="`weir runtime signers list` shows it on the machine that signed.",
        )
    groups = range(0, _FINGERPRINT_DIGITS, _GROUP_DIGITS)
    return "-".join(digits[at : at + _GROUP_DIGITS] for at in groups)


def own(path: Path) -> tuple[Signer, bool]:
    """Return the key in `path`, made if there is none, and whether it was made now.

    Raises: Busy (`signing-key-busy`), and what `load` raises; HostLacks (`disk-full`,
    `not-writable`).
    """
    make_private(path.parent)
    with exclusive(path.with_name("key.lock")) as is_ours:
        if path.exists():
            if stat.S_IMODE(path.stat().st_mode) & 0o077:
                path.chmod(0o600)  # a sync tool or a copy widened it
            return load(path), False
        if not is_ours:
            raise Busy(
                "signing-key-busy",
                f"Another process of the Studio is making the signing key {path}.",
                hint="Run it again.",
            )
        return _make(path), True


def load(path: Path) -> Signer:
    """Return the private key in a file: PEM (PKCS 8) or OpenSSH, without a passphrase.

    Raises: HostLacks (`not-readable`), Damaged (`signing-key-invalid`).
    """
    try:
        with path.open("rb") as file:
            raw = file.read(_KEY_LIMIT_BYTES)
    except OSError as error:
        raise HostLacks(
            "not-readable",
            f"The signing key {path} cannot be read: {error.strerror or error}.",
            hint="Check the path, the file's owner and its permissions.",
        ) from error
    return Signer(_parse(path, raw))


def _parse(path: Path, raw: bytes) -> "Ed25519PrivateKey":
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    is_ssh = b"BEGIN OPENSSH PRIVATE KEY" in raw
    try:
        if is_ssh:
            key: object = serialization.load_ssh_private_key(raw, password=None)
        else:
            key = serialization.load_pem_private_key(raw, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise _unusable(path, str(error)) from error
    if not isinstance(key, Ed25519PrivateKey):
        raise _unusable(path, "it is a key of another kind")
    return key


def own_fingerprint(path: Path) -> str | None:
    """Return the fingerprint of the key in `path`, or None when there is none.

    Raises: as `load`.
    """
    return load(path).fingerprint if os.path.lexists(path) else None


def _make(path: Path) -> Signer:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = Ed25519PrivateKey.generate()
    pem = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    write_atomic(path, pem, mode=0o600)
    return Signer(key)


def _covered(purpose: bytes, message: bytes) -> bytes:
    return purpose + b"\0" + message


def _unusable(path: Path, reason: str) -> Damaged:
    return Damaged(
        "signing-key-invalid",
        f"{path} is no Ed25519 private key without a passphrase: {reason.rstrip('.')}.",
        hint="`openssl genpkey -algorithm ed25519 -out FILE` makes one.",
    )
