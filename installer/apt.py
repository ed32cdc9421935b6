"""Writes a plain folder from which apt updates the .deb: Packages, Release, the file itself.

    deb [trusted=yes] file:/path/to/apt ./

`apt-ftparchive` (package apt-utils) writes the indexes. The folder is unsigned: SHA256SUMS covers
it, and who publishes it signs `Release` with a key of theirs.
"""

import datetime
import gzip
import shutil
import subprocess
from pathlib import Path

from installer import freeze


def write(folder: Path, package: Path) -> list[Path]:
    """Write the repository of one package; return its files."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    copy = folder / package.name
    copy.hardlink_to(package)
    index = _run("packages", ".", at=folder)
    (folder / "Packages").write_bytes(index)
    (folder / "Packages.gz").write_bytes(gzip.compress(index, mtime=0))
    moment = datetime.datetime.fromtimestamp(freeze.source_date(), datetime.UTC)
    day = moment.strftime("%a, %d %b %Y %H:%M:%S UTC")
    options = {"Origin": "Weir Studio", "Label": "Weir Studio", "Suite": "stable"}
    settings = [f"-oAPT::FTPArchive::Release::{name}={text}" for name, text in options.items()]
    release = _run(*settings, "release", ".", at=folder).decode("utf-8")
    lines = [f"Date: {day}" if line.startswith("Date:") else line for line in release.splitlines()]
    (folder / "Release").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return sorted(folder.iterdir())


def _run(*arguments: str, at: Path) -> bytes:
    command = ["apt-ftparchive", *arguments]
    return subprocess.run(command, cwd=at, capture_output=True, check=True).stdout
