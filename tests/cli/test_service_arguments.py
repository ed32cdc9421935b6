"""What `weir service` and `weir adopt` take."""

import pytest

from studio.cli.arguments import parse
from studio.cli.mistakes import UsageError


def test_every_option_lands_where_the_command_looks() -> None:
    """An option that is parsed and not read would be silently ignored."""
    install = parse(["service", "install", "--linger", "--force", "--restart", "--json"])
    assert (install.command, install.linger, install.force, install.restart, install.json) == (
        "service install", True, True, True, True,
    )  # fmt: skip
    assert parse(["service", "install", "--dry-run"]).dry_run
    assert parse(["service", "uninstall", "--force"]).force
    assert parse(["service", "run", "--autostart"]).autostart
    chosen = parse(["service", "autostart", "p", "--set", "a=b", "--set", "c=d"])
    assert (chosen.preset, chosen.overrides) == ("p", {"a": "b", "c": "d"})
    assert parse(["service", "sleep", "stop"]).policy == "stop"
    adopt = parse(["adopt", "http://h:1", "--key-file", "-", "--name", "n", "--port", "18021"])
    assert (adopt.url, adopt.key_file, adopt.name, adopt.port) == ("http://h:1", "-", "n", 18021)
    assert parse(["adopt", "--forget"]).forget
    assert parse(["adopt"]).name == ""


@pytest.mark.parametrize(
    "line",
    [
        "service",
        "service autostart",
        "service sleep",
        "service sleep later",
        "service status --linger",
        "service run --json",
        "adopt a b",
        "adopt http://h --port 0",
    ],
)
def test_what_means_nothing_is_refused(line: str) -> None:
    """Half a command must not do half of it."""
    with pytest.raises(UsageError):
        parse(line.split())
