"""Files over HTTP or from a folder: whole or absent, resumed after a kill, verified as they come.

A file has an address, mirrors, and a size and sha256 as far as they are known. Its unfinished form
has a fixed name beside it (`.part`, with a journal), so the next run goes on where the last one
ended, and two runs at once wait for one another. The file gets its own name when size and digest
are right: a file under its own name is whole. Why it is built so: docs/decisions/0009-downloads.md.
"""

import asyncio
import functools
from collections.abc import Callable, Sequence
from pathlib import Path

import httpx
import msgspec

from studio.host import network, network_client
from studio.host.network import NetworkPolicy
from studio.host.tasks import beside, together
from studio.host.threads import in_own_loop
from studio.host.transfer.fetching import Fetching
from studio.host.transfer.progress import Progress, Tracker
from studio.host.transfer.wanted import Wanted

__all__ = ["Job", "Progress", "Wanted", "fetch", "fetch_all"]

_REPORT_S = 0.2
_TOGETHER = 4
"""Files of one set that are fetched at a time; together they have twice one's connections."""
OnProgress = Callable[[Progress], None]


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """A file of a set, and where it goes."""

    wanted: Wanted
    target: Path


async def fetch(
    wanted: Wanted,
    target: Path,
    *,
    policy: NetworkPolicy | None = None,
    on_progress: OnProgress | None = None,
) -> Path:
    """Bring one file to `target`; a whole one that is there already costs nothing.

    `policy` None: as the environment and pip's files say. `on_progress` is called five times a
    second, on the caller's event loop.

    Raises: NetworkFailure (`download-failed`, `offline`, `certificate-untrusted`, `proxy-refused`,
    `login-page`), Damaged (`download-hash`), HostLacks (`disk-space`, `disk-full`,
    `not-writable`, `client-certificate-invalid`).
    """
    await fetch_all([Job(wanted=wanted, target=target)], policy=policy, on_progress=on_progress)
    return target


async def fetch_all(
    jobs: Sequence[Job],
    *,
    policy: NetworkPolicy | None = None,
    on_progress: OnProgress | None = None,
) -> None:
    """Bring a set of files; the first that cannot be had ends the others, which are resumed later.

    `on_progress` gets the sum of all; a total is known when those of all files are. The work runs
    on an event loop of its own: writing must not hold up the tokens that pass through the caller's.

    Raises: as `fetch`.
    """
    in_force = policy or network.in_force()
    caller = asyncio.get_running_loop()

    def report(progress: Progress) -> None:
        if on_progress is not None:
            caller.call_soon_threadsafe(on_progress, progress)

    if len(jobs) > 1:
        share = 2 * in_force.connections // min(len(jobs), _TOGETHER)
        in_force = msgspec.structs.replace(in_force, connections=max(1, share))
    files = [Fetching(job.wanted, job.target, in_force) for job in jobs]
    await in_own_loop(lambda: _run(files, in_force, report))


async def _run(files: Sequence[Fetching], policy: NetworkPolicy, report: OnProgress) -> None:
    tracker = Tracker()
    turns = asyncio.Semaphore(_TOGETHER)
    made: list[httpx.AsyncClient] = []

    def client() -> httpx.AsyncClient:
        """Return the one client of the set; reading certificates takes 50 ms, so not in vain."""
        if not made:
            made.append(network_client.client(policy))
        return made[0]

    async def one(file: Fetching) -> None:
        async with turns:
            await file.run(client)

    async def tick() -> None:
        while True:
            report(_now(files, tracker))
            await asyncio.sleep(_REPORT_S)

    try:
        works = [functools.partial(one, file) for file in files]
        await beside(lambda: together(works), tick)
        report(_now(files, tracker))
    finally:
        for opened in made:
            await opened.aclose()


def _now(files: Sequence[Fetching], tracker: Tracker) -> Progress:
    totals = [file.total for file in files]
    known = [total for total in totals if total is not None]
    notes = [file.note for file in files if file.note is not None]
    tracker.note = notes[-1] if notes else None
    tracker.warnings = [warning for file in files for warning in file.warnings]
    return tracker.at(
        asyncio.get_running_loop().time(),
        sum(file.done for file in files),
        sum(known) if len(known) == len(totals) else None,
    )
