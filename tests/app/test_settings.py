"""What the person chose survives."""

from pathlib import Path

import pytest

from studio.app.settings import DEFAULT_PORT, Settings, SettingsFile
from studio.domain.errors import Damaged


def test_a_first_run_has_defaults_and_writes_nothing(tmp_path: Path) -> None:
    """Reading must not leave traces."""
    settings = SettingsFile(tmp_path / "settings.json")

    assert settings.now == Settings(port=DEFAULT_PORT)
    assert list(tmp_path.iterdir()) == []


def test_a_change_is_there_after_a_restart(tmp_path: Path) -> None:
    """The port that somebody chose because 18020 was taken must stay."""
    SettingsFile(tmp_path / "settings.json").change(port=18025, gpus=(1, 0))

    assert SettingsFile(tmp_path / "settings.json").now == Settings(port=18025, gpus=(1, 0))


def test_settings_of_a_newer_version_are_read(tmp_path: Path) -> None:
    """Going back one version must not lose the port."""
    (tmp_path / "settings.json").write_text('{"port": 18030, "invented_later": true}')

    assert SettingsFile(tmp_path / "settings.json").now.port == 18030


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    """Half a file after a full disk is an error that says which file to remove."""
    (tmp_path / "settings.json").write_text('{"port": ')

    with pytest.raises(Damaged, match=r"settings\.json") as caught:
        SettingsFile(tmp_path / "settings.json")

    assert "delete" in (caught.value.hint or "")
