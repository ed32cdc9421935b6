"""The commands that ask one thing and show the answer."""

from collections.abc import Callable

import msgspec
import pytest

from studio.cli.keys import chosen
from studio.domain.control import KeyInfo, Status
from studio.domain.errors import BadInput, NotFound
from studio.domain.server import EngineState
from tests.cli.fake_service import FakeConnector, FakeService
from tests.cli.serving_samples import KEY, ready
from tests.cli.typed import Ran

Weir = Callable[..., Ran]


def test_stop_ends_the_engine_and_keeps_the_service(weir: Weir, service: FakeService) -> None:
    """Memory comes back, address and keys stay."""
    service.engine = ready()

    ran = weir("stop")

    assert ran.status == 0
    assert service.engine.state is EngineState.STOPPED
    assert service.is_running
    assert "The engine is stopped." in ran.out


def test_down_ends_the_service(weir: Weir, service: FakeService) -> None:
    """The opposite of `up`."""
    ran = weir("down")

    assert ran.status == 0
    assert not service.is_running
    assert ran.out == "Engine and service have ended.\n"


@pytest.mark.parametrize("command", ["down", "stop", "ps"])
def test_nothing_running_is_no_error(weir: Weir, connector: FakeConnector, command: str) -> None:
    """A script that cleans up runs these without looking first."""
    connector.is_running = False

    ran = weir(command)

    assert (ran.status, ran.out) == (0, "Nothing is running.\n")


def test_stopping_with_json_says_what_there_was(weir: Weir, service: FakeService) -> None:
    """Programs tell "ended it" from "there was nothing" by the document."""
    service.engine = ready()

    assert weir("stop", "--json").document() == {"was_running": True, "service_running": True}
    assert weir("stop", "--json").document() == {"was_running": False, "service_running": True}
    assert weir("down", "--json").document() == {"was_running": True, "service_running": False}
    assert weir("down", "--json").document() == {"was_running": False, "service_running": False}


def test_down_does_not_mind_a_service_that_is_gone_before_it_answered(
    weir: Weir, service: FakeService
) -> None:
    """The process may end between doing and saying; gone is what was asked for."""
    service.dies_in_down = True

    assert weir("down").status == 0


def test_status_with_json_is_the_whole_record(weir: Weir, service: FakeService) -> None:
    """What a monitoring script reads is what the service said, nothing renamed."""
    service.engine = ready()

    ran = weir("status", "--json")

    assert msgspec.json.decode(ran.out, type=Status) == service.status()


def test_status_of_nothing_is_an_error_with_its_own_status(
    weir: Weir, connector: FakeConnector
) -> None:
    """Exit status 6 tells a script that there is no service, in words what starts one."""
    connector.is_running = False

    plain, as_json = weir("status"), weir("status", "--json")

    assert plain.status == as_json.status == 6
    assert "`weir up` starts it." in plain.err
    assert as_json.document()["code"] == "service-not-running"


def test_ps_with_json_is_a_list(weir: Weir, connector: FakeConnector) -> None:
    """The list is there also when it is empty."""
    assert '"role":"engine"' in weir("ps", "--json").out

    connector.is_running = False

    assert weir("ps", "--json").out == "[]\n"


@pytest.mark.parametrize("command", [["presets"], ["keys", "list"], ["runtime", "list"]])
def test_what_needs_no_service_works_without_one(
    weir: Weir, connector: FakeConnector, command: list[str]
) -> None:
    """Looking at presets, keys or runtimes must not start anything."""
    connector.is_running = False

    assert weir(*command).status == 0
    assert connector.offline_used == 1
    assert connector.started == []


def test_a_running_service_is_asked_first(weir: Weir, connector: FakeConnector) -> None:
    """Two processes must not write the same keys."""
    weir("keys", "list")

    assert connector.offline_used == 0


def test_a_new_key_stands_alone_on_standard_output(weir: Weir) -> None:
    """`KEY=$(weir keys create NAME)` is what people will write."""
    ran = weir("keys", "create", "Open WebUI")

    assert ran.out == f"{KEY}\n"
    assert "Key `Open WebUI` was made. It is shown this once only:" in ran.err


def test_a_key_is_revoked_by_name_or_by_id(weir: Weir, service: FakeService) -> None:
    """The list shows both, so both are taken."""
    weir("keys", "create", "phone")
    weir("keys", "create", "laptop")

    assert weir("keys", "revoke", "phone").out == "Key `phone` no longer works.\n"
    assert weir("keys", "revoke", "key2").status == 0
    assert all(key.revoked_at for key in service.keys)


def _key(name: str, key_id: str, *, revoked: bool = False) -> KeyInfo:
    return KeyInfo(
        id=key_id,
        name=name,
        prefix="sk-weir-0123",
        created_at="2026-11-29T10:00:00+00:00",
        revoked_at="2026-11-29T11:00:00+00:00" if revoked else None,
    )


def test_the_working_key_of_a_name_is_chosen() -> None:
    """A name may be used again after a revocation; the old key is not meant."""
    keys = [_key("phone", "1", revoked=True), _key("phone", "2")]

    assert chosen(keys, "phone").id == "2"


def test_a_name_goes_before_an_id() -> None:
    """Somebody may call a key like another one's id; the name was chosen, the id was not."""
    keys = [_key("2", "1"), _key("phone", "2")]

    assert chosen(keys, "2").id == "1"


def test_an_unknown_key_is_answered_with_the_near_one() -> None:
    """A slip in a name must not send the person back to the list."""
    with pytest.raises(NotFound) as caught:
        chosen([_key("laptop", "1")], "latpop")

    assert (caught.value.code, caught.value.hint) == ("key-unknown", "Did you mean `laptop`?")


def test_a_revoked_key_is_said_to_be_revoked() -> None:
    """Unknown and revoked before are different news."""
    with pytest.raises(BadInput) as caught:
        chosen([_key("phone", "1", revoked=True)], "phone")

    assert caught.value.code == "key-revoked"
