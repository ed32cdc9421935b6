"""Folders that are copied while they are used."""

import json
from pathlib import Path

import pytest

from studio.domain.errors import StudioError
from studio.host import synced


@pytest.mark.parametrize(
    ("mark", "service"),
    [
        (".dropbox.cache", "Dropbox"),
        (".stfolder", "Syncthing"),
        (".nextcloudsync.log", "Nextcloud"),
        (".sync_4e0f.db", "Nextcloud or ownCloud"),
    ],
)
def test_what_a_service_leaves_tells_of_it(tmp_path: Path, mark: str, service: str) -> None:
    """Also for a folder that is not there yet, and through a link."""
    cloud = tmp_path / "Büro Wolke"
    (cloud / mark).mkdir(parents=True)
    (tmp_path / "link").symlink_to(cloud)

    assert synced.service_of(cloud / "a/weir", environ={}, home=tmp_path) == service
    assert synced.service_of(tmp_path / "link/weir", environ={}, home=tmp_path) == service
    assert synced.service_of(tmp_path / "elsewhere", environ={}, home=tmp_path) is None


def test_dropbox_says_itself_where_its_folders_are(tmp_path: Path) -> None:
    """Its settings in a home are no mark; a damaged list is none."""
    info = tmp_path / ".dropbox/info.json"
    info.parent.mkdir()
    info.write_text(json.dumps({"personal": {"path": str(tmp_path / "Box"), "host": 1}}))

    assert synced.service_of(tmp_path / "Box/x", environ={}, home=tmp_path) == "Dropbox"
    assert synced.service_of(tmp_path / "weir", environ={}, home=tmp_path) is None
    info.write_bytes(b"\xff{")
    assert synced.service_of(tmp_path / "Box/x", environ={}, home=tmp_path) is None


def test_it_is_refused_with_the_reason_and_the_way_out(tmp_path: Path) -> None:
    """OneDrive names its folder in the environment."""
    with pytest.raises(StudioError) as caught:
        synced.require_own(tmp_path / "Docs/weir", {"OneDrive": str(tmp_path)})

    assert caught.value.code == "folder-synced"
    assert "OneDrive" in caught.value.message
    assert "WEIR_HOME" in (caught.value.hint or "")
    synced.require_own(tmp_path / "weir", {"OneDrive": str(tmp_path / "Docs")})
