"""The folder that apt updates from."""

import shutil
import subprocess
from pathlib import Path

import pytest

from installer import apt, feed
from studio.host import signing

pytestmark = pytest.mark.skipif(
    shutil.which("apt-ftparchive") is None or shutil.which("dpkg-deb") is None, reason="apt-utils"
)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a package with nothing in it."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    root = tmp_path / "root"
    (root / "DEBIAN").mkdir(parents=True)
    fields = ("Package: weir-studio", "Version: 1.0.0", "Architecture: amd64",
              "Maintainer: nobody <nobody@example.invalid>", "Description: nothing")  # fmt: skip
    (root / "DEBIAN/control").write_text("\n".join(fields) + "\n", encoding="ascii")
    made = tmp_path / "weir-studio_1.0.0_amd64.deb"
    subprocess.run(["dpkg-deb", "-b", str(root), str(made)], check=True, capture_output=True)
    return made


def test_with_a_release_key_the_folder_is_signed_and_brings_the_key_to_believe(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The signature covers the index, which covers the package; equal inputs give equal bytes."""
    signing.own(tmp_path / "release.pem")
    monkeypatch.setenv(feed.KEY, str(tmp_path / "release.pem"))

    written = {path.name: path.read_bytes() for path in apt.write(tmp_path / "äpt", package)}
    again = {path.name: path.read_bytes() for path in apt.write(tmp_path / "again", package)}

    assert {"InRelease", "Release.gpg", apt.KEYRING} < set(written)
    assert b"Date: Tue, 14 Nov 2023 22:13:20 UTC" in written["InRelease"]
    assert again == written


def test_without_a_key_nothing_claims_to_be_signed(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An old signature over a new index would be refused by every apt."""
    monkeypatch.delenv(feed.KEY, raising=False)

    names = {path.name for path in apt.write(tmp_path / "apt", package)}

    assert names == {"Packages", "Packages.gz", "Release", package.name}
