"""A server for downloads; and two event loops for the HTTP core: their transports differ.

The service runs on uvloop; where there is none (Windows), on asyncio's own loop.
"""

import asyncio
from collections.abc import Iterator

import pytest
import uvloop

from tests.fakes import hostile
from tests.fakes.hostile import Hostile
from tests.host.downloads import DATA, LARGE, NAME

_BOTH = {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}
_ONE = {"asyncio": asyncio.new_event_loop}
_MODULES = ("test_http_client", "test_http_connection", "test_http_exchange", "test_http_server")


def pytest_asyncio_loop_factories(config, item):
    """Return the loops that a test runs on, once each."""
    return _BOTH if item.module.__name__.rpartition(".")[2] in _MODULES else _ONE


@pytest.fixture
def server() -> Iterator[Hostile]:
    """Serve a small file and a large one."""
    with hostile.serving({NAME: DATA, "/large": LARGE}) as served:
        yield served
