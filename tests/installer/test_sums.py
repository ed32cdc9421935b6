"""Sums and their signature."""

import subprocess
from pathlib import Path

import pytest

from installer import sums
from studio.host import signing


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Return a folder with two files to publish."""
    folder = tmp_path / "öut folder"
    (folder / "apt").mkdir(parents=True)
    (folder / "a.run").write_bytes(b"one")
    (folder / "apt/b.deb").write_bytes(b"two")
    return folder


def files(out: Path) -> list[Path]:
    """Return what is summed."""
    return [out / "apt/b.deb", out / "a.run"]


def test_sha256sum_itself_accepts_the_sums(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """People check with what they have."""
    monkeypatch.delenv("WEIR_RELEASE_KEY", raising=False)

    path, signer = sums.write(out, files(out))

    assert signer is None
    assert not (out / sums.SIGNATURE).exists()
    subprocess.run(["sha256sum", "--check", path.name], cwd=out, check=True, capture_output=True)


def test_a_signature_holds_for_its_signer_and_for_these_sums_alone(
    out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another key, another file: both are refused."""
    key, _ = signing.own(tmp_path / "keys/release.pem")
    other, _ = signing.own(tmp_path / "other/release.pem")
    monkeypatch.setenv("WEIR_RELEASE_KEY", str(tmp_path / "keys/release.pem"))

    path, signer = sums.write(out, files(out))

    assert signer == key.fingerprint
    assert sums.is_signed_by(out, key.fingerprint)
    assert not sums.is_signed_by(out, other.fingerprint)
    path.write_text(path.read_text(encoding="utf-8").replace("a.run", "c.run"), encoding="utf-8")
    assert not sums.is_signed_by(out, key.fingerprint)


def test_sums_without_a_key_leave_no_old_signature(
    out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A signature of yesterday's files would lie."""
    signing.own(tmp_path / "keys/release.pem")
    monkeypatch.setenv("WEIR_RELEASE_KEY", str(tmp_path / "keys/release.pem"))
    sums.write(out, files(out))
    monkeypatch.delenv("WEIR_RELEASE_KEY")

    sums.write(out, files(out))

    assert not (out / sums.SIGNATURE).exists()
