"""Writes the AppImage: one file that runs where it lies, for people who cannot install.

    make packages ARGS='--appimage-runtime FILE --appimage-sha256 SUM'

The runtime that mounts it is supplied by whoever builds, with its sha256: no package index carries
it. Behind it lies a squashfs in blocks of 128 KiB, which start twice as fast as larger ones. Where
there is no FUSE, `--appimage-extract-and-run` (or APPIMAGE_EXTRACT_AND_RUN=1) does without.
"""

import os
import shutil
import subprocess
from pathlib import Path

from installer import freeze
from installer.deb import ICON, write_menu
from installer.manifest import digest

_APPRUN = """\
#!/bin/sh
# Without a word it is a double click: the window.
here=$(dirname "$(readlink -f "$0")")
[ $# -gt 0 ] || set -- ui
exec "$here/weir-studio/weir" "$@"
"""


def build(frozen: Path, work: Path, out: Path, version: str, *, runtime: Path, sha256: str) -> Path:
    """Return the file written into `out`; the same folder and runtime give the same bytes.

    Raises: RuntimeError for another runtime than the one meant, subprocess.CalledProcessError when
    mksquashfs refuses.
    """
    found = digest(runtime)
    if found != sha256.lower():
        raise RuntimeError(f"{runtime} has sha256 {found}, not {sha256}: nothing was built of it")
    root = work / "appimage"
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(frozen, root / "weir-studio", symlinks=True)
    write_menu(root / "usr/share", "weir", version)
    entry = root / "usr/share/applications/weir-studio.desktop"
    shutil.copyfile(entry, root / entry.name)
    shutil.copyfile(ICON, root / "weir-studio.svg")
    (root / ".DirIcon").symlink_to("weir-studio.svg")
    (root / "AppRun").write_text(_APPRUN, encoding="ascii")
    (root / "AppRun").chmod(0o755)
    freeze.open_to_all(root)
    squashed = work / "appimage.squashfs"
    squashed.unlink(missing_ok=True)
    command = ["mksquashfs", str(root), str(squashed), "-quiet", "-no-progress", "-noappend"]
    command += ["-all-root", "-no-xattrs", "-b", "128K", "-comp", "zstd"]
    command += ["-Xcompression-level", "19", "-processors", "2"]
    moment = str(freeze.source_date())
    for path in [*root.rglob("*"), root]:
        if not path.is_symlink():
            os.utime(path, (int(moment), int(moment)))
    # mksquashfs takes its own time and those of links from here (its documentation, since 4.4).
    environment = {**os.environ, "SOURCE_DATE_EPOCH": moment}
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    out.mkdir(parents=True, exist_ok=True)
    package = out / f"weir-studio-{version}-x86_64.AppImage"
    part = package.with_suffix(".part")
    with part.open("wb") as whole:
        for piece in (runtime, squashed):
            with piece.open("rb") as file:
                shutil.copyfileobj(file, whole)
    part.chmod(0o755)
    part.replace(package)
    squashed.unlink()
    shutil.rmtree(root)
    return package
