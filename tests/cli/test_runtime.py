"""`weir runtime …`: what goes to the service, and what is shown of its answer."""

from collections.abc import Callable

import msgspec

from studio.domain.runtimes import PinRequest, RuntimeDetail, RuntimeList
from tests.cli.conftest import Ran
from tests.cli.fake_service import RUNTIMES, FakeConnector, FakeService

Weir = Callable[..., Ran]
OPEN = "sm70-1cat-1.5.2"
SHA256 = "ab" * 32


def test_the_list_as_a_document_is_the_record(weir: Weir) -> None:
    """Scripts read names, states, ids, bytes, verdicts and reasons under one key."""
    ran = weir("runtime", "list", "--json")

    assert msgspec.json.decode(ran.out, type=RuntimeList).runtimes == RUNTIMES
    assert set(ran.document()) == {"runtimes"}
    first = msgspec.json.decode(ran.out)["runtimes"][0]
    assert {"name", "state", "runtime_id", "bytes", "usable", "reasons"} <= set(first)


def test_the_list_names_each_runtime_and_why_not(weir: Weir) -> None:
    """A person sees at once what waits for them."""
    ran = weir("runtime", "list")

    assert ran.status == 0
    assert "No source gives the sha256 of 1cat-vllm" in " ".join(ran.out.split())


def test_one_is_shown(weir: Weir) -> None:
    """In words, and as a document."""
    assert "State" in weir("runtime", "show", OPEN).out

    ran = weir("runtime", "show", OPEN, "--json")

    assert msgspec.json.decode(ran.out, type=RuntimeDetail).info == RUNTIMES[1]


def test_an_unknown_one_is_an_error(weir: Weir) -> None:
    """With the status of names that nothing answers to."""
    ran = weir("runtime", "show", "nope", "--json")

    assert ran.document()["code"] == "runtime-unknown"
    assert ran.status == 3


def test_a_pin_goes_to_the_service_as_it_was_typed(weir: Weir, service: FakeService) -> None:
    """Whether it is right is decided where the recipe is."""
    ran = weir("runtime", "pin", OPEN, "--hash", f"a.whl={SHA256}", "--confirm", "lock")

    assert service.pins == [
        (OPEN, PinRequest(hashes={"a.whl": SHA256}, confirm=("lock",))),
    ]
    assert ran.out == f"{OPEN}: written down. Nothing is open any more: it can be installed.\n"


def test_a_pin_as_a_document_is_the_runtime_as_it_then_is(weir: Weir) -> None:
    """The window shows the new state without asking again."""
    ran = weir("runtime", "pin", OPEN, "--commit", "0" * 40, "--json")

    assert msgspec.json.decode(ran.out, type=RuntimeDetail).info.state == "available"


def test_none_of_it_needs_a_service(weir: Weir, connector: FakeConnector) -> None:
    """Looking and pinning come before anything was started."""
    connector.is_running = False

    for command in (["list"], ["show", OPEN], ["pin", OPEN, "--forget"]):
        assert weir("runtime", *command).status == 0

    assert connector.offline_used == 3
    assert connector.started == []
