"""Whose runtimes may be installed out of a file: a list of fingerprints, and the own key.

<home>/signing/key            the Studio's own private key (mode 0600), made at first need
<home>/signing/signers.json   who is trusted beside it
"""

import datetime
from pathlib import Path

import msgspec

from studio.domain.bundles import Signer, SignerList
from studio.domain.errors import BadInput, Busy, NotFound
from studio.host import signing
from studio.host.documents import read_json, write_json
from studio.host.files import exclusive, make_private
from studio.host.paths import Paths

_NAME_LIMIT = 100


class _Trusted(msgspec.Struct, frozen=True, kw_only=True):
    """`signers.json`."""

    signers: tuple[Signer, ...] = ()


def key_file(paths: Paths) -> Path:
    """Return where the Studio's own private key lies."""
    return paths.signing / "key"


def listed(paths: Paths) -> SignerList:
    """Return everybody who is trusted; the Studio's own key first, once there is one.

    Raises: Damaged (`document-damaged`, `signing-key-invalid`), HostLacks (`not-readable`).
    """
    fingerprint = signing.own_fingerprint(key_file(paths))
    own = (Signer(fingerprint=fingerprint, is_own=True),) if fingerprint is not None else ()
    return SignerList(signers=(*own, *_read(paths)))


def find(paths: Paths, fingerprint: str) -> Signer | None:
    """Return a trusted signer, or None when nobody trusts this one.

    Raises: as `listed`.
    """
    found = (one for one in listed(paths).signers if one.fingerprint == fingerprint)
    return next(found, None)


def trust(paths: Paths, fingerprint: str, name: str | None = None) -> SignerList:
    """Trust a signer from now on; a name that is given replaces an older one.

    Raises: BadInput (`fingerprint-invalid`, `signer-name`), Busy (`signers-busy`), HostLacks
    (`disk-full`, `not-writable`), and what `listed` raises.
    """
    fingerprint = signing.read_fingerprint(fingerprint)
    name = _checked(name)
    with _Locked(paths):
        before = _read(paths)
        old = next((one for one in before if one.fingerprint == fingerprint), None)
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        new = Signer(
            fingerprint=fingerprint,
            name=name or (old.name if old is not None else None),
            trusted_at=old.trusted_at if old is not None else now,
        )
        _write(paths, (*(one for one in before if one.fingerprint != fingerprint), new))
    return listed(paths)


def _fingerprint_or_none(reference: str) -> str | None:
    """Return what was typed as a fingerprint; None when it is a name."""
    try:
        return signing.read_fingerprint(reference)
    except BadInput:
        return None


def forget(paths: Paths, reference: str) -> SignerList:
    """Trust a signer no more, by fingerprint or name. What was installed stays.

    Raises: NotFound (`signer-not-trusted`), BadInput (`signer-own`, `signer-ambiguous`), and what
    `trust` raises.
    """
    with _Locked(paths):
        before = _read(paths)
        gone = [one for one in before if reference in (one.name, one.fingerprint)]
        if not gone:
            fingerprint = _fingerprint_or_none(reference)
            if fingerprint is not None and fingerprint == signing.own_fingerprint(key_file(paths)):
                raise BadInput(
                    "signer-own",
                    "That is the Studio's own key, which is always trusted here.",
                    hint=f"To have another one, remove {key_file(paths)}; the next export makes "
                    "it.",
                )
            gone = [one for one in before if one.fingerprint == fingerprint]
        if not gone:
            raise NotFound(
                "signer-not-trusted",
                f"Nobody with the fingerprint or name `{reference}` is trusted here.",
                hint="`weir runtime signers list` shows who is.",
            )
        if len(gone) > 1:
            raise BadInput(
                "signer-ambiguous",
                f"{len(gone)} signers are called `{reference}`.",
                hint="Give the fingerprint.",
            )
        _write(paths, tuple(one for one in before if one not in gone))
    return listed(paths)


class _Locked:
    """Holds the list while it is changed."""

    def __init__(self, paths: Paths) -> None:
        make_private(paths.signing)
        self._lock = exclusive(paths.signing / "signers.lock")

    def __enter__(self) -> None:
        if not self._lock.__enter__():
            self._lock.__exit__(None, None, None)
            raise Busy(
                "signers-busy",
                "Another process of the Studio changes the list of signers.",
                hint="Run it again.",
            )

    def __exit__(self, *_error: object) -> None:
        self._lock.__exit__(None, None, None)


def _checked(name: str | None) -> str | None:
    if name is None:
        return None
    name = name.strip()
    if not name or len(name) > _NAME_LIMIT or not name.isprintable():
        raise BadInput(
            "signer-name",
            f"A signer's name has 1 to {_NAME_LIMIT} printable characters.",
            hint="Leave it out, or choose another one.",
        )
    return name


def _file(paths: Paths) -> Path:
    return paths.signing / "signers.json"


def _read(paths: Paths) -> tuple[Signer, ...]:
    found = read_json(_file(paths), _Trusted)
    return found.signers if found is not None else ()


def _write(paths: Paths, trusted: tuple[Signer, ...]) -> None:
    write_json(_file(paths), _Trusted(signers=trusted), mode=0o600)
