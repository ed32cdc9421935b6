"""What tests of downloads share: two files, a quick policy, and three ways to fetch."""

import asyncio
import hashlib
import random
from pathlib import Path

import msgspec
import pytest

from studio.domain.errors import StudioError
from studio.host import download
from studio.host.download import Progress, Wanted
from studio.host.network import Authority, NetworkPolicy
from studio.host.transfer.journal import Journal
from studio.host.transfer.spans import Spans
from tests.fakes import hostile
from tests.fakes.hostile import Hostile
from tests.fakes.waiting import until_async

DATA = random.Random(7).randbytes(1_300_000)
SHA256 = hashlib.sha256(DATA).hexdigest()
LARGE = random.Random(8).randbytes(9_000_000)
LARGE_SHA256 = hashlib.sha256(LARGE).hexdigest()
NAME = "/f%2B1.bin"
QUICK = NetworkPolicy(
    stall_s=5.0, connect_s=30.0, tries=3, tries_midway=3, most_tries=12, back_off_s=0.01,
    back_off_most_s=0.05, block_bytes=1 << 20, wait_most_s=1.0,
)  # fmt: skip

"""For tests in which nobody falls silent: on a busy machine anybody does for a moment."""
IMPATIENT = msgspec.structs.replace(QUICK, stall_s=1.0)


def wanted(
    server: Hostile | str, *, size: int | None = len(DATA), sha256: str | None = SHA256
) -> Wanted:
    """Return DATA as a wish."""
    url = server if isinstance(server, str) else server.url(NAME)
    return Wanted(url=url, sha256=sha256, bytes=size)


def large(server: Hostile, *, sha256: str | None = LARGE_SHA256) -> Wanted:
    """Return LARGE as a wish, of which only the digest may be known."""
    return Wanted(url=server.url("/large"), sha256=sha256)


async def fetch(
    one: Wanted, target: Path, *, policy: NetworkPolicy = QUICK, seen: list[Progress] | None = None
) -> bytes:
    """Fetch, and return what arrived."""
    on_progress = seen.append if seen is not None else None
    path = await download.fetch(one, target, policy=policy, on_progress=on_progress)
    return path.read_bytes()


async def refused(one: Wanted, target: Path, *, policy: NetworkPolicy = QUICK) -> StudioError:
    """Fetch in vain, and return why; nothing has the file's name."""
    with pytest.raises(StudioError) as caught:
        await download.fetch(one, target, policy=policy)
    assert target.name not in names(target.parent)
    return caught.value


def names(folder: Path) -> list[str]:
    """Return what lies in a folder."""
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


def trusting(**changes: object) -> NetworkPolicy:
    """Return the quick policy with the test's own certificate named as an authority."""
    known = Authority(path=hostile.CERTIFICATE, source="SSL_CERT_FILE")
    fields = {name: getattr(QUICK, name) for name in QUICK.__struct_fields__}
    return NetworkPolicy(**{**fields, "authorities": (known,), **changes})


def noted(part: Path) -> int:
    """Return how many bytes the journal of a part knows of; its blocks may all be reserved."""
    file = part.with_name(f"{part.name}.journal")
    if not file.exists():
        return 0
    journal = Journal(file)
    try:
        entry = journal.read()
    finally:
        journal.close()
    return Spans(entry.spans).count if entry is not None else 0


async def cancelled(one: Wanted, target: Path, when: object) -> None:
    """Begin to fetch and stop as a person does with Ctrl+C, as soon as a part holds bytes."""
    part = target.with_name(f"{target.name}.part")
    task = asyncio.ensure_future(download.fetch(one, target, policy=QUICK))
    await until_async(lambda: noted(part) >= when, "some bytes")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
