"""`--host`: anywhere where a host is looked at, nowhere else."""

from collections.abc import Callable

import pytest

from studio.cli.arguments import parse
from studio.cli.mistakes import UsageError
from studio.cli.replay import refused
from tests.cli.fake_service import FakeConnector, FakeService
from tests.cli.typed import Ran

Weir = Callable[..., Ran]


@pytest.mark.parametrize(
    "argv",
    [
        ["doctor", "--host", "h200-linux"],
        ["doctor", "--host=h200-linux"],
        ["--host", "h200-linux", "doctor"],
        ["--host=h200-linux", "doctor"],
    ],
)
def test_it_may_stand_before_the_command_or_behind(argv: list[str]) -> None:
    """People put it where they think of it."""
    call = parse(argv)

    assert (call.command, call.host) == ("doctor", "h200-linux")


@pytest.mark.parametrize(
    "argv", [["presets"], ["runtime", "list"], ["runtime", "show", "x"], ["doctor"]]
)
def test_every_command_that_looks_at_a_host_takes_it(argv: list[str]) -> None:
    """Any card's verdict can be seen without the card."""
    assert parse([*argv, "--host", "a b.json"]).host == "a b.json"
    assert parse(["--host", "a b.json", *argv]).host == "a b.json"
    assert parse(argv).host is None


@pytest.mark.parametrize(
    "argv",
    [
        ["up", "--host", "x"], ["--host", "x", "up"], ["status", "--host=x"],
        ["runtime", "install", "x", "--host", "y"], ["--host", "x", "keys", "create", "k"],
        ["service", "run", "--host", "x"],
    ],
)  # fmt: skip
def test_what_starts_or_changes_something_refuses_it(argv: list[str]) -> None:
    """A replayed host is looked at and nothing else."""
    with pytest.raises(UsageError) as caught:
        parse(argv)

    assert "`--host`" in caught.value.sentence
    assert "`weir doctor`" in caught.value.hint


@pytest.mark.parametrize("argv", [["--host"], ["doctor", "--host"], ["--host", "x"], ["--host=x"]])
def test_half_of_it_is_a_usage_error(argv: list[str]) -> None:
    """With a sentence, not a traceback."""
    with pytest.raises(UsageError):
        parse(argv)


@pytest.mark.parametrize("argv", [["presets"], ["doctor"], ["runtime", "list"]])
def test_a_running_service_is_not_asked(
    weir: Weir, connector: FakeConnector, service: FakeService, argv: list[str]
) -> None:
    """It would answer for its own machine."""
    ran = weir(*argv, "--host", "v100-16x4-linux")

    assert ran.status == 0
    assert connector.replayed == ["v100-16x4-linux"]
    assert "Replaying host v100-16x4-linux" in ran.err
    assert connector.started == []


def test_json_stays_alone_on_standard_output(weir: Weir) -> None:
    """The mark goes to standard error."""
    ran = weir("presets", "--json", "--host", "none-linux")

    assert ran.out.startswith("[")
    assert "Replaying" in ran.err


def test_the_refusal_says_what_to_leave_out() -> None:
    """Also for programs, by its code."""
    error = refused("x")

    assert error.code == "host-replayed"
    assert "--host" in (error.hint or "")
