"""The gateway's attack on itself: its twin always; its address and the control port where open."""

import contextlib
import time
from collections.abc import Callable

from studio import __version__
from studio.domain.control import GatewayInfo
from studio.domain.selftest import Place, SelftestReport
from studio.gateway import selftest
from studio.host.addresses import reached_here


class Selftest:
    """Attacks the gateway when asked."""

    def __init__(
        self,
        gateway: Callable[[], GatewayInfo],
        attacked: Callable[[], contextlib.AbstractContextManager[str]],
    ) -> None:
        """`attacked`: within it the gateway does not list what bears the mark that it gives."""
        self._gateway = gateway
        self._attacked = attacked
        self.control_port: int | None = None
        """Named by the control API when it listens."""

    async def run(self) -> SelftestReport:
        """Return how each attack ended.

        Raises: HostLacks, when the twin cannot be made.
        """
        began = time.monotonic()
        results = await selftest.attack_twin()
        live = self._gateway()
        if live.port is not None and live.address is not None:
            is_encrypted = (live.base_url or "").startswith("https:")
            with self._attacked() as mark:
                results += await selftest.attack_live(
                    live.port,
                    address=reached_here(live.address),
                    is_encrypted=is_encrypted,
                    mark=mark,
                )
        if self.control_port is not None:
            place = Place.CONTROL
            results += await selftest.attack_live(self.control_port, place=place)
        through = [one.defence for one in results if not one.is_repelled]
        return SelftestReport(
            version=__version__,
            address=live.base_url,
            is_safe=not through,
            open_defences=tuple(dict.fromkeys(through)),
            attacks=tuple(results),
            took_s=time.monotonic() - began,
        )
