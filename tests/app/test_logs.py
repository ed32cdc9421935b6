"""What may be asked of the logs."""

import dataclasses
from pathlib import Path

import pytest

from studio.app.logs import Logs
from studio.app.settings import SettingsFile
from studio.domain.errors import BadInput
from studio.domain.logs import LogLimits
from studio.serving.log_file import file_of
from studio.serving.logs import LogKeeper


@dataclasses.dataclass(frozen=True, kw_only=True)
class Made:
    """The logs of a service that runs."""

    logs: Logs
    keeper: LogKeeper
    settings: SettingsFile
    folder: Path


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """Return the logs of a home that has had an engine before."""
    folder = tmp_path / "logs"
    folder.mkdir()
    file_of(folder, "engine").write_text("of the last service\n")
    keeper = LogKeeper(
        file_of(folder, "engine"), clock=lambda: 1e9, on_lines=lambda _lines, _dropped: None
    )
    settings = SettingsFile(tmp_path / "settings.json")
    logs = Logs(folder, lambda: settings, keeper)
    return Made(logs=logs, keeper=keeper, settings=settings, folder=folder)


def test_before_the_first_line_the_last_service_s_log_is_shown(made: Made) -> None:
    """Whoever asks why it ended last night has just started a new one."""
    assert [line.text for line in made.logs.newest(5, None)] == ["of the last service"]
    assert made.logs.newest(0, None) == []

    made.keeper.feed(b"new\n")
    assert [line.text for line in made.logs.newest(5, None)] == ["new"]
    assert made.logs.newest(5, 1) == []


async def test_pages_hold_both(made: Made) -> None:
    """The files know nothing of services."""
    made.keeper.feed(b"new\n")

    page = await made.logs.page("engine", lines=9)

    assert [line.text for line in page.lines] == ["of the last service", "new"]


async def test_there_are_two_logs(made: Made) -> None:
    """And no way to any other file."""
    with pytest.raises(BadInput) as caught:
        await made.logs.page("../settings", lines=1)

    assert caught.value.code == "log-source-unknown"


def test_new_limits_hold_at_once(made: Made) -> None:
    """And for the next service."""
    made.logs.limit(LogLimits(file_mib=1, files=1))
    made.keeper.feed(b"x" * 1000 + b"\n")
    for _ in range(1200):
        made.keeper.feed(b"x" * 1000 + b"\n")

    assert made.settings.now.log_file_mib == 1
    assert made.logs.limits() == LogLimits(file_mib=1, files=1)
    assert [path.name for path in made.folder.iterdir()] == ["engine.log"]
