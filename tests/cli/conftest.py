"""A fake service and a way to run one command line against it."""

import dataclasses
import io
from collections.abc import Callable

import msgspec
import pytest

from studio.cli.console import Console
from studio.cli.main import run
from tests.cli.fake_service import FakeConnector, FakeService


@dataclasses.dataclass(frozen=True)
class Ran:
    """What a command left behind."""

    status: int
    out: str
    err: str

    def document(self) -> dict[str, object]:
        """Return the one JSON document on standard output."""
        return msgspec.json.decode(self.out, type=dict[str, object])


@pytest.fixture
def service() -> FakeService:
    """A service with nothing started."""
    return FakeService()


@pytest.fixture
def connector(service: FakeService) -> FakeConnector:
    """The way to that service, which runs."""
    return FakeConnector(service=service)


@pytest.fixture
def weir(connector: FakeConnector) -> Callable[..., Ran]:
    """Run a command line; streams are plain text, as in a pipe."""

    def call(*argv: str) -> Ran:
        out, err = io.StringIO(), io.StringIO()
        console = Console(out, err, json="--json" in argv, environ={})
        status = run(argv, connector, console)
        return Ran(status, out.getvalue(), err.getvalue())

    return call
