"""Which service a command talks to."""

import pytest

from studio.cli.reach import running, running_or_none, running_or_offline
from studio.domain.errors import ServiceUnreachable
from tests.cli.fake_service import FakeConnector


async def test_no_service_is_none_and_another_trouble_is_not(connector: FakeConnector) -> None:
    """A service that hangs must not be taken for one that is not there."""
    connector.is_running = False

    assert await running_or_none(connector) is None

    connector.refuses = ServiceUnreachable("service-unreachable", "It does not answer.")
    with pytest.raises(ServiceUnreachable, match="does not answer"):
        await running_or_offline(connector)


async def test_asking_for_the_running_one_never_starts_one(connector: FakeConnector) -> None:
    """`weir status` has no side effects."""
    connector.is_running = False

    with pytest.raises(ServiceUnreachable) as caught:
        await running(connector)

    assert caught.value.code == "service-not-running"
    assert connector.started == []


async def test_offline_is_used_only_without_a_service(connector: FakeConnector) -> None:
    """One process owns the data; this one steps in only when that is nobody."""
    client = await running_or_offline(connector)
    await client.close()
    assert connector.offline_used == 0

    connector.is_running = False
    client = await running_or_offline(connector)
    await client.close()

    assert connector.offline_used == 1
