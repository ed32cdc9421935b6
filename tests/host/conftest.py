"""The HTTP core is tested on both event loops: their transports differ in detail.

The service runs on uvloop; where there is none (Windows), on asyncio's own loop.
"""

import asyncio

import uvloop

_BOTH = {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}
_ONE = {"asyncio": asyncio.new_event_loop}
_MODULES = ("test_http_client", "test_http_connection", "test_http_exchange", "test_http_server")


def pytest_asyncio_loop_factories(config, item):
    """Return the loops that a test runs on, once each."""
    return _BOTH if item.module.__name__.rpartition(".")[2] in _MODULES else _ONE
