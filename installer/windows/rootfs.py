"""Builds the root file system of the Studio's Linux for WSL: Debian, the .deb, one user. As root.

    python -m installer.windows.rootfs DEB OUT [--suite bookworm] [--mirror URL] [--cache FOLDER]

Documentation, translations and package lists are left out, and of the Studio what only a window
needs; apt works, because runtimes for cards want a C compiler. Packed by xz, which is a third
smaller than gzip: old versions of WSL do not read it (microsoft/WSL issues 6056 and 8503), so the
Studio unpacks it to the plain tar that all of them read (`studio/app/wsl_rootfs.py`).
"""

import argparse
import lzma
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from installer import freeze, roots, window_only

NAME = "weir-studio-rootfs.tar.xz"
USER = "weir"
LIMIT_BYTES = 60_000_000
"""The archive's size at most: it is inside the setup program."""
PACKAGES = "ca-certificates,libexpat1,libstdc++6,procps"
_DAY_S = 86_400
_COPY_BYTES = 1 << 20
_WSL_CONF = """\
# Written by Weir Studio. Windows' programs stay out of the path: they would be found before ours.
[user]
default=weir
[boot]
systemd=false
[interop]
appendWindowsPath=false
[automount]
enabled=true
"""
_EMPTIED = (
    "usr/share/doc", "usr/share/man", "usr/share/info", "usr/share/locale", "usr/share/lintian",
    "dev", "tmp", "run",
)  # fmt: skip
_WITHOUT_FILES = ("var/cache", "var/lib/apt/lists", "var/log", "var/backups")
"""Their folders stay: apt and dpkg want them."""
_LEFT_BEHIND = ("etc/hostname", "etc/resolv.conf", "etc/machine-id", "etc/.pwd.lock",
                "var/lib/dbus/machine-id")  # fmt: skip
"""Of the building machine, or another one each time."""
_OLD = ("etc/*-", "var/lib/dpkg/*-old", "var/lib/dpkg/lock*", "var/lib/dpkg/triggers/Lock")


def build(
    package: Path, out: Path, work: Path, suite: str, mirror: str, cache: Path | None = None
) -> Path:
    """Return the archive written into `out`. Debian's packages are kept in `cache`, if given.

    Raises: subprocess.CalledProcessError when a tool refuses, RuntimeError when it is too large or
    something is mounted where it is made.
    """
    root = work / "rootfs"
    roots.clear(root)  # /proc is mounted in one that a kill cut off
    root.mkdir(parents=True)
    command = ["debootstrap", "--variant=minbase", f"--include={PACKAGES}"]
    command += [f"--cache-dir={cache}"] if cache is not None else []
    subprocess.run([*command, suite, str(root), mirror], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["dpkg", f"--root={root}", "--install", "--force-depends", str(package)],
                   check=True, stdout=subprocess.DEVNULL)  # fmt: skip
    (root / "etc/wsl.conf").write_text(_WSL_CONF, encoding="ascii")
    words = ["chroot", str(root), "useradd", "--create-home", "--shell", "/bin/bash", USER]
    subprocess.run(words, check=True)
    roots.require_nothing_mounted(root)
    slim(root)
    settle(root)
    archive = out / NAME
    out.mkdir(parents=True, exist_ok=True)
    pack(root, archive)
    roots.clear(root)
    require_small(archive)
    return archive


def require_small(archive: Path) -> None:
    """Refuse an archive that has grown over its bound. Raises: RuntimeError."""
    size = archive.stat().st_size
    if size > LIMIT_BYTES:
        raise RuntimeError(f"{archive.name} has {size:,} bytes, the limit is {LIMIT_BYTES:,}")


def slim(root: Path) -> None:
    """Take out what a service without a screen never reads; the window is Windows' own."""
    for name in _EMPTIED:
        folder = root / name
        for path in folder.iterdir() if folder.is_dir() else ():
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    for name in _WITHOUT_FILES:
        for path in (root / name).rglob("*"):
            if path.is_symlink() or not path.is_dir():
                path.unlink()
    program = root / "opt/weir-studio"
    if (program / window_only.LISTED).is_file():
        window_only.remove(program)
    for picture in (program / "_internal/docs").rglob("*.png"):
        picture.unlink()


def settle(root: Path) -> None:
    """Take out what differs from build to build."""
    for name in _LEFT_BEHIND:
        (root / name).unlink(missing_ok=True)
    for pattern in _OLD:
        for path in root.glob(pattern):
            path.unlink()
    shadow = root / "etc/shadow"
    if shadow.is_file():
        day = freeze.source_date() // _DAY_S
        # The day of the last change of a password, which is that of the build.
        text = re.sub(r"(?m)^([^:]*:[^:]*):\d+:", rf"\1:{day}:", shadow.read_text(encoding="ascii"))
        shadow.write_text(text, encoding="ascii")


def pack(root: Path, archive: Path) -> None:
    """Write the archive; the same root, the same bytes."""
    command = ["tar", "--create", "--sort=name", f"--mtime=@{freeze.source_date()}"]
    command += ["--numeric-owner", "--one-file-system", f"--directory={root}", "."]
    part = archive.with_suffix(".part")
    with subprocess.Popen(command, stdout=subprocess.PIPE) as packing:
        assert packing.stdout is not None
        with lzma.open(part, "wb", preset=9) as packed:
            shutil.copyfileobj(packing.stdout, packed, _COPY_BYTES)
    if packing.returncode != 0:
        part.unlink()
        raise RuntimeError(f"tar ended with status {packing.returncode}")
    part.replace(archive)


def main() -> int:
    """Build; 1 when something is missing."""
    parser = argparse.ArgumentParser()
    parser.add_argument("package", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--work", type=Path, default=freeze.ROOT / "build")
    parser.add_argument("--suite", default="bookworm")
    parser.add_argument("--mirror", default="http://deb.debian.org/debian")
    parser.add_argument("--cache", type=Path, help="where Debian's packages are kept")
    options = parser.parse_args()
    if os.geteuid() != 0 or shutil.which("debootstrap") is None:
        sys.stderr.write("error: this needs root and debootstrap\n")
        return 1
    try:
        made = build(
            options.package, options.out, options.work, options.suite, options.mirror, options.cache
        )
    except RuntimeError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    size = made.stat().st_size
    sys.stdout.write(f"{made}  {size / 1e6:.1f} MB of {LIMIT_BYTES / 1e6:.0f} at most\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
