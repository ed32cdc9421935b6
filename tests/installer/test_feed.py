"""The feed as it is published."""

from pathlib import Path

import msgspec
import pytest

from installer import feed
from studio.app import update_feed
from studio.app.update_feed import Release
from studio.host import signing
from studio.host.documents import read_toml
from studio.host.network import NetworkPolicy


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Return a folder of packages."""
    folder = tmp_path / "dïst"
    folder.mkdir()
    for name in ("weir-studio-1.1.0-linux-x86_64.run", "weir-studio_1.1.0_amd64.deb"):
        (folder / name).write_bytes(name.encode())
    return folder


async def test_what_is_published_is_believed_by_a_build_with_the_key(
    out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the release machine to the person, with nothing else in between."""
    signing.own(tmp_path / "key.pem")
    monkeypatch.setenv(feed.KEY, str(tmp_path / "key.pem"))
    monkeypatch.setenv(feed.FEED, 'https://files.test/"weir"')

    written = feed.write(
        out,
        [out / "weir-studio-1.1.0-linux-x86_64.run", out / "weir-studio_1.1.0_amd64.deb"],
        "1.1.0",
    )
    feed.tell(tmp_path / "release.toml")

    assert [path.name for path in written] == ["feed.json", "feed.json.sig"]
    release = read_toml(tmp_path / "release.toml", Release)
    assert release.feed == 'https://files.test/"weir"'
    found = await update_feed.fetch(release, str(out), NetworkPolicy(), seen=0)
    assert found.feed.version == "1.1.0"
    assert {one.kind for one in found.feed.packages} == {"run", "deb"}
    assert found.feed.changes


def test_without_a_key_there_is_no_feed_and_no_signer(
    out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A build for oneself asks nobody."""
    monkeypatch.delenv(feed.KEY, raising=False)
    monkeypatch.delenv(feed.FEED, raising=False)

    assert feed.write(out, list(out.iterdir()), "1.1.0") == []
    feed.tell(tmp_path / "release.toml")
    assert read_toml(tmp_path / "release.toml", Release) == Release(schema_version=1)


def test_changes_are_those_of_the_version_or_of_what_comes_next() -> None:
    """A line each."""
    text = (
        "# C\n\n## [Unreleased]\n\n### Added\n\n- New.\n\n## [1.0.0] - 2026\n\n- Old.\n- Older.\n"
    )

    assert list(feed.changes(text, "1.0.0")) == ["Old.", "Older."]
    assert list(feed.changes(text, "1.1.0")) == ["New."]


def test_nonsense_is_not_signed(out: Path, tmp_path: Path) -> None:
    """A slip of the release machine would lock everybody out of updates."""
    key, _ = signing.own(tmp_path / "key.pem")

    with pytest.raises(msgspec.ValidationError):
        feed.sign(out, b'{"version": "1.1"}', key)
    assert not (out / "feed.json").exists()
