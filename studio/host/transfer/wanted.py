"""Which file is wanted, and in what words it is said that it cannot be had."""

import urllib.parse
import urllib.request
from pathlib import Path

import msgspec

from studio.domain.errors import Damaged, NetworkFailure
from studio.domain.units import bytes_text
from studio.host.network import NetworkPolicy, redacted
from studio.host.transfer.faults import HINTS, Fault, Kind


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """A file to fetch: each address is `http(s)://`, `file://` or a plain path."""

    url: str
    mirrors: tuple[str, ...] = ()
    """Asked after `url`, in order. Those of the network policy are asked before it."""
    sha256: str | None = None
    bytes: int | None = None
    git_blob: str | None = None
    """Git's name of the content (sha1 as hex), where no sha256 is known; `bytes` has to be."""
    headers: dict[str, str] = {}
    """For `url` only, for example a token; another host that it redirects to does not get it."""

    @property
    def digest(self) -> str | None:
        """Return what the content is proven by, the same for every source; None: by nothing."""
        if self.sha256 is not None or self.git_blob is None:
            return self.sha256
        return f"git:{self.git_blob.lower()}"

    def addresses(self, policy: NetworkPolicy) -> tuple[str, ...]:
        """Return every address in the order in which it is asked; without network the local ones.

        An address of the policy's mirrors stands before the one that it mirrors.
        """
        every = (address for url in (self.url, *self.mirrors) for address in policy.addresses(url))
        found = tuple(dict.fromkeys(every))
        return tuple(one for one in found if local_path(one)) if policy.offline else found


def local_path(address: str) -> Path | None:
    """Return the path that an address on this machine names, or None for one of a network."""
    if address.startswith("file:"):
        return Path(urllib.request.url2pathname(urllib.parse.urlsplit(address).path))
    return None if "://" in address else Path(address).expanduser()


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """What one source did."""

    shown: str
    """Its address, without secrets."""
    fault: Fault

    @property
    def text(self) -> str:
        """Return it as one sentence."""
        return f"{self.shown}: {self.fault.reason}."


def unreachable(wanted: Wanted, target: Path, failures: list[Failure]) -> NetworkFailure | Damaged:
    """Return the error for a file that no source gives out whole."""
    first = failures[0]
    wrong = [failure for failure in failures if failure.fault.kind is Kind.WRONG]
    evidence = tuple(failure.text for failure in failures) if len(failures) > 1 else ()
    if wrong:
        return Damaged(
            "download-hash",
            f"What {_named(wrong)} delivers is not the expected file: {wrong[0].fault.reason}.",
            hint=HINTS[Kind.WRONG],
            evidence=evidence,
            data=_data(wanted, target),
        )
    kinds = {failure.fault.kind for failure in failures}
    kind = first.fault.kind if len(kinds) == 1 else Kind.FAILED
    more = len(failures) - 1
    others = f" {more} more sources failed too." if more > 1 else ""
    others = " 1 more source failed too." if more == 1 else others
    return NetworkFailure(
        kind.value,
        f"{first.shown} cannot be fetched: {first.fault.reason}.{others}",
        hint=f"{HINTS[kind]} {by_hand(wanted, target)}",
        evidence=evidence,
        data=_data(wanted, target),
    )


def switched_off(wanted: Wanted, target: Path, policy: NetworkPolicy) -> NetworkFailure:
    """Return the error for a file that is not here while the network is switched off."""
    return NetworkFailure(
        "offline",
        f"{target.name} is not here, and the network is switched off by {policy.offline_source}.",
        hint=f"{by_hand(wanted, target)} Or switch the network on: "
        "`weir network --set offline=off`.",
        data=_data(wanted, target),
    )


def by_hand(wanted: Wanted, target: Path) -> str:
    """Say which file to put where when there is no network."""
    size = bytes_text(wanted.bytes) if wanted.bytes is not None else None
    sha256 = f"sha256 {wanted.sha256}" if wanted.sha256 is not None else None
    facts = ", ".join(fact for fact in (size, sha256) if fact is not None)
    return (
        f"Or bring the file by hand: {target.name}{f' ({facts})' if facts else ''} "
        f"into {target.parent}, from {redacted(wanted.url)}."
    )


def _named(failures: list[Failure]) -> str:
    names = [failure.shown for failure in failures]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def _data(wanted: Wanted, target: Path) -> dict[str, str | int | float | bool | None]:
    return {
        "name": target.name,
        "folder": str(target.parent),
        "bytes": wanted.bytes,
        "sha256": wanted.sha256,
        "url": redacted(wanted.url),
    }
