"""A stand-in catalogue for each test, and no package source but its own."""

import os
from pathlib import Path

import pytest

from tests.runtimes import standin


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> standin.StandIn:
    """Make the catalogue and point pip's settings at its wheels."""
    for name in [name for name in os.environ if name.startswith(("PIP_", "UV_", "WEIR_"))]:
        monkeypatch.delenv(name)
    made = standin.make(tmp_path)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:1/simple")
    monkeypatch.setenv("PIP_FIND_LINKS", made.wheels.as_uri())
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    return made
