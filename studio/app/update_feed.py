"""Reads the feed of releases and believes it only when the release key signed it.

Refused: a wrong or missing signature, a feed older than one seen before (a replay), one past its
end, one from the future, one that is not understood. Only then is anything in it used.
"""

import base64
import binascii
import datetime
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from studio.domain.errors import BadInput, Damaged, HostLacks, NotFound
from studio.domain.self_update import (
    CLOCK_SLACK_S,
    FEED_FILE,
    FEED_PURPOSE,
    FEED_SCHEMA,
    SIGNATURE_SUFFIX,
    Feed,
)
from studio.host import signing, small_file
from studio.host.documents import read_toml
from studio.host.network import NetworkPolicy, redacted
from studio.host.transfer.wanted import local_path

_FEED_BYTES = 1 << 20
_SIGNATURE_BYTES = 4 << 10


class Release(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`assets/release.toml`: what this build was told about its releases."""

    schema_version: int
    feed: str = ""
    signers: tuple[str, ...] = ()
    """Fingerprints of the keys that may sign a feed."""


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """A feed that was proven."""

    address: str
    feed: Feed
    raw: bytes
    signature: bytes

    def address_of(self, file: str) -> str:
        """Return where a file of the release lies: beside the feed."""
        local = local_path(self.address)
        if local is not None:
            return str(local.with_name(file))
        return f"{self.address.rpartition('/')[0]}/{file}"


def release(root: Path) -> Release:
    """Return what this build was told. Raises: NotFound, BadInput (`document-invalid`)."""
    return read_toml(root / "assets" / "release.toml", Release)


def address(known: Release, source: str | None) -> str:
    """Return the address of the feed: as asked for, else as this build was told.

    Raises: NotFound (`update-feed-unknown`), BadInput (`path-relative`).
    """
    text = (source or known.feed).strip()
    if not text:
        raise NotFound(
            "update-feed-unknown",
            "This build of the Studio was not told where its releases are announced.",
            hint="Name the folder or address of a release: `weir update check --from PLACE`.",
        )
    local = local_path(text)
    if local is not None:
        if not local.is_absolute():
            raise BadInput(
                "path-relative", f"`{text}` is no absolute path.", hint="Give the whole path."
            )
        return str(local / FEED_FILE) if local.is_dir() else str(local)
    return text if text.endswith(".json") else f"{text.rstrip('/')}/{FEED_FILE}"


async def fetch(
    known: Release,
    source: str | None,
    policy: NetworkPolicy,
    *,
    seen: int,
    now: Callable[[], float] = time.time,
) -> Found:
    """Return the feed at an address, proven. `seen` is the highest sequence that was ever believed.

    Raises: NotFound (`update-feed-unknown`, `update-signer-unknown`), Damaged
    (`update-signature`, `update-feed-damaged`, `update-replayed`, `update-expired`), HostLacks
    (`update-clock`), and what `small_file.read` raises.
    """
    where = address(known, source)
    if not known.signers:
        raise NotFound(
            "update-signer-unknown",
            "This build of the Studio knows no key that signs its releases, so none can be proven.",
            hint="Fetch a package by hand, and hold it against the published SHA256SUMS.",
        )
    raw = await small_file.read(where, policy, most_bytes=_FEED_BYTES)
    signature = await small_file.read(
        f"{where}{SIGNATURE_SUFFIX}", policy, most_bytes=_SIGNATURE_BYTES
    )
    require_signed(raw, signature, known.signers, redacted(where))
    feed = parse(raw, redacted(where))
    _require_now(feed, seen, now())
    return Found(address=where, feed=feed, raw=raw, signature=signature)


def require_signed(raw: bytes, signature: bytes, signers: tuple[str, ...], shown: str) -> None:
    """Refuse bytes that no known key signed as a feed. Raises: Damaged (`update-signature`)."""
    try:
        both = base64.b64decode(signature.strip(), validate=True)
    except (binascii.Error, ValueError):
        both = b""
    key, proof = both[: signing.PUBLIC_KEY_BYTES], both[signing.PUBLIC_KEY_BYTES :]
    is_known = signing.fingerprint(key) in signers
    if not (is_known and signing.is_valid(key, proof, FEED_PURPOSE, raw)):
        signer = signing.fingerprint(key) if len(key) == signing.PUBLIC_KEY_BYTES else ""
        raise Damaged(
            "update-signature",
            f"{shown} is not signed by the Studio's release key"
            + (f", but by {signer}." if signer and not is_known else "."),
            hint="Nothing was changed. Do not use files from that place.",
        )


def parse(raw: bytes, shown: str) -> Feed:
    """Return the feed in signed bytes. Raises: Damaged (`update-feed-damaged`)."""
    try:
        feed = msgspec.json.decode(raw, type=Feed)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _strange(shown, str(error)) from error
    if feed.schema_version != FEED_SCHEMA:
        raise _strange(
            shown, f"schema_version should be {FEED_SCHEMA}, found {feed.schema_version}"
        )
    return feed


def _require_now(feed: Feed, seen: int, now: float) -> None:
    if feed.sequence < seen:
        raise Damaged(
            "update-replayed",
            f"The feed is older than one that was seen before (number {feed.sequence} after "
            f"{seen}): somebody may be holding back updates.",
            hint="Nothing was changed. Try again later, or from another network.",
        )
    if feed.issued_at > now + CLOCK_SLACK_S:
        raise HostLacks(
            "update-clock",
            f"The feed was signed on {_day(feed.issued_at)}, which this machine's clock has "
            f"not reached: it says {_day(now)}.",
            hint="Set the clock, then try again.",
        )
    if feed.expires_at < now:
        raise Damaged(
            "update-expired",
            f"The feed was good until {_day(feed.expires_at)}; it is {_day(now)}.",
            hint="Try again later, or check the clock of this machine.",
        )


def _day(seconds: float) -> str:
    try:
        return datetime.datetime.fromtimestamp(seconds, datetime.UTC).date().isoformat()
    except (OverflowError, ValueError, OSError):
        return "a day that no calendar has"


def _strange(shown: str, reason: str) -> Damaged:
    return Damaged(
        "update-feed-damaged",
        f"{shown} is signed, but this version does not understand it: {reason.rstrip('.')}.",
        hint="Fetch the newest package by hand; nothing was changed.",
    )
