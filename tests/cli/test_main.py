"""argv to exit status, whatever happens on the way."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from studio import __version__
from studio.__main__ import LocalConnector
from studio.domain.errors import ErrorInfo, HostLacks
from tests.cli.fake_service import FakeConnector, FakeService
from tests.cli.terminal import ROOT, piped
from tests.cli.typed import Ran

Weir = Callable[..., Ran]


def test_help_and_version_are_answers(weir: Weir) -> None:
    """They go to standard output and are no failure."""
    assert weir("--help").out.startswith("usage: weir ")
    assert weir("--version").out == f"weir {__version__}\n"
    assert weir("up", "--help").status == 0


def test_a_mistake_is_status_2_and_no_traceback(weir: Weir) -> None:
    """Shells and scripts know 2 as "could not be understood"."""
    ran = weir("upp")

    assert (ran.status, ran.out) == (2, "")
    assert ran.err.splitlines() == [
        "error: There is no command `upp`. Did you mean `up`?",
        "hint: `weir --help` shows what is possible.",
        "code: usage",
    ]


def test_a_mistake_with_json_is_a_document(weir: Weir) -> None:
    """A program that asked for JSON gets JSON, also when it asked wrongly."""
    info = msgspec.json.decode(weir("status", "--jsn", "--json").out, type=ErrorInfo)

    assert (info.code, info.exit_status) == ("usage", 2)


def test_nothing_typed_points_at_the_help(weir: Weir) -> None:
    """The first thing a new user types is `weir`."""
    ran = weir()

    assert ran.status == 2
    assert "`weir --help`" in ran.err


def test_service_and_window_run_in_this_process(weir: Weir, connector: FakeConnector) -> None:
    """Their exit status is the command's."""
    weir("service", "run", "--until-released")
    weir("ui", "--theme", "light")

    assert connector.ran == [("service", True), ("ui", ["--theme", "light"])]


def test_a_service_of_another_version_is_told_apart(weir: Weir, service: FakeService) -> None:
    """An update while the service runs must not end in a traceback."""
    service.junk_answers = True

    ran = weir("status")

    assert ran.status == 6
    assert "code: service-answer-unknown" in ran.err


def test_a_service_that_does_not_answer_is_status_6(
    weir: Weir, connector: FakeConnector, service: FakeService
) -> None:
    """The way there exists, the service behind it is dead."""

    connector.is_stale = True
    service.is_running = False

    ran = weir("status")

    assert ran.status == 6
    assert "code: service-unreachable" in ran.err


@pytest.mark.parametrize("command", [["status"], ["status", "--json"], ["--help"]])
def test_a_full_disk_ends_with_a_sentence(command: list[str]) -> None:
    """Output to a full disk is an error that a person can act on, also at exit."""
    with Path("/dev/full").open("wb") as full:
        ran = subprocess.run(
            [sys.executable, "-m", "tests.cli.fake_weir", "serving", *command],
            cwd=ROOT,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )

    assert ran.returncode == 4
    assert b"No space left" in ran.stderr
    assert b"Traceback" not in ran.stderr


def test_json_stays_utf8_in_a_c_locale() -> None:
    """What is piped into another program is JSON, whatever the locale."""
    ran = piped("fresh", "presets", "--json", PYTHONIOENCODING="ascii:strict")

    assert msgspec.json.decode(ran.stdout)[0]["id"] == "演示"


def test_help_loads_nothing_heavy() -> None:
    """`weir --help` is instant because it loads neither HTTP nor the window nor an event loop."""
    program = (
        "import sys; from studio.cli.main import run; run(['--help'], None); "
        "print([name for name in ('httpx', 'asyncio', 'rich', 'PySide6') if name in sys.modules], "
        "file=sys.stderr)"
    )

    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert ran.stderr == "[]\n"


def test_an_installation_without_a_window_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Qt's Python half lies in the program's archive: asked for, it would talk of itself first."""
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "weir"))

    with pytest.raises(HostLacks, match="has no window") as refused:
        LocalConnector().ui([])

    assert refused.value.code == "window-missing"
