"""Whether there is a way out, told by the machine's own links."""

import socket
from types import SimpleNamespace

import psutil
import pytest

from studio.host import online

ETHERNET = {"lo": ["127.0.0.1", "::1"], "eth0": ["192.168.1.5"]}


@pytest.mark.parametrize(
    ("links", "down", "expected"),
    [
        (ETHERNET, (), True),
        (ETHERNET, ("eth0",), False),
        ({"lo": ["127.0.0.1"]}, (), False),
        ({"lo": ["127.0.0.1"], "eth0": []}, (), False),
        ({"eth0": ["169.254.3.4", "fe80::1%eth0"]}, (), False),
        ({"eth0": ["fd00::1%eth0"]}, (), True),
    ],
)
def test_a_link_with_an_address_that_reaches_further_is_a_way_out(
    monkeypatch: pytest.MonkeyPatch,
    links: dict[str, list[str]],
    down: tuple[str, ...],
    expected: bool,
) -> None:
    """An address of one's own making is what a link has while nobody answers on it."""

    def family(text: str) -> int:
        return socket.AF_INET6 if ":" in text else socket.AF_INET

    addresses = {
        name: [SimpleNamespace(family=family(text), address=text) for text in texts]
        for name, texts in links.items()
    }
    states = {name: SimpleNamespace(isup=name not in down) for name in links}
    monkeypatch.setattr(psutil, "net_if_addrs", lambda: addresses)
    monkeypatch.setattr(psutil, "net_if_stats", lambda: states)

    assert online.has_network() is expected


def test_links_that_cannot_be_read_do_not_hold_up_a_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Some containers hide them; the download itself will tell."""

    def refuse() -> object:
        raise PermissionError(13, "no")

    monkeypatch.setattr(psutil, "net_if_stats", refuse)

    assert online.has_network() is True
