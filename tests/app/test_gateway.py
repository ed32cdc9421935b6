"""The gateway's door: what is chosen is kept, what is dangerous is asked for."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from studio.app.gateway import Door, changed
from studio.app.settings import SettingsFile
from studio.domain.errors import BadInput, NeedsConsent, PortTaken
from studio.domain.events import Event, GatewayChanged
from studio.domain.gateway import GatewayChange, GatewaySettings
from studio.gateway.keys import KeyStore
from studio.gateway.service import Gateway
from studio.host import certificates, wsl
from studio.host.http_ports import listen
from studio.host.paths import Paths
from tests.fakes.weir import free_port


class Made:
    """A door and what it announced."""

    def __init__(self, home: Path, keys: int = 1) -> None:
        self.events: list[Event] = []
        self.keys = keys
        self.store = KeyStore(home / "studio.db")
        self.gateway = Gateway(self.store, upstream=lambda: None)
        self.settings = SettingsFile(home / "settings.json")
        self.door = Door(
            self.gateway,
            self.settings,
            Paths(home=home, catalogue=home),
            active_keys=lambda: self.keys,
            publish=self.events.append,
        )


@pytest.fixture
async def made(tmp_path: Path) -> AsyncIterator[Made]:
    """Return a door in a home of its own."""
    door = Made(tmp_path)
    await door.store.open()
    yield door
    await door.gateway.close()
    await door.store.close()


async def test_a_certificate_is_named_as_windows_names_it(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command on Windows hands its path on to the service in the Linux."""
    monkeypatch.setenv("WSL_DISTRO_NAME", "weir-studio")
    own, key = certificates.own_certificate(tmp_path / "own", ["localhost"])
    files = {rf"C:\Zoë\{own.name}": str(own), rf"C:\Zoë\{key.name}": str(key)}
    monkeypatch.setattr(wsl, "seen_inside", lambda path: files[str(path)])

    report = await made.door.change(
        GatewayChange(certificate=rf"C:\Zoë\{own.name}", private_key=rf"C:\Zoë\{key.name}")
    )

    assert (report.settings.certificate, report.settings.private_key) == (str(own), str(key))
    assert report.fingerprint == certificates.fingerprint(own)


async def test_the_port_is_kept_and_a_taken_one_is_named(made: Made) -> None:
    """Clients keep their address over restarts."""
    port = free_port()
    base_url = await made.door.open(port, False)
    assert base_url == f"http://127.0.0.1:{port}/v1"
    assert await made.door.open(port, False) == base_url
    assert made.events == [GatewayChanged(base_url=base_url)]
    assert made.settings.now.port == port

    other = await listen("127.0.0.1", 0)
    with pytest.raises(PortTaken):
        await made.door.open(other.getsockname()[1], False)
    assert made.gateway.info().port == port
    moved = await made.door.open(other.getsockname()[1], True)
    assert made.settings.now.port != port
    assert str(made.settings.now.port) in moved
    other.close()


async def test_other_machines_get_in_only_with_a_key_and_a_yes(made: Made) -> None:
    """Ports open to the world are what hurts people today."""
    made.keys = 0
    with pytest.raises(BadInput) as without_key:
        await made.door.change(GatewayChange(address="0.0.0.0", expose=True))
    made.keys = 1
    with pytest.raises(NeedsConsent) as unasked:
        await made.door.change(GatewayChange(address="0.0.0.0"))
    with pytest.raises(NeedsConsent) as one_network:
        await made.door.change(GatewayChange(address="192.0.2.9", tls=True))

    assert without_key.value.code == "gateway-without-key"
    assert unasked.value.code == "gateway-exposed"
    assert "unencrypted" in unasked.value.message
    assert "192.0.2.9" in one_network.value.message
    assert "unencrypted" not in one_network.value.message
    assert made.settings.now.gateway == GatewaySettings()

    report = await made.door.change(GatewayChange(address="0.0.0.0", expose=True))
    assert report.settings.is_exposed
    assert report.urls[0].startswith("http://127.0.0.1:")
    assert any("unencrypted" in note for note in report.notes)
    again = await made.door.change(GatewayChange(aliases={"gpt-4o": ""}))  # asked once is enough
    assert again.settings.aliases == {"gpt-4o": ""}


async def test_an_open_door_moves_at_once_and_stays_when_it_cannot(made: Made) -> None:
    """With TLS, then to an address that this machine does not have."""
    port = free_port()
    await made.door.open(port, False)

    report = await made.door.change(GatewayChange(tls=True))
    assert report.urls == (f"https://127.0.0.1:{port}/v1",)
    assert report.fingerprint is not None
    assert made.gateway.info().base_url == f"https://127.0.0.1:{port}/v1"
    assert isinstance(made.events[-1], GatewayChanged)

    with pytest.raises(BadInput) as caught:
        await made.door.change(GatewayChange(address="192.0.2.77", expose=True))
    assert caught.value.code == "address-unusable"
    assert made.gateway.info().base_url == f"https://127.0.0.1:{port}/v1"
    assert made.settings.now.gateway.address == "127.0.0.1"


async def test_a_door_moves_to_another_port_unless_that_is_taken(made: Made) -> None:
    """The old door stays open where the new one cannot be opened; the choice is kept."""
    first, second = free_port(), free_port()
    await made.door.open(first, False)
    report = await made.door.change(GatewayChange(port=second))
    assert report.urls == (f"http://127.0.0.1:{second}/v1",)
    assert made.events[-1] == GatewayChanged(base_url=f"http://127.0.0.1:{second}/v1")
    assert made.settings.now.port == second

    taken = await listen("127.0.0.1", 0)
    with pytest.raises(PortTaken):
        await made.door.change(GatewayChange(port=int(taken.getsockname()[1])))
    taken.close()
    assert made.gateway.info().port == second
    assert made.settings.now.port == second


async def test_a_closed_door_keeps_the_port_for_its_next_opening(made: Made) -> None:
    """What is chosen before the first start holds at it."""
    report = await made.door.change(GatewayChange(port=18_444))

    assert (report.port, report.is_open) == (18_444, False)
    assert made.settings.now.port == 18_444
    with pytest.raises(BadInput, match="no port"):
        await made.door.change(GatewayChange(port=70_000))


async def test_a_choice_survives_a_restart(made: Made, tmp_path: Path) -> None:
    """Names, pages, encryption."""
    await made.door.change(
        GatewayChange(
            aliases={"gpt-4o": "qwen"}, hosts=("Studio.Example",), origins=("http://localhost:3/",)
        )
    )
    again = Made(tmp_path)

    assert again.settings.now.gateway.aliases == {"gpt-4o": "qwen"}
    assert (await again.door.report()).settings.hosts == ("studio.example",)


def test_what_is_forgotten_is_gone_and_the_rest_stays() -> None:
    """By the name that `weir gateway` shows."""
    before = GatewaySettings(
        aliases={"a": "", "b": "m"}, hosts=("one.example",), origins=("http://x.example",)
    )

    after = changed(before, GatewayChange(forget=("a", "one.example", "http://x.example")))

    assert after == GatewaySettings(aliases={"b": "m"})
    with pytest.raises(BadInput) as caught:
        changed(before, GatewayChange(forget=("nobody",)))
    assert caught.value.code == "nothing-to-forget"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (GatewayChange(aliases={"": "x"}), "alias-invalid"),
        (GatewayChange(aliases={"a\nb": "x"}), "alias-invalid"),
        (GatewayChange(aliases={"x" * 257: "x"}), "alias-invalid"),
        (GatewayChange(aliases={str(n): "" for n in range(101)}), "alias-invalid"),
        (GatewayChange(hosts=("http://x.example",)), "host-invalid"),
        (GatewayChange(hosts=("x/y",)), "host-invalid"),
        (GatewayChange(hosts=("*",)), "host-invalid"),
        (GatewayChange(hosts=("",)), "host-invalid"),
        (GatewayChange(origins=("*",)), "origin-invalid"),
        (GatewayChange(origins=("https://*.example",)), "origin-invalid"),
        (GatewayChange(origins=("http://x/y",)), "origin-invalid"),
        (GatewayChange(origins=("file:///x",)), "origin-invalid"),
        (GatewayChange(origins=("http://x y",)), "origin-invalid"),
        (GatewayChange(origins=("http://a@b",)), "origin-invalid"),
        (GatewayChange(origins=("http://",)), "origin-invalid"),
        (GatewayChange(origins=("http://x:",)), "origin-invalid"),
        (GatewayChange(origins=("http://x:0",)), "origin-invalid"),
        (GatewayChange(origins=("http://x:65536",)), "origin-invalid"),
        (GatewayChange(origins=("http://x:y",)), "origin-invalid"),
        (GatewayChange(origins=("http://[::1",)), "origin-invalid"),
        (GatewayChange(address="everywhere"), "address-invalid"),
        (GatewayChange(address="224.0.0.1"), "address-invalid"),
        (GatewayChange(certificate="/x"), "certificate-pair"),
        (GatewayChange(certificate="/x", private_key="/y", tls=False), "certificate-unused"),
    ],
)
def test_what_would_open_too_much_or_nothing_is_refused(change: GatewayChange, code: str) -> None:
    """Never a wildcard."""
    with pytest.raises(BadInput) as caught:
        changed(GatewaySettings(), change)

    assert caught.value.code == code


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("HTTPS://Studio.Example/", "https://studio.example"),
        ("http://[::1]:65535", "http://[::1]:65535"),
        ("http://127.0.0.1:3000", "http://127.0.0.1:3000"),
    ],
)
def test_a_page_is_kept_in_the_spelling_that_browsers_send(text: str, kept: str) -> None:
    """In small letters, without a slash at its end."""
    assert changed(GatewaySettings(), GatewayChange(origins=(text,))).origins == (kept,)


async def test_the_tunnel_that_is_offered_leads_to_the_port_in_use(made: Made) -> None:
    """Whoever copies it gets through."""
    port = free_port()
    await made.door.open(port, False)

    with pytest.raises(NeedsConsent) as asked:
        await made.door.change(GatewayChange(address="0.0.0.0"))

    assert f"ssh -L {port}:127.0.0.1:{port} HOST" in (asked.value.hint or "")


def test_loopback_by_name_is_loopback() -> None:
    """And a certificate that is no longer wanted goes with `--no-tls`."""
    own = GatewaySettings(tls=True, certificate="/c", private_key="/k")

    assert changed(own, GatewayChange(address="localhost")).address == "127.0.0.1"
    assert changed(own, GatewayChange(address="[::1]")) == GatewaySettings(
        tls=True, certificate="/c", private_key="/k", address="::1"
    )
    assert changed(own, GatewayChange(tls=False)) == GatewaySettings()
    assert changed(own, GatewayChange(tls=True)) == GatewaySettings(tls=True)
