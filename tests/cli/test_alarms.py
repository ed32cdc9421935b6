"""`weir alarms` against a service, and without one."""

from collections.abc import Callable

import msgspec

from studio.domain.alarms import Alarm, AlarmList, MuteRequest
from studio.domain.events import AlarmChanged, ServiceStopping
from tests.cli.alarm_samples import ALARMS, OVER, SPILL, WAITING
from tests.cli.fake_service import FakeConnector, FakeService
from tests.cli.typed import Ran

Weir = Callable[..., Ran]


def test_what_holds_is_shown(weir: Weir) -> None:
    """With cause and remedy."""
    ran = weir("alarms")

    assert ran.status == 0
    assert "Lower the KV pin to 3.32 GiB" in ran.out


def test_programs_get_the_record(weir: Weir) -> None:
    """As it is."""
    assert msgspec.json.decode(weir("alarms", "list", "--json").out, type=AlarmList) == ALARMS


def test_it_works_without_a_service(weir: Weir, connector: FakeConnector) -> None:
    """Nothing is watched then, and none is started for it."""
    connector.is_running = False

    assert weir("alarms").status == 0
    assert connector.started == []


def test_muting_says_what_it_did(weir: Weir, service: FakeService) -> None:
    """For how long goes with it."""
    ran = weir("alarms", "mute", "requests-waiting", "--for", "8h")

    assert ran.out == "Muted `requests-waiting`.\n"
    assert service.mutes == [("requests-waiting", MuteRequest(for_s=28_800.0))]
    assert weir("alarms", "unmute", "requests-waiting").out.startswith("`requests-waiting`")
    assert service.mutes[-1] == ("requests-waiting", None)
    weir("alarms", "mute", "spill-swap", "--once", "--json")
    assert service.mutes[-1] == ("spill-swap", MuteRequest(is_once=True))


def test_following_shows_what_comes_until_the_service_ends(
    weir: Weir, service: FakeService
) -> None:
    """Muted ones stay silent; what is over is one line."""
    service.announced = (
        *(AlarmChanged(alarm=one) for one in (SPILL, WAITING, OVER)),
        ServiceStopping(reason="done"),
    )

    ran = weir("alarms", "-f")

    assert ran.status == 0
    assert "spill-wddm" in ran.out
    assert "requests-waiting" not in ran.out
    assert "Over at" in ran.out


def test_following_for_programs_is_a_record_a_line(weir: Weir, service: FakeService) -> None:
    """Muted ones too: a program decides for itself."""
    service.announced = (
        *(AlarmChanged(alarm=one) for one in (SPILL, WAITING)),
        ServiceStopping(reason="done"),
    )

    lines = weir("alarms", "--json", "-f").out.splitlines()

    assert [msgspec.json.decode(line, type=Alarm) for line in lines] == [SPILL, WAITING]
