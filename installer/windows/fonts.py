"""The window's fonts in a form that Windows reads: it takes no woff2, which a browser would.

They are Debian's packages of the same families, proven by apt; their licences are in `assets`.
"""

import shutil
import subprocess
from pathlib import Path

_INTER = "usr/share/fonts/opentype/inter"
_MONO = "usr/share/fonts/truetype/jetbrains-mono"
PACKAGES = {
    "fonts-inter": (
        f"{_INTER}/Inter-Regular.otf", f"{_INTER}/Inter-Medium.otf", f"{_INTER}/Inter-SemiBold.otf",
    ),
    "fonts-jetbrains-mono": (f"{_MONO}/JetBrainsMono-Regular.ttf",),
}  # fmt: skip


def put(folder: Path, scratch: Path) -> None:
    """Put them into the place of the woff2 files of a folder.

    Raises: subprocess.CalledProcessError where apt cannot fetch them.
    """
    scratch.mkdir(parents=True)
    for old in folder.glob("*.woff2"):
        old.unlink()
    for package, files in PACKAGES.items():
        fetch = ["apt-get", "-qq", "-o", "APT::Sandbox::User=root", "download", package]
        subprocess.run(fetch, cwd=scratch, check=True)
        [archive] = scratch.glob(f"{package}_*.deb")
        subprocess.run(["dpkg-deb", "--extract", str(archive), str(scratch / package)], check=True)
        for file in files:
            shutil.copyfile(scratch / package / file, folder / Path(file).name)
