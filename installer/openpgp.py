"""Signs for apt, with the Ed25519 key of a release: apt believes OpenPGP only.

A public key (RFC 4880, section 5.5.2; EdDSA as in draft-koch-eddsa-for-openpgp-04), a detached and
a clear-signed signature (sections 5.2.4 and 7): what `gpgv` of Debian 12 and `sqv` of Debian 13
read. Equal inputs give equal bytes, because an Ed25519 signature has nothing random in it.
"""

import base64
import hashlib
import struct

from studio.host.signing import Signer

PERSON = "Weir Studio releases"
MADE_AT = 1_600_000_000
"""When the key is said to be made: part of its fingerprint, so the same for all of them."""
_EDDSA = 22
_CURVE = bytes.fromhex("2b06010401da470f01")
"""1.3.6.1.4.1.11591.15.1, Ed25519."""
_SHA512 = 10
_PUBLIC_KEY, _USER_ID, _SIGNATURE = 6, 13, 2
_BINARY, _TEXT, _CERTIFICATION = 0x00, 0x01, 0x13
_MADE, _ISSUER, _FLAGS, _ISSUER_FINGERPRINT = 2, 16, 27, 33
_CERTIFIES_AND_SIGNS = b"\x03"
_LINE = 64
_CRC_START, _CRC_TERM = 0xB704CE, 0x1864CFB
"""RFC 4880, section 6.1."""


def public_key(signer: Signer) -> str:
    """Return the key as people put it into `/etc/apt/keyrings`, armoured."""
    body = _key_body(signer)
    person = PERSON.encode("utf-8")
    covered = _key_hashed(body) + b"\xb4" + struct.pack(">I", len(person)) + person
    proof = _signature(signer, _CERTIFICATION, covered, MADE_AT, flags=_CERTIFIES_AND_SIGNS)
    whole = _packet(_PUBLIC_KEY, body) + _packet(_USER_ID, person) + _packet(_SIGNATURE, proof)
    return _armoured("PUBLIC KEY BLOCK", whole)


def detached(signer: Signer, data: bytes, made_at: int) -> str:
    """Return the signature of a file, armoured: `Release.gpg`."""
    proof = _signature(signer, _BINARY, data, made_at)
    return _armoured("SIGNATURE", _packet(_SIGNATURE, proof))


def clear(signer: Signer, text: str, made_at: int) -> str:
    """Return a text with its signature in one file: `InRelease`."""
    lines = [line.rstrip(" \t\r") for line in text.rstrip("\n").split("\n")]
    proof = _signature(signer, _TEXT, "\r\n".join(lines).encode("utf-8"), made_at)
    escaped = [f"- {line}" if line.startswith("-") else line for line in lines]
    head = "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\n"
    return head + "\n".join(escaped) + "\n" + _armoured("SIGNATURE", _packet(_SIGNATURE, proof))


def fingerprint(signer: Signer) -> str:
    """Return what apt and gpg call the key."""
    return _fingerprint(_key_body(signer)).hex().upper()


def _key_body(signer: Signer) -> bytes:
    point = _number(b"\x40" + signer.public_key)
    head = struct.pack(">BIBB", 4, MADE_AT, _EDDSA, len(_CURVE))
    return head + _CURVE + point


def _key_hashed(body: bytes) -> bytes:
    return b"\x99" + struct.pack(">H", len(body)) + body


def _fingerprint(body: bytes) -> bytes:
    # SHA-1 is what the format names a key by; nothing is proven by it.
    return hashlib.sha1(_key_hashed(body), usedforsecurity=False).digest()


def _signature(
    signer: Signer, kind: int, covered: bytes, made_at: int, *, flags: bytes = b""
) -> bytes:
    name = _fingerprint(_key_body(signer))
    hashed = _part(_MADE, struct.pack(">I", max(made_at, MADE_AT)))
    hashed += _part(_ISSUER_FINGERPRINT, b"\x04" + name)
    hashed += _part(_FLAGS, flags) if flags else b""
    head = struct.pack(">BBBBH", 4, kind, _EDDSA, _SHA512, len(hashed)) + hashed
    end = b"\x04\xff" + struct.pack(">I", len(head))
    digest = hashlib.sha512(covered + head + end).digest()
    proof = signer.sign_digest(digest)
    plain = _part(_ISSUER, name[-8:])
    numbers = _number(proof[:32]) + _number(proof[32:])
    return head + struct.pack(">H", len(plain)) + plain + digest[:2] + numbers


def _part(kind: int, data: bytes) -> bytes:
    return struct.pack(">BB", len(data) + 1, kind) + data


def _packet(tag: int, body: bytes) -> bytes:
    """Return a packet with a length of two bytes, in the old form that everything reads."""
    return struct.pack(">BH", 0x80 | tag << 2 | 1, len(body)) + body


def _number(data: bytes) -> bytes:
    """Return a number as OpenPGP writes it: its bits, then its bytes without leading zeros."""
    value = int.from_bytes(data, "big")
    return struct.pack(">H", value.bit_length()) + value.to_bytes((value.bit_length() + 7) // 8)


def _armoured(kind: str, data: bytes) -> str:
    text = base64.b64encode(data).decode("ascii")
    lines = [text[at : at + _LINE] for at in range(0, len(text), _LINE)]
    check = base64.b64encode(_crc24(data).to_bytes(3)).decode("ascii")
    words = "\n".join([*lines, f"={check}"])
    return f"-----BEGIN PGP {kind}-----\n\n{words}\n-----END PGP {kind}-----\n"


def _crc24(data: bytes) -> int:
    found = _CRC_START
    for byte in data:
        found ^= byte << 16
        for _ in range(8):
            found = found << 1 ^ (_CRC_TERM if found & 0x800000 else 0)
    return found & 0xFFFFFF
