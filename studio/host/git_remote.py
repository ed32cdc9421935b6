"""Objects of a git repository over HTTP, without git: the client's half of "smart HTTP", version 2.

Only what a pinned commit needs: learn what the server can do, ask for objects by name, get a pack.
Nothing is believed here and nothing checked: whoever reads the pack names every object by its
content. Protocol: git's gitprotocol-http and gitprotocol-v2.
"""

import re
import urllib.parse
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import httpx

from studio.domain.errors import NetworkFailure, NotFound
from studio.host import network_client
from studio.host.network import NetworkPolicy, in_force

MOST_BYTES = 256 * 1024 * 1024
"""Of one answer; a series with its history cut off is far below."""
_MOST_MOVES = 5
_HTTP_OK = 200
_MOVED = frozenset((301, 302, 303, 307, 308))
_ABSENT = frozenset((401, 403, 404, 410))
"""Hosts answer 401 for a repository that is private or not there, lest they tell which."""
_SERVICE = "git-upload-pack"
_HEADERS = {"Git-Protocol": "version=2", "User-Agent": "git/weir-studio"}
_FLUSH, _DELIMITER = b"0000", b"0001"
_DATA, _FAILURE = 1, 3
_MISSING = "not our ref"
_REFS = ("HEAD", "refs/heads/", "refs/tags/")
_NAME = re.compile(r"[0-9a-f]{40}")


class Remote:
    """A repository on a server that answered."""

    def __init__(
        self, client: httpx.AsyncClient, address: str, capabilities: dict[str, str]
    ) -> None:
        self._client = client
        self._fetch = capabilities.get("fetch", "").split()
        self._knows_format = "object-format" in capabilities
        self.address = address
        """Where it is: another address than was asked when the repository has moved."""

    @property
    def can_filter(self) -> bool:
        """Tell whether files can be left out of a pack."""
        return "filter" in self._fetch

    async def pack(
        self, wants: Sequence[str], *, without_files: bool = False, without_history: bool = False
    ) -> bytes:
        """Return a pack with the objects named, and what they need.

        Raises: NotFound (`commit-missing`), NetworkFailure (`repository-unreachable`).
        """
        lines = ["no-progress\n", "ofs-delta\n"]
        lines += ["deepen 1\n"] if without_history and "shallow" in self._fetch else []
        lines += ["filter blob:none\n"] if without_files else []
        lines += [f"want {name}\n" for name in wants]
        head = ["command=fetch\n", *(["object-format=sha1\n"] if self._knows_format else [])]
        body = b"".join(map(_line, head)) + _DELIMITER
        body += b"".join(map(_line, [*lines, "done\n"])) + _FLUSH
        return _pack_of(self.address, await self._ask(body))

    async def refs(self) -> dict[str, str]:
        """Return the commit of each branch and tag, and of `HEAD`; a tag's own is that with `^{}`.

        Raises: NetworkFailure (`repository-unreachable`).
        """
        head = ["command=ls-refs\n", *(["object-format=sha1\n"] if self._knows_format else [])]
        lines = [
            "peel\n",
            *(f"ref-prefix {one}\n" for one in ("HEAD", "refs/heads/", "refs/tags/")),
        ]
        body = b"".join(map(_line, head)) + _DELIMITER + b"".join(map(_line, lines)) + _FLUSH
        found: dict[str, str] = {}
        for line in _lines(self.address, await self._ask(body)):
            words = line.decode("utf-8", "replace").split()
            if len(words) < 2 or not _NAME.fullmatch(words[0]):
                continue
            found[words[1]] = words[0]
            for word in words[2:]:
                if word.startswith("peeled:"):
                    found[f"{words[1]}^{{}}"] = word.removeprefix("peeled:")
        return found

    async def _ask(self, body: bytes) -> bytes:
        kind = f"application/x-{_SERVICE}"
        headers = {"Content-Type": f"{kind}-request", "Accept": f"{kind}-result"}
        address = f"{self.address}/{_SERVICE}"
        try:
            async with self._client.stream(
                "POST", address, content=body, headers=headers
            ) as response:
                if response.status_code != _HTTP_OK:
                    raise _refused(self.address, response.status_code)
                return await _read(self.address, response)
        except httpx.HTTPError as error:
            raise _unreachable(self.address, error) from error


@asynccontextmanager
async def reached(address: str, *, policy: NetworkPolicy | None = None) -> AsyncIterator[Remote]:
    """Yield the repository at `address` (`https://…`), ready to be asked.

    `policy` says how to go out; None: as the environment says.

    Raises: NotFound (`repository-missing`), NetworkFailure (`repository-unreachable`).
    """
    async with network_client.client(policy or in_force(), headers=_HEADERS) as client:
        yield await _introduced(client, address.rstrip("/"))


async def _introduced(client: httpx.AsyncClient, address: str) -> Remote:
    asked = f"/info/refs?service={_SERVICE}"
    here = address
    for _ in range(_MOST_MOVES):
        try:
            async with client.stream("GET", here + asked) as response:
                if response.status_code == _HTTP_OK:
                    return Remote(client, here, _capabilities(here, await _read(here, response)))
                if response.status_code not in _MOVED:
                    raise _refused(here, response.status_code)
                here = _moved(address, here + asked, response).removesuffix(asked)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise _unreachable(here, error) from error
    raise NotFound("repository-missing", f"{address} leads in circles.")


def _moved(address: str, asked: str, response: httpx.Response) -> str:
    """Return where a repository has gone; never from a checked line to an open one."""
    target = str(urllib.parse.urljoin(asked, response.headers.get("Location", "")))
    is_open = not target.startswith("https://") and asked.startswith("https://")
    if is_open or not target.endswith(f"/info/refs?service={_SERVICE}"):
        raise NotFound(
            "repository-missing",
            f"{address} leads to {target}, which is no repository.",
            hint="A portal that wants a login, or a repository that was withdrawn.",
        )
    return target


def _capabilities(address: str, data: bytes) -> dict[str, str]:
    lines = [line.decode("utf-8", "replace").rstrip("\n") for line in _lines(address, data) if line]
    if "version 2" not in lines:
        raise NetworkFailure(
            "repository-unreachable",
            f"{address} does not answer as a git server of today does.",
            hint="A proxy or a portal may have answered in its place.",
            evidence=tuple(lines[:5]),
        )
    pairs = (line.partition("=") for line in lines[lines.index("version 2") + 1 :])
    return {name: value for name, _, value in pairs}


def _pack_of(address: str, data: bytes) -> bytes:
    """Return the pack inside an answer: sections of lines, the last one with a channel each."""
    pack = bytearray()
    is_pack = False
    for line in _lines(address, data):
        if line.startswith(b"ERR "):
            raise _said(address, line[4:])
        if not is_pack:
            is_pack = line.rstrip(b"\n") == b"packfile"
        elif line and line[0] == _DATA:
            pack += line[1:]
        elif line and line[0] == _FAILURE:
            raise _said(address, line[1:])
    if not pack:
        raise _cut_short(address)
    return bytes(pack)


def _lines(address: str, data: bytes) -> list[bytes]:
    """Return the lines of an answer, each with its length before it; separators are empty."""
    found = []
    at = 0
    while at < len(data):
        try:
            length = int(data[at : at + 4], 16)
        except ValueError as error:
            raise _cut_short(address) from error
        if length >= 4 and at + length > len(data):
            raise _cut_short(address)
        found.append(data[at + 4 : at + length] if length > 4 else b"")
        at += max(length, 4)
    return found


def _line(text: str) -> bytes:
    return f"{len(text) + 4:04x}{text}".encode()


async def _read(address: str, response: httpx.Response) -> bytes:
    data = bytearray()
    async for chunk in response.aiter_bytes():
        data += chunk
        if len(data) > MOST_BYTES:
            raise NetworkFailure(
                "repository-unreachable",
                f"{address} sends more than {MOST_BYTES} bytes, which no patch series has.",
            )
    return bytes(data)


def _said(address: str, said: bytes) -> NotFound | NetworkFailure:
    text = said.decode("utf-8", "replace").strip()
    if _MISSING in text:
        return NotFound("commit-missing", f"{address} has no such commit ({text}).")
    return NetworkFailure("repository-unreachable", f"{address} refuses: {text}.")


def _refused(address: str, status: int) -> NotFound | NetworkFailure:
    if status in _ABSENT:
        return NotFound(
            "repository-missing",
            f"{address} is not there, or not open to everybody (HTTP {status}).",
        )
    return NetworkFailure("repository-unreachable", f"{address} answers HTTP {status}.")


def _unreachable(address: str, error: httpx.HTTPError | httpx.InvalidURL) -> NetworkFailure:
    reason = str(error) or type(error).__name__
    return NetworkFailure("repository-unreachable", f"{address} cannot be reached: {reason}.")


def _cut_short(address: str) -> NetworkFailure:
    return NetworkFailure("repository-unreachable", f"The answer of {address} is cut short.")
