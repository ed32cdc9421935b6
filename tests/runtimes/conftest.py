"""A stand-in catalogue for each test, and no package source but its own."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.weir import forget_sockets
from tests.runtimes import standin


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[standin.StandIn]:
    """Make the catalogue and point pip's settings at its wheels."""
    for name in [name for name in os.environ if name.startswith(("PIP_", "UV_", "WEIR_"))]:
        monkeypatch.delenv(name)
    # A shim of pyenv costs more than the rest of the search for an interpreter.
    places = os.environ["PATH"].split(os.pathsep)
    kept = os.pathsep.join(place for place in places if Path(place).name != "shims")
    monkeypatch.setenv("PATH", kept)
    made = standin.make(tmp_path)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:1/simple")
    monkeypatch.setenv("PIP_FIND_LINKS", made.wheels.as_uri())
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    yield made
    forget_sockets(made.paths)
