"""The gateway's settings."""

import pytest

from studio.domain.gateway import GatewaySettings


@pytest.mark.parametrize(
    ("address", "is_exposed"),
    [("127.0.0.1", False), ("::1", False), ("0.0.0.0", True), ("::", True), ("10.0.0.1", True)],
)
def test_whatever_is_not_loopback_is_exposed(address: str, is_exposed: bool) -> None:
    """A door that others can reach needs a key and a yes."""
    assert GatewaySettings(address=address).is_exposed is is_exposed
