"""One address that a file is asked of: its requests, its redirects, and where they ended.

Redirects are followed by hand, because three of them must not be: around in circles, for ever, and
from a protected connection to an open one.
"""

import asyncio
import contextlib
import hashlib
from collections.abc import AsyncIterator, Mapping

import httpx

from studio.host import network_client
from studio.host.network import NetworkPolicy, redacted
from studio.host.transfer.faults import Fault, of_error

_MOST_REDIRECTS = 10
_EXPIRED = frozenset((400, 401, 403, 404, 410))
"""What an address that was good for some minutes answers afterwards."""


class Source:
    """One address; after the first answer, requests go straight to where it was redirected to."""

    def __init__(
        self,
        url: str,
        client: httpx.AsyncClient,
        policy: NetworkPolicy,
        headers: Mapping[str, str],
    ) -> None:
        self.url = url
        self.shown = redacted(url)
        self.digest = self.digest_of(url)
        self._client = client
        self._policy = policy
        self._headers = headers
        self._resolved: httpx.Request | None = None

    @staticmethod
    def digest_of(url: str) -> str:
        """Return what stands for an address in a journal, which must not hold its password."""
        return hashlib.sha256(url.encode("utf-8", "surrogatepass")).hexdigest()[:16]

    @contextlib.asynccontextmanager
    async def open(self, headers: Mapping[str, str]) -> AsyncIterator[httpx.Response]:
        """Yield the answer to a GET, redirects followed, its body not yet read.

        Raises: Fault, also for what happens while the body is read.
        """
        try:
            response = await self._answer(headers)
            try:
                yield response
            finally:
                await response.aclose()
        except (httpx.TransportError, httpx.InvalidURL, httpx.DecodingError) as error:
            raise of_error(error, self.url, self._policy) from error
        except (ValueError, UnicodeError) as error:  # an address that is none, in the end
            raise Fault(f"its address cannot be used: {error}") from error

    async def _answer(self, headers: Mapping[str, str]) -> httpx.Response:
        if self._resolved is not None:
            request = self._resolved
            request = self._client.build_request(
                "GET", request.url, headers=_with(request.headers, headers)
            )
            response = await self._send(request)
            if response.status_code not in _EXPIRED and not response.has_redirect_location:
                return response
            await response.aclose()
            self._resolved = None
        request = self._client.build_request("GET", self.url, headers={**self._headers, **headers})
        response = await self._follow(request)
        if response.is_success and response.request.url != self.url:
            self._resolved = response.request
        return response

    async def _send(self, request: httpx.Request) -> httpx.Response:
        """Return the head of an answer, which may come a byte at a time but not for ever."""
        within_s = self._policy.connect_s + self._policy.stall_s
        try:
            async with asyncio.timeout(within_s):
                return await self._client.send(request, stream=True)
        except TimeoutError as error:
            raise Fault(f"no answer within {within_s:.0f} s", again=True, crowded=True) from error

    async def _follow(self, request: httpx.Request) -> httpx.Response:
        seen: set[str] = set()
        while True:
            response = await self._send(request)
            if not response.has_redirect_location or response.next_request is None:
                return response
            following = response.next_request
            await network_client.drop(response)
            seen.add(str(request.url))
            self._check(request.url, following.url, seen)
            request = following

    def _check(self, before: httpx.URL, after: httpx.URL, seen: set[str]) -> None:
        if before.scheme == "https" and after.scheme != "https":
            raise Fault(
                "it redirects from a protected connection to an open one "
                f"({redacted(str(after))}), which is not followed"
            )
        if str(after) in seen:
            raise Fault(f"it redirects in a circle ({redacted(str(after))})")
        if len(seen) > _MOST_REDIRECTS:
            raise Fault(f"it redirects more than {_MOST_REDIRECTS} times")


def _with(kept: httpx.Headers, new: Mapping[str, str]) -> dict[str, str]:
    """Return the headers of a request that was redirected, for another range of the same file."""
    ours = {"range", "if-range", "accept-encoding", "host"}
    return {**{name: value for name, value in kept.items() if name not in ours}, **new}
