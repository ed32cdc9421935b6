"""Writes a plain folder from which apt updates the .deb: Packages, Release, the file itself.

    deb [signed-by=/etc/apt/keyrings/weir-studio.asc] file:/path/to/apt ./

`apt-ftparchive` (package apt-utils) writes the indexes. Where `WEIR_RELEASE_KEY` names a key, the
folder is signed with it (`InRelease`, `Release.gpg`) and holds the key that apt is told to believe;
without one it is unsigned, and `SHA256SUMS` alone covers it.
"""

import datetime
import gzip
import os
import shutil
import subprocess
from pathlib import Path

from installer import feed, freeze, openpgp
from studio.host import signing

KEYRING = "weir-studio.asc"
"""The public key, as `/etc/apt/keyrings` takes it."""


def write(folder: Path, package: Path) -> list[Path]:
    """Write the repository of one package; return its files."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    copy = folder / package.name
    copy.hardlink_to(package)
    index = _run("packages", ".", at=folder)
    (folder / "Packages").write_bytes(index)
    (folder / "Packages.gz").write_bytes(gzip.compress(index, mtime=0))
    made_at = freeze.source_date()
    moment = datetime.datetime.fromtimestamp(made_at, datetime.UTC)
    day = moment.strftime("%a, %d %b %Y %H:%M:%S UTC")
    options = {"Origin": "Weir Studio", "Label": "Weir Studio", "Suite": "stable"}
    settings = [f"-oAPT::FTPArchive::Release::{name}={text}" for name, text in options.items()]
    release = _run(*settings, "release", ".", at=folder).decode("utf-8")
    lines = [f"Date: {day}" if line.startswith("Date:") else line for line in release.splitlines()]
    text = "\n".join(lines) + "\n"
    (folder / "Release").write_text(text, encoding="utf-8")
    key = os.environ.get(feed.KEY)
    if key:
        sign(folder, text, signing.load(Path(key)), made_at)
    return sorted(folder.iterdir())


def sign(folder: Path, release: str, signer: signing.Signer, made_at: int) -> None:
    """Write what makes apt believe a `Release`, and the key to believe."""
    clear = openpgp.clear(signer, release, made_at)
    (folder / "InRelease").write_text(clear, encoding="utf-8")
    detached = openpgp.detached(signer, release.encode("utf-8"), made_at)
    (folder / "Release.gpg").write_text(detached, encoding="ascii")
    (folder / KEYRING).write_text(openpgp.public_key(signer), encoding="ascii")


def _run(*arguments: str, at: Path) -> bytes:
    command = ["apt-ftparchive", *arguments]
    return subprocess.run(command, cwd=at, capture_output=True, check=True).stdout
