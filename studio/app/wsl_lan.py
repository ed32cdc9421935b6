"""Opens the gateway inside the Studio's Linux for other machines, and closes it again.

A port proxy leads from Windows to the Linux (none is needed where WSL mirrors the network), and the
firewall lets others in. Both want the administrator: Windows asks, once for both.
"""

import contextlib
import ipaddress
import re
from collections.abc import Awaitable, Callable

from studio.domain.errors import HostLacks, NeedsConsent
from studio.domain.wsl import WslLanRequest
from studio.host import elevated
from studio.host.registry import Registry

PORT = 18_020
KEY = r"Software\WeirStudio"
NAME = "Lan"
"""1 while it is open: the removal of the program closes it then."""
ADDRESS = "LanAddress"
"""Of the Linux when it was opened, empty where no proxy was needed: NAT gives the Linux another one
each time that WSL starts."""
_RULE = "Weir Studio"
_DELETE_RULE = f'netsh advfirewall firewall delete rule name="{_RULE}"'
_DELETE_PROXY = f"netsh interface portproxy delete v4tov4 listenport={PORT} listenaddress=0.0.0.0"

_LISTEN = "weir gateway listen 0.0.0.0 --expose"
_NAT_PREFIX = 20
"""Windows gives the network between itself and WSL 4,096 addresses (`172.…/20` in reports of
microsoft/WSL); were it another number, an address more would be named."""
_TO = re.compile(r"connectaddress=(\S+)")

Elevate = Callable[[str, str], Awaitable[int | None]]


class WslLan:
    """Other machines' way in."""

    def __init__(self, registry: Registry, elevate: Elevate = elevated.run) -> None:
        self._registry = registry
        self._elevate = elevate

    @property
    def is_open(self) -> bool:
        """Tell whether we opened it."""
        return self._registry.text(KEY, NAME) == "1"

    def is_stale(self, commands: tuple[str, ...]) -> bool:
        """Tell whether what we opened leads elsewhere than `commands` would now."""
        if not self.is_open or not commands:
            return False
        return (self._registry.text(KEY, ADDRESS) or None) != _address(commands)

    async def change(self, request: WslLanRequest, commands: tuple[str, ...]) -> None:
        """Open or close it. `commands`: what opens it here.

        Raises: NeedsConsent (`wsl-elevation`), HostLacks (`wsl-lan-unknown`, `wsl-lan-refused`,
        `wsl-lan-failed`).
        """
        if not request.consent:
            raise NeedsConsent(
                "wsl-elevation",
                "Windows will ask for the administrator, because its firewall changes.",
                hint="Add --yes.",
            )
        if request.is_open and not commands:
            raise HostLacks(
                "wsl-lan-unknown",
                "WSL does not say how its network is reached from Windows.",
                hint="`weir wsl` says how far the Linux is; it has to run.",
            )
        line = opening(commands) if request.is_open else closing()
        status = await self._elevate("cmd.exe", f'/d /c "{line}"')
        if status is None:
            raise HostLacks(
                "wsl-lan-refused",
                "Nothing was changed: the administrator's yes did not come.",
                hint="Try again, or let an administrator type what `weir wsl` shows.",
            )
        if request.is_open and status != 0:
            raise HostLacks(
                "wsl-lan-failed",
                f"Windows refused the port proxy or the firewall rule (status {status}).",
                hint="A rule of this machine's administrator may forbid it; ask them.",
            )
        with contextlib.suppress(OSError):
            if request.is_open:
                self._registry.write(KEY, ADDRESS, _address(commands) or "")
                self._registry.write(KEY, NAME, 1)
            else:
                self._registry.delete(KEY, NAME)
                self._registry.delete(KEY, ADDRESS)


def commands(address: str | None) -> tuple[str, ...]:
    """Return what opens it; `address`: of the Linux, None where its network is Windows' own."""
    rule = (
        f'netsh advfirewall firewall add rule name="{_RULE}" dir=in action=allow '
        f"protocol=TCP localport={PORT}"
    )
    proxy = (
        f"netsh interface portproxy add v4tov4 listenport={PORT} listenaddress=0.0.0.0 "
        f"connectport={PORT} connectaddress={address}"
    )
    return (rule,) if address is None else (proxy, rule)


def gateway_commands(
    lines: tuple[str, ...], names: tuple[str, ...], addresses: tuple[str, ...]
) -> tuple[str, ...]:
    """Return what the gateway has to be told where `lines` open it.

    Behind a proxy it hears the PC's `names` and `addresses`, which it cannot know: its Linux has
    others. The proxy takes IPv4 only, and the address towards the Linux is no other machine's way.
    """
    if not lines:
        return ()
    hosts = gateway_hosts(lines, names, addresses)
    return (_LISTEN, *(f"weir gateway allow {one}" for one in hosts))


def gateway_hosts(
    lines: tuple[str, ...], names: tuple[str, ...], addresses: tuple[str, ...]
) -> tuple[str, ...]:
    """Return what other machines call this PC, where a proxy stands before the gateway."""
    linux = _address(lines)
    if linux is None:
        return ()
    inside = ipaddress.ip_network(f"{linux}/{_NAT_PREFIX}", strict=False)
    hosts = [one for one in addresses if ":" not in one and ipaddress.ip_address(one) not in inside]
    return (*names[:1], *hosts)


def opening(lines: tuple[str, ...]) -> str:
    """Return one line for `cmd`; what is there of ours goes first.

    There would be two rules else, and a proxy left from NAT would take a mirrored port away.
    """
    before = f"({_DELETE_PROXY} >nul 2>nul) & ({_DELETE_RULE} >nul 2>nul)"
    return f"{before} & {' && '.join(lines)}"


def _address(lines: tuple[str, ...]) -> str | None:
    """Return where the proxy in these commands leads to."""
    found = _TO.search(" ".join(lines))
    return found[1] if found is not None else None


def closing() -> str:
    """Return one line for `cmd` that takes both away; what is not there is no matter."""
    return f"({_DELETE_PROXY} >nul 2>nul) & ({_DELETE_RULE} >nul 2>nul) & exit /b 0"
