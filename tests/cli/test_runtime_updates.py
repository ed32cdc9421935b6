"""`weir runtime updates` and `update`: what goes to the service, and what is shown."""

from collections.abc import Callable

import msgspec

from studio.domain.runtimes import InstallRequest, RuntimeUpdated, RuntimeUpdates
from tests.cli.fake_service import FakeConnector, FakeService
from tests.cli.runtime_samples import UPDATED, UPDATES
from tests.cli.typed import Ran

Weir = Callable[..., Ran]
NAME = "cpu-vllm-0.32.0"


def test_the_offers_are_shown_and_are_a_document(weir: Weir) -> None:
    """For people with commands to type, for programs as it is."""
    ran = weir("runtime", "updates", "--json")

    assert msgspec.json.decode(ran.out, type=RuntimeUpdates) == UPDATES
    assert "weir runtime update" in weir("runtime", "updates").out


def test_looking_needs_no_service(weir: Weir, connector: FakeConnector) -> None:
    """It reads the disk and the catalogue."""
    connector.is_running = False

    assert weir("runtime", "updates").status == 0
    assert connector.offline_used == 1
    assert connector.started == []


def test_an_update_goes_to_the_service_with_the_persons_yes(
    weir: Weir, service: FakeService
) -> None:
    """And ends with what is used now."""
    ran = weir("runtime", "update", NAME, "--yes", "--json")

    assert msgspec.json.decode(ran.out, type=RuntimeUpdated) == UPDATED
    assert f"POST /runtimes/{NAME.replace('.', '%2E')}/update" in [
        call.replace(NAME, NAME.replace(".", "%2E")) for call in service.calls
    ]
    assert msgspec.json.decode(service.bodies[-1], type=InstallRequest).consent
    assert "rollback" in weir("runtime", "update", NAME).out


def test_an_update_wants_a_name(weir: Weir) -> None:
    """All at once would be a way to replace more than a person looked at."""
    assert weir("runtime", "update").status == 2
