"""A fake service and a way to run one command line against it."""

import functools
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.fake_service import FakeConnector, FakeService
from tests.cli.typed import Ran, Typed, through


@pytest.fixture
def typed(tmp_path: Path) -> Typed:
    """Return a terminal with an empty home, over the real parts."""
    return Typed(tmp_path / "my höme")


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
    return functools.partial(through, connector)
