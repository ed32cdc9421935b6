"""Signatures that apt reads, held against the programs that apt asks."""

import shutil
import subprocess
from pathlib import Path

import pytest

from installer import apt, openpgp
from studio.host import signing

RELEASE = "Origin: Weir Studio\nSHA256:\n abc 1 Packages\n- a line that begins with a dash \n"
MADE_AT = 1_700_000_000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a signed folder, as apt finds it."""
    made = tmp_path / "äpt folder"
    made.mkdir()
    signer, _ = signing.own(tmp_path / "release.pem")
    (made / "Release").write_text(RELEASE, encoding="utf-8")
    apt.sign(made, RELEASE, signer, MADE_AT)
    return made


def believed(folder: Path, *files: str) -> bool:
    """Ask the program that apt of this system asks: gpgv of Debian 12, sqv of Debian 13."""
    paths = [str(folder / name) for name in files]
    keyring = folder / apt.KEYRING
    if shutil.which("gpgv") is not None:
        body = keyring.read_text(encoding="ascii").split("\n\n")[1].rpartition("\n=")[0]
        decoded = subprocess.run(["base64", "-d"], input=body.encode(), capture_output=True)
        (folder / "ring.gpg").write_bytes(decoded.stdout)
        command = ["gpgv", "--keyring", str(folder / "ring.gpg"), *paths]
    elif shutil.which("sqv") is not None:
        more = ["--cleartext", *paths] if len(paths) == 1 else paths
        command = ["sqv", "--keyring", str(keyring), *more]
    else:
        pytest.skip("neither gpgv nor sqv is here")
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def test_apt_believes_what_the_release_key_signed(folder: Path) -> None:
    """In one file and in two, also with lines that begin with a dash or end with a blank."""
    assert believed(folder, "InRelease")
    assert believed(folder, "Release.gpg", "Release")


def test_a_changed_word_and_another_key_are_not_believed(folder: Path, tmp_path: Path) -> None:
    """Else a mirror could hand out any package."""
    text = (folder / "InRelease").read_text(encoding="utf-8")
    (folder / "InRelease").write_text(text.replace("abc", "xyz"), encoding="utf-8")
    (folder / "Release").write_text(RELEASE.replace("abc", "xyz"), encoding="utf-8")
    assert not believed(folder, "InRelease")
    assert not believed(folder, "Release.gpg", "Release")

    stranger, _ = signing.own(tmp_path / "stranger.pem")
    known = (folder / apt.KEYRING).read_text(encoding="ascii")
    apt.sign(folder, RELEASE, stranger, MADE_AT)
    (folder / apt.KEYRING).write_text(known, encoding="ascii")
    assert not believed(folder, "InRelease")


def test_equal_inputs_give_equal_signatures(tmp_path: Path) -> None:
    """A build made twice has the same bytes; the key has one name for ever."""
    signer, _ = signing.own(tmp_path / "release.pem")

    first = openpgp.clear(signer, RELEASE, MADE_AT), openpgp.public_key(signer)
    again = signing.load(tmp_path / "release.pem")

    assert (openpgp.clear(again, RELEASE, MADE_AT), openpgp.public_key(again)) == first
    assert openpgp.fingerprint(again) == openpgp.fingerprint(signer)
