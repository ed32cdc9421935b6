"""Servers and lines that misbehave: what still arrives, and what is said when it does not."""

import time
from pathlib import Path

import pytest

from studio.domain.errors import Damaged
from studio.host.download import Progress, Wanted
from tests.fakes import hostile
from tests.fakes.hostile import Hostile, Trick
from tests.host.downloads import (
    DATA,
    IMPATIENT,
    LARGE,
    LARGE_SHA256,
    NAME,
    QUICK,
    SHA256,
    fetch,
    large,
    names,
    refused,
    trusting,
    wanted,
)

# -- lines that break --------------------------------------------------------------------------


@pytest.mark.parametrize("abruptly", [False, True])
async def test_a_broken_line_is_taken_up_again(
    server: Hostile, tmp_path: Path, *, abruptly: bool
) -> None:
    """Two breaks in one download are normal on a wireless line; nothing comes twice."""
    server.next += [
        hostile.broken_off(500_000, abruptly=abruptly),
        hostile.broken_off(300_000, abruptly=abruptly),
    ]

    assert await fetch(wanted(server), tmp_path / "f") == DATA
    if not abruptly:  # what a crashed machine has sent may be lost on the way
        assert server.spans == [None, (500_000, len(DATA) - 1), (800_000, len(DATA) - 1)]


async def test_a_body_without_length_that_ends_early_is_not_taken_for_whole(
    server: Hostile, tmp_path: Path
) -> None:
    """A server that says no length ends a body by closing, and so does a crash."""
    server.knows_ranges = server.says_length = False
    server.next.append(hostile.broken_off(500_000))

    assert await fetch(wanted(server), tmp_path / "f") == DATA


@pytest.mark.parametrize("size", [None, len(DATA)])
async def test_a_server_without_ranges_or_length_still_serves(
    server: Hostile, tmp_path: Path, size: int | None
) -> None:
    """Simple file servers send everything each time and do not say how much."""
    server.knows_ranges = server.says_length = False
    seen: list[Progress] = []

    assert await fetch(wanted(server, size=size), tmp_path / "f", seen=seen) == DATA

    assert seen[0].total == size
    assert server.sent == len(DATA)


async def test_without_ranges_a_broken_file_begins_anew(server: Hostile, tmp_path: Path) -> None:
    """There is no other way; the file is right all the same."""
    server.knows_ranges = False
    server.next.append(hostile.broken_off(3_000_000))

    assert await fetch(large(server), tmp_path / "f") == LARGE
    assert server.sent == len(LARGE) + 3_000_000


@pytest.mark.parametrize("by", [1, 100, -1])
async def test_answers_for_another_range_are_not_believed(
    server: Hostile, tmp_path: Path, by: int
) -> None:
    """A cache in between gives out the wrong part: then everything is asked for at once."""
    server.always = hostile.wrong_range(by)

    assert await fetch(large(server), tmp_path / "f") == LARGE


async def test_one_odd_answer_does_not_cost_what_is_here(server: Hostile, tmp_path: Path) -> None:
    """One machine of many ignores ranges; the others do not."""

    def ignores(exchange: hostile.Exchange) -> bool:
        exchange.head("200 OK", {"Content-Length": len(exchange.body)})
        return False

    server.next += [None, None, None, ignores]

    assert await fetch(large(server), tmp_path / "f") == LARGE
    assert server.sent == len(LARGE)


async def test_a_server_that_falls_silent_is_asked_again(server: Hostile, tmp_path: Path) -> None:
    """The machine in between has forgotten the connection: it will be silent for ever."""
    server.next.append(hostile.stalled(500_000))
    seen: list[Progress] = []

    assert await fetch(wanted(server), tmp_path / "f", policy=IMPATIENT, seen=seen) == DATA
    assert server.spans == [None, (500_000, len(DATA) - 1)]


async def test_a_server_that_stays_silent_is_left_for_the_next(
    server: Hostile, tmp_path: Path
) -> None:
    """And what it sent before is kept."""
    with hostile.serving({NAME: DATA}) as silent:
        silent.next.append(hostile.stalled(500_000))
        silent.always = hostile.stalled(0)
        one = Wanted(
            url=silent.url(NAME), mirrors=(server.url(NAME),), sha256=SHA256, bytes=len(DATA)
        )
        seen: list[Progress] = []

        assert await fetch(one, tmp_path / "f", policy=IMPATIENT, seen=seen) == DATA

    assert server.spans == [(500_000, len(DATA) - 1)]
    assert "nothing came for" in seen[-1].warnings[0]


async def test_a_server_that_drips_is_left(server: Hostile, tmp_path: Path) -> None:
    """A byte a second is never silent and never done."""
    server.always = hostile.dripping(0.05)

    error = await refused(wanted(server), tmp_path / "f", policy=IMPATIENT)

    assert "a second and less" in error.message


async def test_a_head_that_never_ends_is_left(server: Hostile, tmp_path: Path) -> None:
    """Each byte comes in time, the answer never."""
    server.always = hostile.endless_head(0.05)

    error = await refused(
        wanted(server), tmp_path / "f", policy=trusting(connect_s=0.1, stall_s=0.5)
    )

    assert "no answer within" in error.message


async def test_the_last_source_is_waited_for_longer_once_it_has_worked(
    server: Hostile, tmp_path: Path
) -> None:
    """A router that restarts takes minutes; one that never answered is not waited for."""
    patient = trusting(tries=2, tries_midway=8)
    server.next.append(hostile.broken_off(500_000))
    server.next.extend(hostile.broken_off(0) for _ in range(6))

    assert await fetch(wanted(server), tmp_path / "f", policy=patient) == DATA

    server.always = hostile.broken_off(0)
    before = len(server.requests)
    await refused(wanted(server), tmp_path / "g", policy=patient)
    assert len(server.requests) - before == 2


@pytest.mark.parametrize("size", [1, 100_000])
async def test_parts_smaller_than_asked_for(server: Hostile, tmp_path: Path, size: int) -> None:
    """Allowed, but not a byte at a time: then everything is asked for at once."""
    server.always = hostile.crumbs(size)

    assert await fetch(large(server), tmp_path / "f") == LARGE
    assert len(server.requests) < 120


async def test_a_line_that_brings_nothing_is_given_up(server: Hostile, tmp_path: Path) -> None:
    """Trying for ever would look like progress; what came is kept."""
    server.next.append(hostile.broken_off(500_000))
    server.always = hostile.broken_off(0)

    error = await refused(wanted(server), tmp_path / "f")

    assert error.code == "download-failed"
    assert len(server.requests) == 1 + QUICK.tries
    assert names(tmp_path) == ["f.part", "f.part.journal"]


async def test_failures_end_even_where_each_brings_something(
    server: Hostile, tmp_path: Path
) -> None:
    """A cap on all of them together."""
    server.always = hostile.broken_off(70_000)

    one_by_one = trusting(connections=1)

    await refused(wanted(server, size=None), tmp_path / "f", policy=one_by_one)

    assert len(server.requests) == QUICK.most_tries


async def test_a_clock_that_jumps_disturbs_nothing(
    server: Hostile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A laptop wakes up, a virtual machine corrects its clock: by a day, forth and back."""
    real, jumps = time.time, iter(range(10**9))
    monkeypatch.setattr(time, "time", lambda: real() + (next(jumps) % 3 - 1) * 86_400)
    server.next += [hostile.broken_off(500_000), hostile.status("503 Busy", {"Retry-After": "0"})]
    seen: list[Progress] = []

    assert await fetch(wanted(server), tmp_path / "f", seen=seen) == DATA
    assert all(one.rate is None or one.rate >= 0 for one in seen)


# -- what servers say --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line", ["401 Who", "403 Forbidden", "404 Not Found", "410 Gone", "451 Law", "418 Teapot"]
)
async def test_a_refusal_is_named_and_not_repeated(
    server: Hostile, tmp_path: Path, line: str
) -> None:
    """The number tells an administrator what to look for."""
    server.always = hostile.status(line)

    error = await refused(wanted(server), tmp_path / "f")

    assert error.code == "download-failed"
    assert line.split()[0] in error.message
    assert len(server.requests) == 1


async def test_without_a_way_the_file_to_bring_is_named(server: Hostile, tmp_path: Path) -> None:
    """Name, size, digest, folder and address: enough to fetch it with any other machine."""
    server.always = hostile.status("404 Not Found")

    error = await refused(wanted(server), tmp_path / "ä" / "f")

    for fact in ("f (1.2 MiB", SHA256, str(tmp_path / "ä"), server.url(NAME)):
        assert fact in (error.hint or "")
    assert error.data == {
        "name": "f", "folder": str(tmp_path / "ä"), "bytes": len(DATA), "sha256": SHA256,
        "url": server.url(NAME),
    }  # fmt: skip


@pytest.mark.parametrize("line", ["500 Oops", "502 Gate", "503 Busy", "429 Slowly", "408 Slow"])
async def test_trouble_that_passes_is_waited_for(
    server: Hostile, tmp_path: Path, line: str
) -> None:
    """Large sites restart a machine at any time."""
    server.next += [hostile.status(line), hostile.status(line)]

    assert await fetch(wanted(server), tmp_path / "f") == DATA


@pytest.mark.parametrize("line", ["500 Oops", "429 Slowly"])
async def test_trouble_that_stays_ends(server: Hostile, tmp_path: Path, line: str) -> None:
    """With the number, and after as many tries as the policy allows."""
    server.always = hostile.status(line)

    error = await refused(wanted(server), tmp_path / "f")

    assert line.split()[0] in error.message
    assert len(server.requests) == QUICK.tries


@pytest.mark.parametrize(
    "headers",
    [
        {"Retry-After": "1"},
        {
            "Retry-After": "Sun, 01 Jan 2040 00:00:01 GMT",
            "Date": "Sun, 01 Jan 2040 00:00:00 GMT",
        },
    ],
    ids=["seconds", "moment"],
)
async def test_a_server_that_asks_to_wait_is_waited_for(
    server: Hostile, tmp_path: Path, headers: dict[str, str]
) -> None:
    """A moment is read by the server's own clock."""
    server.next.append(hostile.status("429 Slowly", headers))
    began = time.monotonic()

    assert await fetch(wanted(server), tmp_path / "f") == DATA
    assert time.monotonic() - began >= 1.0


async def test_a_server_that_asks_to_wait_for_an_hour_is_left(
    server: Hostile, tmp_path: Path
) -> None:
    """The next mirror is nearer."""
    server.always = hostile.status("503 Later", {"Retry-After": "3600"})

    await refused(wanted(server), tmp_path / "f")

    assert len(server.requests) == 1


async def test_a_server_that_allows_one_connection_gets_one(
    server: Hostile, tmp_path: Path
) -> None:
    """Extra connections that are refused are given up; the first goes on, and nothing fails."""
    busy: set[int] = set()

    def one_only(exchange: hostile.Exchange) -> bool:
        if busy - {id(exchange.connection)}:
            return hostile.status("429 Too many")(exchange)
        busy.add(id(exchange.connection))
        return hostile.good(exchange)

    server.always = one_only

    assert await fetch(large(server), tmp_path / "f") == LARGE
    assert server.sent == len(LARGE)


# -- wrong bytes -------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [None, len(DATA)])
async def test_wrong_bytes_never_get_the_files_name(
    server: Hostile, tmp_path: Path, size: int | None
) -> None:
    """Another release, an attack: the source is named, and nothing is left."""
    server.files[NAME] = DATA[::-1]

    error = await refused(wanted(server, size=size), tmp_path / "f")

    assert isinstance(error, Damaged)
    assert error.code == "download-hash"
    assert server.url(NAME) in error.message
    assert names(tmp_path) == []


async def test_a_mirror_that_lies_is_named_and_the_next_one_asked(
    server: Hostile, tmp_path: Path
) -> None:
    """Same size, other bytes: only the digest tells."""
    with hostile.serving({NAME: DATA[::-1]}) as liar:
        one = Wanted(
            url=liar.url(NAME), mirrors=(server.url(NAME),), sha256=SHA256, bytes=len(DATA)
        )
        seen: list[Progress] = []

        assert await fetch(one, tmp_path / "f", seen=seen) == DATA

    assert liar.url(NAME) in seen[-1].warnings[0]
    assert "expected sha256" in seen[-1].warnings[0]


async def test_a_mixture_is_not_blamed_on_the_last_of_its_sources(
    server: Hostile, tmp_path: Path
) -> None:
    """The first half came from a liar that broke off; the honest one is asked for everything."""
    with hostile.serving({NAME: DATA[::-1]}) as liar:
        liar.next.append(hostile.broken_off(700_000))
        liar.always = hostile.status("404 Gone")
        one = Wanted(
            url=liar.url(NAME), mirrors=(server.url(NAME),), sha256=SHA256, bytes=len(DATA)
        )

        assert await fetch(one, tmp_path / "f") == DATA

    assert [span is None for span in server.spans] == [False, True]


async def test_when_all_lie_all_are_named(server: Hostile, tmp_path: Path) -> None:
    """A user needs to know that it was not one bad mirror."""
    server.files[NAME] = DATA[::-1]
    with hostile.serving({NAME: DATA[:-1]}) as liar:
        one = Wanted(url=liar.url(NAME), mirrors=(server.url(NAME),), sha256=SHA256)

        error = await refused(one, tmp_path / "f")

    assert liar.url(NAME) in error.message
    assert server.url(NAME) in error.message
    assert len(error.evidence) == 2


async def test_a_file_that_does_not_end_is_stopped(server: Hostile, tmp_path: Path) -> None:
    """Its size is known; more than that is not written."""
    server.knows_ranges = server.says_length = False
    server.files[NAME] = DATA + bytes(8_000_000)

    error = await refused(wanted(server), tmp_path / "f")

    assert "longer" in error.message
    assert server.sent < len(DATA) + 8_000_000


async def test_another_size_is_said_before_anything_is_fetched(
    server: Hostile, tmp_path: Path
) -> None:
    """Twenty gigabytes of the wrong file are not fetched to find out."""
    server.files["/large"] = LARGE[:-1]
    one = Wanted(url=server.url("/large"), sha256=LARGE_SHA256, bytes=len(LARGE))

    error = await refused(one, tmp_path / "f")

    assert error.code == "download-hash"
    assert "8,999,999" in error.message


async def test_a_login_page_is_called_so(server: Hostile, tmp_path: Path) -> None:
    """The network of a hotel answers 200 to everything."""
    server.next.append(hostile.redirect("/login?token=secret"))
    server.always = hostile.login_page

    error = await refused(wanted(server), tmp_path / "f")

    assert error.code == "login-page"
    assert "a login page answered" in error.message
    assert "/login" in error.message
    assert "secret" not in error.message


async def test_a_page_that_is_wanted_is_no_login_page(server: Hostile, tmp_path: Path) -> None:
    """A model's folder may hold one."""
    server.headers["Content-Type"] = "text/html"

    assert await fetch(wanted(server), tmp_path / "readme.html") == DATA


@pytest.mark.parametrize("trick", [hostile.packed_for_the_way, hostile.mislabelled])
@pytest.mark.parametrize("size", [None, len(DATA)])
async def test_compression_on_the_way_does_not_reach_the_file(
    server: Hostile, tmp_path: Path, trick: Trick, size: int | None
) -> None:
    """A proxy packs what nobody asked it to; a server calls a packed file's own bytes so."""
    server.always = trick
    name = "f.tar.gz" if trick is hostile.mislabelled else "f.bin"

    assert await fetch(wanted(server, size=size), tmp_path / name) == DATA
