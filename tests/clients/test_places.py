"""Where clients keep their files."""

from pathlib import Path

from studio.clients import places
from studio.domain.clients import Side
from tests.clients.samples import spec


def test_places_follow_variables_and_windows_lies_around_wsl(tmp_path: Path) -> None:
    """The file that is there counts; where none is, the folder does."""
    home, profile = tmp_path / "home", tmp_path / "mnt" / "c" / "Users" / "Ada B"
    (profile / "AppData" / "Roaming" / "Zed").mkdir(parents=True)
    (profile / "AppData" / "Roaming" / "Zed" / "settings.json").write_text("{}")
    ground = places.Ground(
        home=home, platform="linux", environ={"CODEX_HOME": "/c o"}, profile=profile, is_wsl=True
    )
    zed, codex = spec("zed").file, spec("codex").file
    assert zed is not None
    assert codex is not None

    found = places.chosen(ground.places(zed))

    assert found == (profile / "AppData" / "Roaming" / "Zed" / "settings.json", Side.WINDOWS)
    assert ground.places(codex)[0].path == Path("/c o/config.toml")
    assert ground.places(codex)[1].path == home / ".codex" / "config.toml"
    assert places.trace(spec("zed"), ground) == str(found.path)
    assert places.trace(spec("codex"), ground) is None
