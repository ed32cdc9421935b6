"""`weir runtime …`: what goes to the service, and what is shown of its answer."""

from collections.abc import Callable

import msgspec

from studio.domain.integrity import Collected, Difference, DifferenceKind, Repaired, Verdict
from studio.domain.runtimes import PinRequest, RuntimeDetail, RuntimeList
from tests.cli.fake_service import FakeConnector, FakeService
from tests.cli.runtime_samples import COLLECTED, REPAIRED, RUNTIMES, VERDICT
from tests.cli.typed import Ran

Weir = Callable[..., Ran]
OPEN = "sm70-1cat-1.5.2"
SHA256 = "ab" * 32
NAME = "cpu-vllm-0.32.0"


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


def test_an_installation_shows_how_far_it_is(weir: Weir, service: FakeService) -> None:
    """Gigabytes without a word look like a hang; the id stands at the end."""
    ran = weir("runtime", "install", NAME, "--yes")

    assert ran.status == 0
    assert "93.4 MiB of 585.0 MiB" in ran.err
    assert ran.out == f"{NAME} is installed (3f9a0c51b7d2), 2.00 GiB on disk.\n"
    assert b'{"consent":true}' in service.bodies


def test_what_takes_long_gets_a_service_that_ends_with_it(
    weir: Weir, connector: FakeConnector, service: FakeService
) -> None:
    """An installation by hand must not leave a process behind; a look must not start one."""
    connector.is_running = False

    assert weir("runtime", "repair", NAME).status == 0

    assert connector.started == [True]
    assert service.holders == 0


def test_a_stop_says_what_stays(weir: Weir) -> None:
    """Whoever stops it wants to know that nothing of it is lost, and what is in use."""
    said = " ".join(weir("runtime", "stop", NAME).out.split())

    assert "What was fetched is kept" in said
    assert "3f9a0c51b7d2 stays in use." in said
    assert weir("runtime", "stop", NAME, "--json").document()["was_running"] is True


def test_a_runtime_that_is_whole_is_status_0(weir: Weir, service: FakeService) -> None:
    """A script tells by the status."""
    ran = weir("runtime", "verify", NAME, "--full")

    assert ran.status == 0
    assert "is as it was installed" in ran.out
    assert service.bodies == [b'{"full":true}']


def test_a_difference_is_status_4_also_as_a_document(weir: Weir, service: FakeService) -> None:
    """The document says which files; words name the remedy."""
    one = Difference(path="python/lib/x.py", kind=DifferenceKind.MISSING)
    service.verdict = msgspec.structs.replace(VERDICT, differences=(one,))

    ran, plain = weir("runtime", "verify", NAME, "--json"), weir("runtime", "verify", NAME)

    assert (ran.status, plain.status) == (4, 4)
    assert msgspec.json.decode(ran.out, type=Verdict) == service.verdict
    assert "missing: python/lib/x.py" in plain.out
    assert f"`weir runtime repair {NAME}` restores them." in plain.out


def test_documents_are_the_records(weir: Weir) -> None:
    """Nothing renamed on the way."""
    repaired = weir("runtime", "repair", NAME, "--json").out
    collected = weir("runtime", "gc", "--json").out

    assert msgspec.json.decode(repaired, type=Repaired) == REPAIRED
    assert msgspec.json.decode(collected, type=Collected) == COLLECTED
    assert weir("runtime", "versions", NAME, "--json").document()["name"] == NAME


def test_going_back_shows_what_is_used_now(weir: Weir, service: FakeService) -> None:
    """One step back, one step forward, and the table marks where one stands."""
    ran = weir("runtime", "rollback", NAME, "--forward")

    assert service.bodies == [b'{"forward":true}']
    (used,) = [line for line in ran.out.splitlines() if line.endswith("in use")]
    assert used.startswith("3f9a0c51b7d2")


def test_clearing_up_says_what_and_how_much(weir: Weir, service: FakeService) -> None:
    """`--dry-run` goes along; the figure is that of the service."""
    ran = weir("runtime", "gc", "--dry-run")

    assert service.bodies == [b'{"dry_run":true}']
    assert ran.out.splitlines()[0] == "3.00 GiB are free again:"


def test_a_step_cannot_be_wanted_and_left_out_at_once(weir: Weir, service: FakeService) -> None:
    """The last one winning in silence is a guess about what somebody meant."""
    ran = weir("runtime", "pin", OPEN, "--with", "x", "--without", "x")

    assert ran.status == 2
    assert "`--with x` and `--without x` contradict each other" in " ".join(ran.err.split())
    assert service.pins == []
