"""One file over HTTP or from a folder: streamed, hashed on the way, resumed after a kill.

The unfinished file has a fixed name (`.part`), so the next try goes on where the last one ended.
Proxy and certificate variables are honoured. The file gets its own name only when its digest is
right: a file under its own name is whole.
"""

import asyncio
import contextlib
import hashlib
import os
import ssl
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, Protocol

import certifi
import httpx
import msgspec

from studio.domain.errors import Damaged, NetworkFailure
from studio.host.files import from_os_error, sha256_file

_CHUNK = 1 << 18
_CONNECT_S = 10.0
_STALL_S = 30.0
"""A server that sends nothing for this long is given up."""
_TRIES = 3
_HTTP_OK = 200
_HTTP_PARTIAL = 206
_HTTP_RANGE_WRONG = 416


class _Digest(Protocol):
    def update(self, data: bytes, /) -> None: ...
    def hexdigest(self) -> str: ...


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """A file to fetch: `url` is an `http(s)://` or `file://` address or a plain path."""

    url: str
    sha256: str
    bytes: int | None = None


async def fetch(
    wanted: Wanted,
    target: Path,
    *,
    on_bytes: Callable[[int, int | None], None] | None = None,
    transport: httpx.AsyncBaseTransport | None = None,
) -> Path:
    """Bring the file to `target`; `on_bytes` gets done and total (None when not known).

    Raises: NetworkFailure (`download-failed`), Damaged (`download-hash`), HostLacks (`disk-full`,
    `not-writable`).
    """
    if await asyncio.to_thread(_is_whole, target, wanted.sha256):
        return target
    part = target.with_name(f"{target.name}.part")
    transfer = _Transfer(wanted, part, on_bytes or (lambda _done, _total: None), transport)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        await transfer.run()
        part.replace(target)
    except OSError as error:
        raise from_os_error(error, part) from error
    return target


def _is_whole(path: Path, sha256: str) -> bool:
    return path.is_file() and sha256_file(path) == sha256


class _Transfer:
    """The state of one fetch: the open part, its digest so far, its length."""

    def __init__(
        self,
        wanted: Wanted,
        part: Path,
        on_bytes: Callable[[int, int | None], None],
        transport: httpx.AsyncBaseTransport | None,
    ) -> None:
        self._wanted = wanted
        self._part = part
        self._on_bytes = on_bytes
        self._transport = transport
        self._digest: _Digest = hashlib.sha256()
        self._done = 0

    async def run(self) -> None:
        """Fetch, in up to three tries that each go on where the last one stopped."""
        with self._part.open("ab") as file:
            self._rehash(file)
            local = _local_path(self._wanted.url)
            if local is not None:
                self._copy(local, file)
            elif not self._complete():
                await self._fetch_with_retries(file)
            file.flush()
            os.fsync(file.fileno())
        self._check()

    def _complete(self) -> bool:
        return self._done == self._wanted.bytes and self._digest.hexdigest() == self._wanted.sha256

    def _rehash(self, file: BinaryIO) -> None:
        """Take up what an earlier try left, unless it is longer than the file can be."""
        limit = self._wanted.bytes
        if limit is not None and self._part.stat().st_size > limit:
            self._restart(file)
        with self._part.open("rb") as old:
            while chunk := old.read(_CHUNK):
                self._digest.update(chunk)
                self._done += len(chunk)

    def _restart(self, file: BinaryIO) -> None:
        file.truncate(0)
        self._digest = hashlib.sha256()
        self._done = 0

    def _take(self, chunk: bytes, file: BinaryIO, total: int | None) -> None:
        file.write(chunk)
        self._digest.update(chunk)
        self._done += len(chunk)
        if self._wanted.bytes is not None and self._done > self._wanted.bytes:
            self._discard_and_raise("it is longer than it should be")
        self._on_bytes(self._done, total)

    def _copy(self, source: Path, file: BinaryIO) -> None:
        self._restart(file)
        try:
            total = source.stat().st_size
            with source.open("rb") as data:
                while chunk := data.read(_CHUNK):
                    self._take(chunk, file, total)
        except (FileNotFoundError, IsADirectoryError) as error:
            raise self._failure(f"there is no such file {source}") from error

    async def _fetch_with_retries(self, file: BinaryIO) -> None:
        timeout = httpx.Timeout(_STALL_S, connect=_CONNECT_S)
        async with httpx.AsyncClient(
            transport=self._transport,
            timeout=timeout,
            follow_redirects=True,
            verify=_trust(),
        ) as client:
            for attempt in range(1, _TRIES + 1):
                before = self._done
                try:
                    await self._stream(client, file)
                    return
                except httpx.ConnectError as error:
                    raise self._failure(str(error) or "no connection") from error
                except httpx.TransportError as error:
                    # A try that brought bytes is worth another; one that brought none has failed.
                    if attempt == _TRIES or self._done == before:
                        reason = str(error) or type(error).__name__
                        raise self._failure(f"the transfer broke off ({reason})") from error
                except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
                    raise self._failure(str(error)) from error

    async def _stream(self, client: httpx.AsyncClient, file: BinaryIO) -> None:
        headers = {"Accept-Encoding": "identity"}
        if self._done:
            headers["Range"] = f"bytes={self._done}-"
        async with client.stream("GET", self._wanted.url, headers=headers) as response:
            if response.status_code == _HTTP_RANGE_WRONG:
                self._discard_and_raise("the server holds a shorter file")
            if response.status_code not in (_HTTP_OK, _HTTP_PARTIAL):
                raise self._failure(f"the server answered {response.status_code}")
            if not self._continues(response):
                self._restart(file)
            total = self._wanted.bytes or self._announced(response)
            async for chunk in response.aiter_bytes():
                self._take(chunk, file, total)
            file.flush()

    def _continues(self, response: httpx.Response) -> bool:
        """Tell whether the answer goes on exactly where the part ends."""
        begins = response.headers.get("Content-Range", "").startswith(f"bytes {self._done}-")
        return response.status_code == _HTTP_PARTIAL and begins

    def _announced(self, response: httpx.Response) -> int | None:
        length = response.headers.get("Content-Length", "")
        return self._done + int(length) if length.isascii() and length.isdigit() else None

    def _check(self) -> None:
        if self._digest.hexdigest() != self._wanted.sha256:
            found = self._digest.hexdigest()
            self._discard_and_raise(
                f"expected sha256 {self._wanted.sha256[:12]}…, found {found[:12]}…"
            )

    def _discard_and_raise(self, reason: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            self._part.unlink()
        raise Damaged(
            "download-hash",
            f"What {_shown(self._wanted.url)} delivers is not the expected file: {reason}.",
            hint="Run it again; if it repeats, a proxy or mirror replaces the file: choose "
            "another one.",
        )

    def _failure(self, reason: str) -> NetworkFailure:
        return NetworkFailure(
            "download-failed",
            f"{_shown(self._wanted.url)} cannot be fetched: {reason}.",
            hint="Check the network, or supply the file by hand (docs/user/offline.md).",
        )


def _trust() -> ssl.SSLContext:
    """Trust what this machine trusts (SSL_CERT_FILE included), and the public authorities.

    A company's proxy is known to the system's store only; a bare container has no store at all.
    What arrives is held against its sha256 in any case.
    """
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    return context


def _local_path(url: str) -> Path | None:
    if url.startswith("file:"):
        return Path(urllib.request.url2pathname(urllib.parse.urlsplit(url).path))
    return None if "://" in url else Path(url)


def _shown(url: str) -> str:
    """Return the address without user name and password."""
    scheme, separator, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}{separator}{host.rpartition('@')[2]}{slash}{path}" if separator else url
