"""Downloads: the plain case, sets of files, and going on where a run ended."""

import asyncio
import hashlib
import time
from pathlib import Path

import pytest

from studio.domain.errors import NetworkFailure
from studio.host import download
from studio.host.download import Job, Progress, Wanted
from studio.host.transfer import digest
from studio.host.transfer import journal as journals
from studio.host.transfer.journal import Journal
from studio.host.transfer.spans import Spans
from tests.fakes import hostile
from tests.fakes.hostile import Hostile
from tests.fakes.waiting import until_async
from tests.host.downloads import (
    DATA,
    LARGE,
    LARGE_SHA256,
    QUICK,
    SHA256,
    cancelled,
    fetch,
    large,
    names,
    refused,
    wanted,
)

# -- the plain case ----------------------------------------------------------------------------


async def test_a_file_arrives_with_progress(server: Hostile, tmp_path: Path) -> None:
    """A name with an accent and a blank; nothing but the file is left."""
    seen: list[Progress] = []

    found = await fetch(wanted(server), tmp_path / "a b" / "ä ö.bin", seen=seen)

    assert found == DATA
    assert (seen[-1].done, seen[-1].total) == (len(DATA), len(DATA))
    assert seen[-1].note is None
    assert seen[-1].warnings == ()
    assert names(tmp_path / "a b") == ["ä ö.bin"]


async def test_a_file_that_is_here_is_not_fetched(server: Hostile, tmp_path: Path) -> None:
    """Also how a file is supplied by hand: put it there, and no server is asked."""
    (tmp_path / "f").write_bytes(DATA)

    await fetch(wanted(server), tmp_path / "f")

    assert server.requests == []


@pytest.mark.parametrize("found", [DATA[:-1], bytes(len(DATA))])
async def test_another_file_under_the_name_is_replaced(
    server: Hostile, tmp_path: Path, found: bytes
) -> None:
    """Copied by hand and cut off, or of another release."""
    (tmp_path / "f").write_bytes(found)

    assert await fetch(wanted(server), tmp_path / "f") == DATA


async def test_a_large_file_comes_in_parts_at_the_same_time(
    server: Hostile, tmp_path: Path
) -> None:
    """Servers that limit each connection are asked over several; each byte comes once."""
    assert await fetch(large(server), tmp_path / "f") == LARGE

    assert server.connections == QUICK.connections
    assert server.sent == len(LARGE)
    assert all(span is not None for span in server.spans)


async def test_an_empty_file_is_a_file(server: Hostile, tmp_path: Path) -> None:
    """`__init__.py` of a model's folder; whatever is known of it."""
    server.files["/empty"] = b""
    nothing = hashlib.sha256(b"").hexdigest()

    for number, one in enumerate(
        [
            Wanted(url=server.url("/empty")),
            Wanted(url=server.url("/empty"), bytes=0, sha256=nothing),
            Wanted(url=server.url("/empty"), sha256=nothing),
        ]
    ):
        assert await fetch(one, tmp_path / str(number)) == b""


async def test_a_digest_in_capitals_is_the_same(server: Hostile, tmp_path: Path) -> None:
    """As some sites print it."""
    assert await fetch(wanted(server, sha256=SHA256.upper()), tmp_path / "f") == DATA


async def test_what_was_begun_goes_when_the_file_came_another_way(
    server: Hostile, tmp_path: Path
) -> None:
    """Half a download of gigabytes must not stay for ever beside what was brought by hand."""
    server.next.append(hostile.broken_off(500_000))
    server.always = hostile.status("404 Gone")
    with pytest.raises(NetworkFailure):
        await fetch(wanted(server), tmp_path / "f")
    assert names(tmp_path) == ["f.part", "f.part.journal"]
    (tmp_path / "f").write_bytes(DATA)

    await fetch(wanted(server), tmp_path / "f")

    assert names(tmp_path) == ["f"]


async def test_a_set_of_nothing_is_done() -> None:
    """A model that needs no further file."""
    await download.fetch_all([], policy=QUICK)


async def test_a_set_of_files_arrives_with_one_progress(server: Hostile, tmp_path: Path) -> None:
    """A model is forty files; the sum is unknown while one of the sizes is."""
    for number in range(9):
        server.files[f"/{number}"] = DATA[: number * 1000]
    jobs = [
        Job(wanted=Wanted(url=server.url(f"/{number}")), target=tmp_path / "m" / f"{number}")
        for number in range(9)
    ]
    seen: list[Progress] = []

    await download.fetch_all(jobs, policy=QUICK, on_progress=seen.append)

    assert [job.target.stat().st_size for job in jobs] == [n * 1000 for n in range(9)]
    assert seen[0].total is None
    assert seen[-1].done == seen[-1].total == 36_000


async def test_the_first_file_that_fails_ends_the_set(server: Hostile, tmp_path: Path) -> None:
    """What the others have so far is kept for the next run."""
    jobs = [
        Job(wanted=Wanted(url=server.url("/none")), target=tmp_path / "none"),
        Job(wanted=wanted(server), target=tmp_path / "f"),
    ]
    server.bytes_per_s = 100_000

    with pytest.raises(NetworkFailure, match="404"):
        await download.fetch_all(jobs, policy=QUICK)

    assert not (tmp_path / "f").exists()


async def test_who_asked_hears_nothing_of_the_work(server: Hostile, tmp_path: Path) -> None:
    """Every token of every client passes the service's event loop: it must not wait for a disk."""
    longest = 0.0

    async def watch() -> None:
        nonlocal longest
        while True:
            before = time.monotonic()
            await asyncio.sleep(0)
            longest = max(longest, time.monotonic() - before)

    async with asyncio.TaskGroup() as group:
        watching = group.create_task(watch())
        await fetch(large(server), tmp_path / "f")
        watching.cancel()

    assert longest < 0.5


# -- going on ----------------------------------------------------------------------------------


@pytest.mark.parametrize("sha256", [LARGE_SHA256, None])
async def test_a_stopped_download_goes_on_where_it_ended(
    server: Hostile, tmp_path: Path, sha256: str | None
) -> None:
    """Gigabytes come over slow lines; only what is missing is fetched again."""
    server.bytes_per_s = 8_000_000
    await cancelled(large(server, sha256=sha256), tmp_path / "f", 2_000_000)
    before = server.sent
    server.bytes_per_s = None

    assert await fetch(large(server, sha256=sha256), tmp_path / "f") == LARGE

    assert before >= 2_000_000
    assert server.sent - len(LARGE) <= 1 << 20
    assert names(tmp_path) == ["f"]


async def test_a_part_that_another_program_left_is_taken_up(
    server: Hostile, tmp_path: Path
) -> None:
    """Without a journal, as curl leaves it; the digest will tell."""
    (tmp_path / "f.part").write_bytes(DATA[:700_000])

    assert await fetch(wanted(server), tmp_path / "f") == DATA
    assert server.sent == len(DATA) - 700_000


async def test_a_whole_part_needs_no_server(server: Hostile, tmp_path: Path) -> None:
    """Killed between the last byte and the rename."""
    (tmp_path / "f.part").write_bytes(DATA)

    assert await fetch(wanted(server), tmp_path / "f") == DATA
    assert server.requests == []


@pytest.mark.parametrize("left", [bytes(600_000), DATA + b"more", b"\xff" * 100])
@pytest.mark.parametrize("size", [None, len(DATA)])
async def test_a_spoiled_part_costs_time_and_nothing_else(
    server: Hostile, tmp_path: Path, left: bytes, size: int | None
) -> None:
    """It came from a disk that went bad or from another file: the source is not blamed for it."""
    (tmp_path / "f.part").write_bytes(left)

    assert await fetch(wanted(server, size=size), tmp_path / "f") == DATA


async def test_without_a_digest_a_part_of_unknown_origin_is_not_used(
    server: Hostile, tmp_path: Path
) -> None:
    """Nothing would tell that its beginning is of another file."""
    (tmp_path / "f.part").write_bytes(bytes(700_000))

    assert await fetch(wanted(server, sha256=None, size=None), tmp_path / "f") == DATA


async def test_a_file_that_changed_between_two_runs_is_not_glued(
    server: Hostile, tmp_path: Path
) -> None:
    """Half of Monday's file and half of Tuesday's is no file; same size, another ETag."""
    server.bytes_per_s = 8_000_000
    await cancelled(large(server, sha256=None), tmp_path / "f", 2_000_000)
    server.bytes_per_s, server.etag = None, '"2"'
    server.files["/large"] = LARGE[::-1]

    assert await fetch(large(server, sha256=None), tmp_path / "f") == LARGE[::-1]


async def test_a_server_that_names_no_version_is_asked_for_everything_again(
    server: Hostile, tmp_path: Path
) -> None:
    """Without ETag, time and digest nothing says that the file is still the same."""
    server.bytes_per_s, server.etag = 8_000_000, None
    await cancelled(large(server, sha256=None), tmp_path / "f", 2_000_000)
    server.bytes_per_s, before = None, server.sent

    assert await fetch(large(server, sha256=None), tmp_path / "f") == LARGE
    assert server.sent - before >= len(LARGE)


async def test_marks_that_flutter_do_not_matter_when_a_digest_decides(
    server: Hostile, tmp_path: Path
) -> None:
    """Machines behind one address give the same file different ETags."""

    def other_mark(exchange: hostile.Exchange) -> bool:
        server.etag = f'"{len(server.requests)}"'
        return hostile.good(exchange)

    server.always = other_mark

    assert await fetch(large(server), tmp_path / "f") == LARGE
    assert server.sent == len(LARGE)


async def test_a_file_that_always_changes_is_given_up(server: Hostile, tmp_path: Path) -> None:
    """A log that is written while it is fetched: said, not tried for ever."""

    def other_mark(exchange: hostile.Exchange) -> bool:
        server.etag = f'"{len(server.requests)}"'
        return hostile.good(exchange)

    server.always = other_mark

    error = await refused(large(server, sha256=None), tmp_path / "f")

    assert "changes while it is fetched" in error.message


async def test_after_a_power_cut_only_what_was_flushed_is_used(
    server: Hostile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The journal says more than the disk kept: what it says of the last boot is not believed."""
    monkeypatch.setattr(digest, "_FLUSH_EVERY", 1 << 20)
    server.bytes_per_s = 8_000_000
    await cancelled(large(server), tmp_path / "f", 4_000_000)
    part = tmp_path / "f.part"
    journal = Journal(part.with_name("f.part.journal"))
    entry = journal.read()
    journal.close()
    assert entry is not None
    monkeypatch.setattr(journals, "boot_id", lambda: "the next boot")
    flushed = entry.believed()
    with part.open("r+b") as file:  # what the disk never saw reads as zeros
        for start, end in Spans(flushed).holes(len(LARGE)):
            file.seek(start)
            file.write(bytes(end - start))
    server.bytes_per_s, before = None, server.sent

    assert await fetch(large(server), tmp_path / "f") == LARGE

    assert 0 < Spans(flushed).count < Spans(entry.spans).count
    assert server.sent - before <= len(LARGE) - Spans(flushed).count + 300_000


async def test_two_at_once_fetch_it_once(server: Hostile, tmp_path: Path) -> None:
    """The second waits, says so, and finds the file."""
    server.bytes_per_s = 3_000_000
    seen: list[Progress] = []

    first = asyncio.ensure_future(fetch(large(server), tmp_path / "f"))
    await until_async(lambda: (tmp_path / "f.part").exists(), "the first")
    second = await fetch(large(server), tmp_path / "f", seen=seen)

    assert await first == second == LARGE
    assert server.sent == len(LARGE)
    assert any("another process" in (one.note or "") for one in seen)
    assert names(tmp_path) == ["f"]
