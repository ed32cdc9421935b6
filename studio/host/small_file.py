"""Reads a small file whole, from a folder or over HTTP; what is larger than allowed is refused.

For what decides what is fetched next, such as a feed: it is never resumed and nothing is kept.
"""

import asyncio
from pathlib import Path

import httpx

from studio.domain.errors import Damaged, NetworkFailure, NotFound
from studio.host import network_client
from studio.host.network import NetworkPolicy, redacted
from studio.host.transfer.faults import HINTS, Fault
from studio.host.transfer.source import Source
from studio.host.transfer.wanted import local_path


async def read(address: str, policy: NetworkPolicy, *, most_bytes: int) -> bytes:
    """Return the bytes at an address: `http(s)://`, `file://` or a plain path.

    The policy's mirrors are asked first, each once; the last refusal is raised.

    Raises: NetworkFailure (`offline`, `download-failed`, …), NotFound (`file-missing`), Damaged
    (`file-too-large`), HostLacks (`client-certificate-invalid`).
    """
    local = local_path(address)
    if local is not None:
        return await asyncio.to_thread(_from_disk, local, most_bytes)
    if policy.offline:
        raise NetworkFailure(
            "offline",
            f"{redacted(address)} was not asked: the network is switched off by "
            f"{policy.offline_source}.",
            hint=policy.switch_on,
        )
    failed: Fault | None = None
    async with network_client.client(policy) as client:
        for one in policy.addresses(address):
            try:
                return await _asked(one, policy, client, most_bytes)
            except Fault as fault:
                failed = fault
    assert failed is not None, "an address has at least itself"
    raise NetworkFailure(
        failed.kind.value,
        f"{redacted(address)} cannot be fetched: {failed.reason}.",
        hint=HINTS[failed.kind],
    ) from failed


async def _asked(
    address: str, policy: NetworkPolicy, client: httpx.AsyncClient, most_bytes: int
) -> bytes:
    within_s = policy.connect_s + 2 * policy.stall_s
    try:
        async with asyncio.timeout(within_s), Source(address, client, policy, {}).open({}) as got:
            if not got.is_success:
                raise Fault(f"it answers {got.status_code}")
            found = bytearray()
            async for piece in got.aiter_bytes():
                found += piece
                if len(found) > most_bytes:
                    raise _too_large(redacted(address), most_bytes)
            return bytes(found)
    except TimeoutError as error:
        raise Fault(f"no answer within {within_s:.0f} s") from error


def _from_disk(path: Path, most_bytes: int) -> bytes:
    try:
        with path.open("rb") as file:
            found = file.read(most_bytes + 1)
    except OSError as error:
        raise NotFound(
            "file-missing",
            f"{path} cannot be read: {error.strerror or error}.",
            hint="Check the name, and that the disk it lies on is there.",
        ) from error
    if len(found) > most_bytes:
        raise _too_large(str(path), most_bytes)
    return found


def _too_large(shown: str, most_bytes: int) -> Damaged:
    return Damaged(
        "file-too-large",
        f"{shown} is larger than the {most_bytes:,} bytes that such a file may have.",
        hint="Check the address: something else answers there.",
    )
