"""The gateway's port: kept, moved, or agreed on."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from studio.app import doorway
from studio.app.settings import SettingsFile
from studio.domain.errors import PortTaken
from studio.domain.events import Event, GatewayChanged
from studio.gateway.keys import KeyStore
from studio.gateway.service import Gateway
from tests.fakes.weir import free_port


@pytest.fixture
def taken() -> Iterator[int]:
    """Return a port that somebody listens on."""
    with socket.socket() as listener:
        listener.bind((doorway.ADDRESS, 0))
        listener.listen()
        yield int(listener.getsockname()[1])


async def test_it_opens_once_and_stays(tmp_path: Path) -> None:
    """A second start of the same must not shake off the clients of the first."""
    gateway = Gateway(KeyStore(tmp_path / "db"), upstream=lambda: None)
    settings, heard = SettingsFile(tmp_path / "settings.json"), list[Event]()
    port = free_port()

    for _ in range(2):
        base_url = await doorway.open_gateway(
            gateway, settings, heard.append, port=port, take_next=False
        )

    assert base_url == f"http://127.0.0.1:{port}/v1"
    assert heard == [GatewayChanged(base_url=base_url)]
    assert SettingsFile(tmp_path / "settings.json").now.port == port
    await gateway.close()


async def test_a_taken_port_is_refused_or_moved_from(tmp_path: Path, taken: int) -> None:
    """Moving is agreed on: clients are configured with the number."""
    gateway = Gateway(KeyStore(tmp_path / "db"), upstream=lambda: None)
    settings = SettingsFile(tmp_path / "settings.json")

    with pytest.raises(PortTaken):
        await doorway.open_gateway(
            gateway, settings, lambda _event: None, port=taken, take_next=False
        )
    await doorway.open_gateway(gateway, settings, lambda _event: None, port=taken, take_next=True)

    assert gateway.info().port not in (None, taken)
    assert settings.now.port == gateway.info().port
    await gateway.close()
