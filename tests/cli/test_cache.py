"""`weir cache` as a person types it, on a real home and without a service."""

import json

from tests.cli.typed import Typed


def test_it_answers_with_nothing_running(typed: Typed) -> None:
    """From what the last service found."""
    assert "No service runs" in typed("cache").stdout
    assert json.loads(typed("cache", "--json").stdout)["findings"] == []
    assert "forgotten" in typed("cache", "--clear").stdout
