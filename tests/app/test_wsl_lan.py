"""Other machines' way to the gateway: what runs as administrator, and what is remembered of it."""

import pytest

from studio.app import wsl_lan
from studio.app.wsl_lan import WslLan
from studio.domain.errors import StudioError
from studio.domain.wsl import WslLanRequest
from tests.fakes.registry import FakeRegistry

COMMANDS = wsl_lan.commands("172.20.1.2")
OPEN = WslLanRequest(is_open=True, consent=True)
CLOSE = WslLanRequest(is_open=False, consent=True)


class Administrator:
    """Says yes or no, and notes what ran."""

    def __init__(self, status: int | None) -> None:
        self.status = status
        self.ran: list[tuple[str, str]] = []

    async def __call__(self, program: str, parameters: str) -> int | None:
        """Run it, or not."""
        self.ran.append((program, parameters))
        return self.status


async def test_it_is_opened_once_and_closed_again() -> None:
    """The removal of the program looks at the same value."""
    registry, administrator = FakeRegistry(), Administrator(0)
    lan = WslLan(registry, administrator)

    await lan.change(OPEN, COMMANDS)
    assert lan.is_open
    assert registry.values == {
        (wsl_lan.KEY, wsl_lan.NAME): 1, (wsl_lan.KEY, wsl_lan.ADDRESS): "172.20.1.2",
    }  # fmt: skip
    [(program, line)] = administrator.ran
    assert program == "cmd.exe"
    assert "connectaddress=172.20.1.2" in line
    assert line.index("delete rule") < line.index("add rule")

    await lan.change(CLOSE, ())
    assert not lan.is_open
    assert registry.values == {}
    assert "portproxy delete" in administrator.ran[-1][1]


@pytest.mark.parametrize(
    ("opened", "now", "is_stale"),
    [
        (COMMANDS, COMMANDS, False),
        (COMMANDS, wsl_lan.commands("172.20.9.9"), True),
        (COMMANDS, wsl_lan.commands(None), True),
        (wsl_lan.commands(None), wsl_lan.commands(None), False),
        (COMMANDS, (), False),
    ],
    ids=["same", "another address", "mirrored since", "mirrored", "not known"],
)
async def test_a_proxy_that_leads_nowhere_is_told(
    opened: tuple[str, ...], now: tuple[str, ...], is_stale: bool
) -> None:
    """NAT gives the Linux another address each time; then others wait in vain."""
    lan = WslLan(FakeRegistry(), Administrator(0))
    assert not lan.is_stale(now)

    await lan.change(OPEN, opened)

    assert lan.is_stale(now) is is_stale


def test_the_gateway_is_told_the_pcs_names() -> None:
    """Inside the Linux nobody knows them, and the gateway refuses names that it does not know."""
    names, addresses = ("desk", "desk.local"), ("172.20.1.1", "192.168.1.5", "fd00::5")

    told = wsl_lan.gateway_commands(COMMANDS, names, addresses)

    listen = "weir gateway listen 0.0.0.0 --expose"
    assert told == (listen, "weir gateway allow desk", "weir gateway allow 192.168.1.5")
    assert wsl_lan.gateway_commands(wsl_lan.commands(None), names, addresses) == (listen,)
    hosts = wsl_lan.gateway_hosts(COMMANDS, names, addresses)
    assert told[1:] == tuple(f"weir gateway allow {one}" for one in hosts)
    assert wsl_lan.gateway_hosts(wsl_lan.commands(None), names, addresses) == ()
    assert wsl_lan.gateway_commands((), names, addresses) == ()


async def test_a_mirrored_network_wants_the_rule_alone() -> None:
    """There, a proxy from a port to itself would take the port away."""
    [rule] = wsl_lan.commands(None)
    assert "firewall" in rule


@pytest.mark.parametrize(
    ("request_", "status", "commands", "code"),
    [
        (WslLanRequest(is_open=True), 0, COMMANDS, "wsl-elevation"),
        (OPEN, None, COMMANDS, "wsl-lan-refused"),
        (OPEN, 1, COMMANDS, "wsl-lan-failed"),
        (OPEN, 0, (), "wsl-lan-unknown"),
        (CLOSE, None, (), "wsl-lan-refused"),
    ],
)
async def test_what_did_not_happen_is_not_remembered(
    request_: WslLanRequest, status: int | None, commands: tuple[str, ...], code: str
) -> None:
    """And each has its own sentence."""
    lan = WslLan(FakeRegistry(), Administrator(status))

    with pytest.raises(StudioError) as caught:
        await lan.change(request_, commands)

    assert caught.value.code == code
    assert not lan.is_open
