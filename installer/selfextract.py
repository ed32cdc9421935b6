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

_COMMENT = b"# This script was generated using Makeself"
"""Begins the line of makeself's own script that makes room for `_ASKS`."""
_ASKS = """\
w_no() {{ printf 'error: %s\\nhint: %s\\n' "$1" "$2" >&2; exit 1; }}; \
command -v xz >/dev/null 2>&1 || w_no 'This file is packed with xz, which is missing here.' \
'On Debian and Ubuntu: sudo apt install xz-utils'; w_has=$(wc -c < "$0"); \
[ "$w_has" -eq {size:<12} ] || w_no "This file is not whole: it has $w_has bytes of {size}." \
'Fetch it again; what was installed before is untouched.'
"""
"""One line. makeself itself says `xz: not found`, or `Unexpected archive size`, and no more."""


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
    freeze.open_to_all(root)
    out.mkdir(parents=True, exist_ok=True)
    package = out / f"weir-studio-{version}-linux-x86_64.run"
    moment = freeze.source_date()
    packed = f"--sort=name --mtime=@{moment} --owner=0 --group=0 --numeric-owner"
    day = datetime.datetime.fromtimestamp(moment, datetime.UTC).strftime("%a %b %d %H:%M:%S UTC %Y")
    command = ["makeself", "--quiet", "--xz", "--complevel", "6", "--sha256", "--nomd5", "--nox11"]
    command += ["--tar-format", "gnu", "--tar-extra", packed, "--packaging-date", day]
    # Relative names: makeself writes its own command line into the file.
    command += [root.name, package.name, f"Weir Studio {version}", "./install.sh"]
    environment = {**os.environ, "LC_ALL": "C", "TZ": "UTC", "XZ_OPT": "-T2"}
    subprocess.run(command, env=environment, check=True, cwd=work, stdout=subprocess.DEVNULL)
    shutil.rmtree(root)
    _ask_first(work / package.name, package)
    (work / package.name).unlink()
    return package


def _ask_first(made: Path, package: Path) -> None:
    """Write the package with a second line that asks for xz and for the file's whole size.

    The script finds its archive by its number of lines, and its sums cover the archive alone.
    Raises: RuntimeError where the second line is not the comment that it was in makeself 2.4.
    """
    part = package.with_suffix(".part")
    with made.open("rb") as source, part.open("wb") as target:
        target.write(source.readline())
        comment = source.readline()
        if not comment.startswith(_COMMENT):
            raise RuntimeError(f"makeself writes another script now: {comment[:80]!r}")
        others = made.stat().st_size - len(comment)
        target.write(_asks(others))
        shutil.copyfileobj(source, target)
    part.chmod(0o755)
    part.replace(package)


def _asks(others: int) -> bytes:
    """Return the line, in which stands the size of a file that has it beside `others` bytes."""
    size = others
    while (line := _ASKS.format(size=size).encode("ascii")) and others + len(line) != size:
        size = others + len(line)
    return line
