"""How other machines name this one."""

import ipaddress
import socket
from types import SimpleNamespace

import psutil
import pytest

from studio.host import addresses


def test_loopback_and_link_local_addresses_are_nobodys_way_in(monkeypatch) -> None:
    """Nor is what is no address at all (a network card's number)."""

    def card(family: int, address: str) -> SimpleNamespace:
        return SimpleNamespace(family=family, address=address)

    found = {
        "lo": [card(socket.AF_INET, "127.0.0.1")],
        "eth0": [
            card(socket.AF_INET6, "fe80::1%eth0"),
            card(socket.AF_INET6, "fd00::2"),
            card(socket.AF_INET, "192.168.1.7"),
            card(psutil.AF_LINK, "00:11:22:33:44:55"),
        ],
    }
    monkeypatch.setattr(psutil, "net_if_addrs", lambda: found)

    assert addresses.own_addresses() == ("192.168.1.7", "fd00::2")


def test_this_machine_has_addresses_that_are_addresses() -> None:
    """The real call, whatever it returns here."""
    for one in addresses.own_addresses():
        assert not ipaddress.ip_address(one).is_loopback


@pytest.mark.parametrize(
    ("name", "names"),
    [
        ("Box.lan", ("box.lan", "box", "box.local")),
        ("box", ("box", "box.local")),
        ("localhost", ()),
        ("", ()),
    ],
)
def test_a_machine_goes_by_its_short_name_and_by_local(monkeypatch, name, names) -> None:
    """What people type into another machine."""
    monkeypatch.setattr(socket, "gethostname", lambda: name)

    assert addresses.own_names() == names


def test_everywhere_is_reached_at_loopback() -> None:
    """Nobody connects to 0.0.0.0."""
    assert addresses.reached_here("0.0.0.0") == "127.0.0.1"
    assert addresses.reached_here("::") == "::1"
    assert addresses.reached_here("192.168.1.7") == "192.168.1.7"
    assert addresses.in_url("::1") == "[::1]"
