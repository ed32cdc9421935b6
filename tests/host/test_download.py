"""Downloads from a loopback server that misbehaves in every way that servers do."""

import asyncio
import contextlib
import hashlib
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from studio.domain.errors import Damaged, NetworkFailure
from studio.host import download
from studio.host.download import Wanted

DATA = hashlib.sha256(b"seed").digest() * 40_000
SHA256 = hashlib.sha256(DATA).hexdigest()


class Server:
    """Serves DATA; the flags say how badly. Keeps the Range of every request."""

    def __init__(self) -> None:
        self.body = DATA
        self.knows_ranges = True
        self.says_length = True
        self.breaks_after: list[int] = []
        """Bytes after which the next answers are cut off, one entry an answer."""
        self.status = "200 OK"
        self.location = ""
        self.ranges: list[str] = []
        self.sent = 0
        self.url = ""

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request and close."""
        lines = (await reader.readuntil(b"\r\n\r\n")).decode().splitlines()
        headers = dict(line.lower().split(": ", 1) for line in lines[1:] if line)
        self.ranges.append(headers.get("range", ""))
        start = 0
        head = [f"HTTP/1.1 {self.status}"]
        if self.location and "moved" not in lines[0]:
            head = ["HTTP/1.1 302 Found", f"Location: {self.location}"]
            self.ranges.pop()
        elif headers.get("range") and self.knows_ranges:
            start = int(headers["range"].removeprefix("bytes=").rstrip("-"))
            last = len(self.body) - 1
            head = ["HTTP/1.1 206 Partial", f"Content-Range: bytes {start}-{last}/{last + 1}"]
            if start > last:
                head = ["HTTP/1.1 416 Range"]
        body = b"" if self.location and "moved" not in lines[0] else self.body[start:]
        if self.says_length:
            head.append(f"Content-Length: {len(body)}")
        body = body[: self.breaks_after.pop(0)] if self.breaks_after else body
        writer.write("\r\n".join([*head, "Connection: close", "", ""]).encode() + body)
        self.sent += len(body)
        with contextlib.suppress(ConnectionError):
            await writer.drain()
            writer.close()
            await writer.wait_closed()


@pytest.fixture
async def server(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Server]:
    """Serve on a free port; no proxy of this machine stands between."""
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    served = Server()
    listening = await asyncio.start_server(served.answer, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    served.url = f"http://127.0.0.1:{port}/f%2B1.bin"
    async with listening:
        yield served


def wanted(url: str, *, size: int | None = len(DATA)) -> Wanted:
    """Return DATA as a wish."""
    return Wanted(url=url, sha256=SHA256, bytes=size)


def names(folder: Path) -> list[str]:
    """Return what lies in a folder."""
    return sorted(path.name for path in folder.iterdir())


async def test_a_file_arrives_with_progress(server: Server, tmp_path: Path) -> None:
    """The plain case; the part file is gone afterwards."""
    seen: list[tuple[int, int | None]] = []

    path = await download.fetch(
        wanted(server.url), tmp_path / "a b" / "ä.bin", on_bytes=lambda *now: seen.append(now)
    )

    assert path.read_bytes() == DATA
    assert seen[-1] == (len(DATA), len(DATA))
    assert names(path.parent) == ["ä.bin"]


async def test_a_file_that_is_here_is_not_fetched(server: Server, tmp_path: Path) -> None:
    """Also how a file is supplied by hand: put it there, and no server is asked."""
    (tmp_path / "f").write_bytes(DATA)

    await download.fetch(wanted(server.url), tmp_path / "f")

    assert server.ranges == []


async def test_a_killed_download_goes_on_where_it_ended(server: Server, tmp_path: Path) -> None:
    """Gigabytes are fetched over slow lines; only what is missing is fetched again."""
    (tmp_path / "f.part").write_bytes(DATA[:700_000])

    await download.fetch(wanted(server.url), tmp_path / "f")

    assert server.ranges == ["bytes=700000-"]
    assert server.sent == len(DATA) - 700_000
    assert (tmp_path / "f").read_bytes() == DATA


async def test_a_whole_part_needs_no_server(server: Server, tmp_path: Path) -> None:
    """Killed between the last byte and the rename."""
    (tmp_path / "f.part").write_bytes(DATA)

    await download.fetch(wanted(server.url), tmp_path / "f")

    assert server.ranges == []


async def test_a_broken_line_is_taken_up_again(server: Server, tmp_path: Path) -> None:
    """Two breaks in one download are normal on a wireless line."""
    server.breaks_after = [500_000, 300_000]

    await download.fetch(wanted(server.url), tmp_path / "f")

    assert server.ranges == ["", "bytes=500000-", "bytes=800000-"]
    assert (tmp_path / "f").read_bytes() == DATA


async def test_a_line_that_brings_nothing_is_given_up(server: Server, tmp_path: Path) -> None:
    """Trying for ever would look like progress."""
    server.breaks_after = [500_000, 0, 0, 0]

    with pytest.raises(NetworkFailure) as caught:
        await download.fetch(wanted(server.url), tmp_path / "f")

    assert caught.value.code == "download-failed"
    assert len(server.ranges) == 2
    assert (tmp_path / "f.part").stat().st_size == 500_000


async def test_a_server_without_ranges_or_length_still_serves(
    server: Server, tmp_path: Path
) -> None:
    """Simple file servers send everything each time and do not say how much."""
    server.knows_ranges = server.says_length = False
    (tmp_path / "f.part").write_bytes(b"rubbish" * 1000)
    totals: set[int | None] = set()

    await download.fetch(
        wanted(server.url, size=None),
        tmp_path / "f",
        on_bytes=lambda _done, total: totals.add(total),
    )

    assert (tmp_path / "f").read_bytes() == DATA
    assert totals == {None}


async def test_a_spoiled_part_is_thrown_away(server: Server, tmp_path: Path) -> None:
    """Resumed onto wrong bytes the file is wrong; the next run must begin anew."""
    (tmp_path / "f.part").write_bytes(bytes(600_000))

    with pytest.raises(Damaged) as caught:
        await download.fetch(wanted(server.url), tmp_path / "f")

    assert caught.value.code == "download-hash"
    assert names(tmp_path) == []
    await download.fetch(wanted(server.url), tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == DATA


@pytest.mark.parametrize("size", [None, len(DATA)])
async def test_wrong_bytes_never_get_the_files_name(
    server: Server, tmp_path: Path, size: int | None
) -> None:
    """A login page with status 200, another release, an attack: all end here."""
    server.body = b"<html>log in</html>"

    with pytest.raises(Damaged) as caught:
        await download.fetch(wanted(server.url, size=size), tmp_path / "f")

    assert caught.value.code == "download-hash"
    assert names(tmp_path) == []


async def test_a_file_that_does_not_end_is_stopped(server: Server, tmp_path: Path) -> None:
    """Its size is known; more than that is not fetched."""
    server.body = DATA + bytes(8_000_000)

    with pytest.raises(Damaged, match="longer"):
        await download.fetch(wanted(server.url), tmp_path / "f")

    assert names(tmp_path) == []


@pytest.mark.parametrize("size", [None, len(DATA)])
async def test_a_part_longer_than_the_servers_file(
    server: Server, tmp_path: Path, size: int | None
) -> None:
    """The server answers 416, or the size is known: either way the next run begins anew."""
    (tmp_path / "f.part").write_bytes(DATA + b"more")

    with contextlib.suppress(Damaged):
        await download.fetch(wanted(server.url, size=size), tmp_path / "f")
    await download.fetch(wanted(server.url, size=size), tmp_path / "f")

    assert (tmp_path / "f").read_bytes() == DATA


async def test_redirects_are_followed(server: Server, tmp_path: Path) -> None:
    """Release files of large projects lie behind one."""
    server.location = server.url.replace("f%2B1", "moved")

    await download.fetch(wanted(server.url), tmp_path / "f")

    assert (tmp_path / "f").read_bytes() == DATA


@pytest.mark.parametrize("status", ["403 Forbidden", "404 Not Found", "500 Oops", "429 Slowly"])
async def test_a_refusal_is_named(server: Server, tmp_path: Path, status: str) -> None:
    """The number tells an administrator what to look for."""
    server.status = status

    with pytest.raises(NetworkFailure, match=status.split()[0]) as caught:
        await download.fetch(wanted(server.url), tmp_path / "f")

    assert caught.value.code == "download-failed"


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:1/f",
        "http://weir.invalid/f",
        "ftp://127.0.0.1/f",
        "http://[bad/f",
        "/no/f",
    ],
)
async def test_an_address_that_leads_nowhere(server: Server, tmp_path: Path, url: str) -> None:
    """No server, no such name, another protocol, nonsense, no such file: one kind of error."""
    with pytest.raises(NetworkFailure) as caught:
        await download.fetch(wanted(url), tmp_path / "f")

    assert caught.value.code == "download-failed"


async def test_a_password_in_the_address_is_not_shown(server: Server, tmp_path: Path) -> None:
    """Messages end in logs and reports."""
    server.status = "403 Forbidden"
    url = server.url.replace("http://", "http://me:hidden@")

    with pytest.raises(NetworkFailure) as caught:
        await download.fetch(wanted(url), tmp_path / "f")

    assert "hidden" not in caught.value.message


@pytest.mark.parametrize("as_address", [True, False])
async def test_a_file_on_disk_is_copied_and_checked(tmp_path: Path, *, as_address: bool) -> None:
    """A mirror may be a folder on a stick."""
    source = tmp_path / "stick ü" / "f+1"
    source.parent.mkdir()
    source.write_bytes(DATA)
    url = source.as_uri() if as_address else str(source)

    await download.fetch(wanted(url), tmp_path / "out" / "f")

    assert (tmp_path / "out" / "f").read_bytes() == DATA
    source.write_bytes(DATA[:-1])
    with pytest.raises(Damaged):
        await download.fetch(wanted(url), tmp_path / "out" / "g")
