"""The engine as the gateway sees it."""

from studio.gateway.engine import EngineTarget
from studio.host.http_client import Upstream


def test_an_engine_without_a_key_is_asked_without_one():
    """One that somebody else started may have none."""
    upstream = Upstream(port=1)

    assert EngineTarget(upstream=upstream, key=None, served_name="m").authorization == []
    assert EngineTarget(upstream=upstream, key="k", served_name="m").authorization == [
        (b"authorization", b"Bearer k")
    ]
