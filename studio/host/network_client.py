"""The one way to make an HTTP client from the network policy.

httpx gives TLS, proxies and pooled connections; the environment is read by the policy alone, so
that what `weir network` shows is what happens. Redirects are followed by hand (transfer/source.py).
"""

import asyncio
import contextlib
import logging
import ssl
from collections.abc import Mapping

import certifi
import httpcore
import httpx

from studio.domain.errors import HostLacks
from studio.host.network import NetworkPolicy, redacted
from studio.host.tasks import to_the_end

# It writes the address of each request into the log, signatures and passwords included.
logging.getLogger("httpx").setLevel(logging.WARNING)


_MOST_DROPPED = 64 << 10
_DROP_WITHIN_S = 1.0
"""A new connection takes no longer."""


class Routed(httpx.AsyncBaseTransport):
    """Sends each request directly or through the proxy that the policy names for its host."""

    def __init__(self, policy: NetworkPolicy, trust: ssl.SSLContext, limits: httpx.Limits) -> None:
        self._policy = policy
        self._trust = trust
        self._limits = limits
        self._ways: dict[str | None, httpx.AsyncHTTPTransport] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send one request on its way."""
        proxy = self._policy.proxy_for(str(request.url))
        request.extensions = {**request.extensions, "trace": _Opening().see}
        return await self._way(proxy.url if proxy is not None else None).handle_async_request(
            request
        )

    def _way(self, proxy: str | None) -> httpx.AsyncHTTPTransport:
        if proxy not in self._ways:
            if proxy is not None and proxy.startswith("socks"):
                raise httpx.ProxyError(f"{redacted(proxy)} is a SOCKS proxy, an HTTP one is needed")
            self._ways[proxy] = httpx.AsyncHTTPTransport(
                verify=self._trust,
                proxy=self._through(proxy) if proxy is not None else None,
                limits=self._limits,
                trust_env=False,
            )
        return self._ways[proxy]

    def _through(self, proxy: str) -> httpx.Proxy:
        is_protected = proxy.startswith("https:")
        return httpx.Proxy(proxy, ssl_context=self._trust if is_protected else None)

    async def aclose(self) -> None:
        """Close all connections, also when the caller is cancelled meanwhile."""
        ways, self._ways = list(self._ways.values()), {}
        await to_the_end([way.aclose() for way in ways])


class _Opening:
    """The stream of one request while TLS is being agreed on.

    httpcore 1.0.9 closes it when that fails, but not when whoever waits for it is cancelled
    (`start_tls` of its anyio backend catches `Exception`): then nobody has it, and it stays open
    until the garbage collector finds it. Its trace (httpcore's "Extensions") tells of both.
    """

    def __init__(self) -> None:
        self._stream: httpcore.AsyncNetworkStream | None = None

    async def see(self, event: str, info: Mapping[str, object]) -> None:
        """Take notice of one step of the request."""
        what = event.partition(".")[2]
        opened = info.get("return_value")
        if what == "connect_tcp.complete" and isinstance(opened, httpcore.AsyncNetworkStream):
            self._stream = opened
        elif what == "start_tls.failed" and self._stream is not None:
            await self._stream.aclose()


async def drop(response: httpx.Response) -> None:
    """End an answer whose body nobody wants, and keep its connection where the body is short.

    httpcore closes a connection with a body that was not read, and the next request then waits for
    a new one: three round trips with TLS, for each file that a hub redirects.
    """
    try:
        with contextlib.suppress(TimeoutError, httpx.TransportError):
            async with asyncio.timeout(_DROP_WITHIN_S):
                came = 0
                async for chunk in response.aiter_raw():
                    came += len(chunk)
                    if came > _MOST_DROPPED:
                        break
    finally:
        await response.aclose()


def client(
    policy: NetworkPolicy,
    *,
    headers: Mapping[str, str] | None = None,
    trusted: ssl.SSLContext | None = None,
) -> httpx.AsyncClient:
    """Return a client that goes out as the policy says; `async with` closes it.

    It follows no redirect by itself, and has no limit of connections of its own. `trusted` is what
    `trust` returned: to read all authorities takes longer than many a request.

    Who sends many requests at a time uses several clients: httpcore 1.0.9 looks for each request at
    every pair of its idle connections (`_assign_requests_to_connections`).

    Raises: HostLacks (`client-certificate-invalid`).
    """
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    return httpx.AsyncClient(
        transport=Routed(policy, trusted or trust(policy), limits),
        timeout=httpx.Timeout(policy.stall_s, connect=policy.connect_s, pool=None),
        headers={"User-Agent": policy.user_agent, **(headers or {})},
        trust_env=False,
        follow_redirects=False,
    )


def trust(policy: NetworkPolicy) -> ssl.SSLContext:
    """Return a context that trusts this machine's authorities, those named, and the public ones.

    A company's proxy is known to the machine's store or a named file only; a bare container has no
    store at all.

    Raises: HostLacks (`client-certificate-invalid`).
    """
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    for authority in policy.authorities:
        place = str(authority.path)
        try:
            if authority.path.is_dir():
                context.load_verify_locations(capath=place)
            elif authority.problem is None:
                context.load_verify_locations(place)
        except (OSError, ssl.SSLError):
            continue  # `weir network` names it; a refused server names all that is trusted
    if policy.client_certificate is not None:
        try:
            context.load_cert_chain(policy.client_certificate)
        except (OSError, ssl.SSLError) as error:
            raise HostLacks(
                "client-certificate-invalid",
                f"The client certificate {policy.client_certificate} cannot be used: {error}.",
                hint="It has to hold certificate and key as PEM, the key without a pass phrase; "
                "it is named by SSL_CLIENT_CERT or pip's `client-cert`.",
            ) from error
    return context
