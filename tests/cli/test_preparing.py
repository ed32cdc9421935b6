"""`weir models missing` and `weir models prepare`."""

import io

import msgspec
import pytest

from studio.cli.console import Console
from studio.cli.main import run
from studio.domain.preparing import PresetStanding
from tests.cli.fake_service import FakeConnector
from tests.cli.preparing_samples import HERE, MISSING, PreparingService
from tests.cli.typed import Ran


@pytest.fixture
def preparing() -> PreparingService:
    """A service that knows one preset."""
    return PreparingService()


def weir(service: PreparingService, *argv: str) -> Ran:
    """Run a command line against it."""
    out, err = io.StringIO(), io.StringIO()
    console = Console(out, err, json="--json" in argv, environ={})
    status = run(argv, FakeConnector(service=service), console)
    return Ran(status, out.getvalue(), err.getvalue())


@pytest.mark.parametrize("command", [("missing",), ("prepare", "--dry-run")])
def test_what_is_missing_is_shown_and_nothing_done(
    preparing: PreparingService, command: tuple[str, ...]
) -> None:
    """Both ways to ask."""
    ran = weir(preparing, "models", *command, "27b")

    assert ran.status == 0
    assert "fetch a/base@1f05c441c4e6 from Hugging Face, 18.16 GiB, into /hf" in ran.out
    assert "POST /models/prepare" not in preparing.calls
    document = weir(preparing, "models", *command, "27b", "--json").out
    assert msgspec.json.decode(document, type=PresetStanding) == MISSING


def test_a_large_download_wants_a_yes(preparing: PreparingService) -> None:
    """And with it the answer says how things stand."""
    refused = weir(preparing, "models", "prepare", "27b")
    done = weir(preparing, "models", "prepare", "27b", "--yes")

    assert refused.status == 4
    assert "Agree with `--yes`." in refused.err
    assert (done.status, done.out.splitlines()[0]) == (0, "27b can be served.")
    document = weir(preparing, "models", "prepare", "27b", "-y", "--json").out
    assert msgspec.json.decode(document, type=PresetStanding) == HERE
