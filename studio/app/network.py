"""What the service answers about the network: the policy in force, without secrets."""

import asyncio
import os
import urllib.parse
from collections.abc import Mapping

from studio.domain.network import (
    AuthorityInfo,
    MirrorInfo,
    NetworkChange,
    NetworkReport,
    ProxyInfo,
)
from studio.host import network, network_settings
from studio.host.network import NetworkPolicy, redacted
from studio.host.paths import Paths
from studio.runtimes import interpreter


class Network:
    """The network settings of one home."""

    def __init__(self, paths: Paths, environ: Mapping[str, str] = os.environ) -> None:
        self._paths = paths
        self._environ = environ

    async def report(self) -> NetworkReport:
        """Return the policy in force for everything that goes out.

        Raises: BadInput (`pip-config-invalid`), Damaged (`network-settings-damaged`), HostLacks.
        """
        return await asyncio.to_thread(self._report)

    async def change(self, request: NetworkChange) -> NetworkReport:
        """Set and forget; what is under way goes on as it began.

        Raises: what `studio.host.network_settings.change` raises.
        """
        await asyncio.to_thread(network_settings.change, self._paths, request)
        return await self.report()

    def _report(self) -> NetworkReport:
        policy = network.in_force(self._paths, self._environ)
        sources = policy.sources
        index = (
            self._environ.get("UV_DEFAULT_INDEX")
            or self._environ.get("UV_INDEX_URL")
            or sources.index_url
        )
        return NetworkReport(
            offline=policy.offline,
            offline_source=policy.offline_source,
            proxies=tuple(
                ProxyInfo(
                    scheme=scheme,
                    url=redacted(proxy.url),
                    has_password=urllib.parse.urlsplit(proxy.url).password is not None,
                    source=proxy.source,
                )
                for scheme, proxy in policy.proxies.items()
            ),
            no_proxy=policy.no_proxy,
            authorities=tuple(
                AuthorityInfo(path=str(one.path), source=one.source, problem=one.problem)
                for one in policy.authorities
            ),
            client_certificate=_text(policy.client_certificate),
            mirrors=self._mirrors(policy),
            package_index=redacted(index) if index else None,
            package_extra_indexes=tuple(redacted(url) for url in sources.extra_index_urls),
            package_folders=tuple(str(folder) for folder in sources.folders),
            connections=policy.connections,
            connect_s=policy.connect_s,
            stall_s=policy.stall_s,
            tries=policy.tries,
            user_agent=policy.user_agent,
            settings_file=str(self._paths.network_settings),
            downloads_folder=str(self._paths.downloads),
            notes=policy.notes,
        )

    def _mirrors(self, policy: NetworkPolicy) -> tuple[MirrorInfo, ...]:
        found = [
            MirrorInfo(of=one.mirror.of, at=redacted(one.mirror.at), source=one.source)
            for one in policy.mirrors
        ]
        named = self._environ.get(interpreter.MIRROR, "").strip()
        if named:
            found.insert(
                0,
                MirrorInfo(
                    of=f"{interpreter.PROJECT_ROOT}/",
                    at=redacted(named),
                    source=interpreter.MIRROR,
                ),
            )
        return tuple(found)


def _text(value: object | None) -> str | None:
    return str(value) if value is not None else None
