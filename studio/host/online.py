"""Is there a way out of this machine at all? Asks nobody: it looks at the machine's own links."""

import ipaddress
import socket

import psutil


def has_network() -> bool:
    """Tell whether a link besides loopback is up and has an address that reaches further.

    Says nothing about what is reached: that shows when something is fetched.
    """
    try:
        states, addresses = psutil.net_if_stats(), psutil.net_if_addrs()
    except OSError:
        return True  # not known: whoever fetches will see
    return any(
        state.isup and any(_leads_out(one.family, one.address) for one in addresses.get(name, ()))
        for name, state in states.items()
    )


def _leads_out(family: int, text: str) -> bool:
    if family not in (socket.AF_INET, socket.AF_INET6):
        return False
    address = ipaddress.ip_address(text.partition("%")[0])
    return not (address.is_loopback or address.is_link_local)
