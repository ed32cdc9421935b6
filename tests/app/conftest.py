"""These tests run on the event loop that the service runs on."""

import uvloop


def pytest_asyncio_loop_factories(config, item):
    """Return uvloop."""
    return {"uvloop": uvloop.new_event_loop}
