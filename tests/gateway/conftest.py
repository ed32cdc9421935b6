"""A gateway in front of a stand-in engine on a Unix socket, as in the product."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import uvloop

from studio.gateway.engine import EngineTarget
from studio.gateway.keys import KeyStore
from studio.gateway.service import Gateway
from studio.host.http_client import Upstream
from tests.gateway.engine_support import ENGINE_KEY, Engine, Setup


def pytest_asyncio_loop_factories(config, item):
    """Return uvloop, on which the service runs."""
    return {"uvloop": uvloop.new_event_loop}


@pytest.fixture
async def keys(tmp_path: Path) -> AsyncIterator[KeyStore]:
    """Return an open key store."""
    store = KeyStore(tmp_path / "keys" / "studio.db")
    await store.open()
    yield store
    await store.close()


@pytest.fixture
async def setup(keys: KeyStore, tmp_path: Path) -> AsyncIterator[Setup]:
    """Return a gateway with a key, and the engine behind it."""
    engine = Engine(tmp_path / "engine.sock")
    await engine.open()
    target = EngineTarget(
        upstream=Upstream(socket_path=engine.socket), key=ENGINE_KEY, served_name="smollm2"
    )
    made = Setup(keys=keys, engine=engine, target=target, key=(await keys.create("test")).key)
    made.gateway = Gateway(
        keys,
        upstream=lambda: made.target,
        body_limit_bytes=1 << 20,
        hosts=["studio.example"],
        origins=["https://app.example"],
        on_record=made.records.append,
    )
    await made.gateway.open()
    yield made
    async with asyncio.timeout(30):
        await made.gateway.close()
        target.upstream.close()
        await engine.close()
