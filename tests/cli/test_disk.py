"""`weir disk` as a person types it, and as a program reads it."""

import json

from studio.cli.disk import report_text
from studio.domain.disk import DiskReport, DiskUse
from studio.domain.uninstall import Belongings
from tests.cli.typed import Typed


def test_it_answers_with_nothing_running(typed: Typed) -> None:
    """A full disk is when nothing starts."""
    assert "All of the Studio" in typed("disk").stdout
    told = json.loads(typed("disk", "--json").stdout)
    assert told["free_bytes"] > 0
    assert told["own_bytes"] == sum(use["bytes"] for use in told["uses"])


def test_what_is_not_known_is_a_dash() -> None:
    """A disk that does not say its size is not an empty one."""
    use = DiskUse(group=Belongings.RUNTIMES, bytes=2 << 30, files=12_000)

    text = report_text(DiskReport(home="/home/ada/weir", uses=(use,), own_bytes=2 << 30))

    assert "2.00 GiB" in text
    assert "12,000" in text
    assert [line.split()[-1] for line in text.splitlines() if line.startswith("Free")] == ["–"]
