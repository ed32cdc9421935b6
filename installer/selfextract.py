"""Writes the .run: one file that installs for one person, without root, on any distribution.

`makeself` makes it (Debian package makeself); `installer/linux/install.sh` is what it runs.
"""

import datetime
import os
import shutil
import subprocess
from pathlib import Path

from installer import freeze
from installer.deb import ICON, LINUX


def build(frozen: Path, work: Path, out: Path, version: str) -> Path:
    """Return the file written into `out`; the same folder gives the same bytes.

    Raises: subprocess.CalledProcessError when makeself refuses, FileNotFoundError without it.
    """
    root = work / "run"
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(frozen, root / "weir-studio", symlinks=True)
    shutil.copyfile(LINUX / "install.sh", root / "install.sh")
    (root / "install.sh").chmod(0o755)
    shutil.copyfile(LINUX / "weir-studio.desktop", root / "weir-studio.desktop")
    shutil.copyfile(ICON, root / "weir-studio.svg")
    (root / "VERSION").write_text(f"{version}\n", encoding="ascii")
    (root / "KILOBYTES").write_text(f"{freeze.size(frozen) // 1024}\n", encoding="ascii")
    out.mkdir(parents=True, exist_ok=True)
    package = out / f"weir-studio-{version}-linux-x86_64.run"
    moment = freeze.source_date()
    packed = f"--sort=name --mtime=@{moment} --owner=0 --group=0 --numeric-owner"
    day = datetime.datetime.fromtimestamp(moment, datetime.UTC).strftime("%a %b %d %H:%M:%S UTC %Y")
    command = ["makeself", "--quiet", "--xz", "--complevel", "6", "--sha256", "--nomd5", "--nox11"]
    command += ["--tar-format", "gnu", "--tar-extra", packed, "--packaging-date", day]
    command += [str(root), str(package), f"Weir Studio {version}", "./install.sh"]
    environment = {**os.environ, "LC_ALL": "C", "TZ": "UTC", "XZ_OPT": "-T2"}
    subprocess.run(command, env=environment, check=True, cwd=work, stdout=subprocess.DEVNULL)
    shutil.rmtree(root)
    package.chmod(0o755)
    return package
