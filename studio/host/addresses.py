"""The names and addresses under which other machines reach this one."""

import ipaddress
import socket

import psutil


def own_addresses() -> tuple[str, ...]:
    """Return this machine's addresses, loopback and link-local ones left out, IPv4 first."""
    found: list[ipaddress.IPv4Address | ipaddress.IPv6Address] = []
    for addresses in psutil.net_if_addrs().values():
        for one in addresses:
            if one.family not in (socket.AF_INET, socket.AF_INET6):
                continue
            try:
                address = ipaddress.ip_address(one.address.partition("%")[0])
            except ValueError:
                continue
            if not (address.is_loopback or address.is_link_local or address.is_unspecified):
                found.append(address)
    ordered = sorted(set(found), key=lambda one: (one.version, int(one)))
    return tuple(str(address) for address in ordered)


def own_names() -> tuple[str, ...]:
    """Return this machine's names in the local network, in lower case."""
    name = socket.gethostname().strip(".").lower()
    if not name or name == "localhost":
        return ()
    short = name.partition(".")[0]
    return tuple(dict.fromkeys((name, short, f"{short}.local")))


def in_url(address: str) -> str:
    """Return an address as it stands in a URL and in a Host header."""
    return f"[{address}]" if ":" in address else address


def is_everywhere(address: str) -> bool:
    """Tell whether listening there means on every address of this machine."""
    return ipaddress.ip_address(address).is_unspecified


def reached_here(address: str) -> str:
    """Return the address at which this machine reaches what listens on `address`."""
    if not is_everywhere(address):
        return address
    return "::1" if ":" in address else "127.0.0.1"
