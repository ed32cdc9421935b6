"""Writes the .deb from the frozen folder: menu entry, icon, AppStream data; no root service.

Nothing runs as root at installation: no maintainer scripts. The window's libraries are only
recommended, so that a box without a screen stays without them.
"""

import datetime
import gzip
import os
import shutil
import subprocess
from pathlib import Path

from installer import freeze

LINUX = Path(__file__).with_name("linux")
ICON = freeze.ROOT / "assets/icons/app.svg"
_DEPENDS = "libc6 (>= 2.35), libstdc++6, libexpat1"
_RECOMMENDS = (
    "libgl1, libegl1, libfontconfig1, libxcb1, libx11-6, libwayland-client0, libwayland-cursor0, "
    "libwayland-egl1, fonts-dejavu-core | fonts-noto-core, gnome-keyring | kwalletmanager"
)
_CONTROL = """\
Package: weir-studio
Version: {version}
Section: utils
Priority: optional
Architecture: amd64
Depends: {depends}
Recommends: {recommends}
Suggests: fonts-noto-cjk
Installed-Size: {kilobytes}
Maintainer: Weir Studio contributors <packages@weir-studio.invalid>
Description: serve a large model on your own NVIDIA card
 Choose a preset, press Start: a patched vLLM tuned for your card answers your
 chat clients at localhost, with KV pool, spill and tok/s in view.
 .
 The package holds the window and the command line. Engines and models are
 fetched on first use, into the person's own home.
"""


def build(frozen: Path, work: Path, out: Path, version: str) -> Path:
    """Return the package written into `out`; the same folder gives the same bytes.

    Raises: subprocess.CalledProcessError when dpkg-deb refuses.
    """
    root = work / "deb"
    shutil.rmtree(root, ignore_errors=True)
    program = root / "opt/weir-studio"
    shutil.copytree(frozen, program, symlinks=True)
    _link(root / "usr/bin/weir", "/opt/weir-studio/weir")
    write_menu(root / "usr/share", "/usr/bin/weir", version)
    _write_docs(root / "usr/share/doc/weir-studio")
    control = root / "DEBIAN/control"
    control.parent.mkdir()
    control.write_text(
        _CONTROL.format(
            version=version, depends=_DEPENDS, recommends=_RECOMMENDS,
            kilobytes=freeze.size(root) // 1024,
        ),
        encoding="utf-8",
    )  # fmt: skip
    freeze.open_to_all(root)
    out.mkdir(parents=True, exist_ok=True)
    package = out / f"weir-studio_{version}_amd64.deb"
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(freeze.source_date())}
    command = ["dpkg-deb", "--root-owner-group", "-Zxz", "-z6", "-b", str(root), str(package)]
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    shutil.rmtree(root)
    return package


def write_menu(share: Path, command: str, version: str) -> list[Path]:
    """Write desktop entry, icon and AppStream data below a `share` folder; return them."""
    day = datetime.datetime.fromtimestamp(freeze.source_date(), datetime.UTC).date().isoformat()
    entry = share / "applications/weir-studio.desktop"
    icon = share / "icons/hicolor/scalable/apps/weir-studio.svg"
    about = share / "metainfo/org.weirstudio.WeirStudio.metainfo.xml"
    for path in (entry, icon, about):
        path.parent.mkdir(parents=True, exist_ok=True)
    text = (LINUX / "weir-studio.desktop").read_text(encoding="utf-8")
    entry.write_text(text.replace("@WEIR@", command), encoding="utf-8")
    shutil.copyfile(ICON, icon)
    text = (LINUX / about.name).read_text(encoding="utf-8")
    about.write_text(text.replace("@VERSION@", version).replace("@DATE@", day), encoding="utf-8")
    for path in (entry, icon, about):
        path.chmod(0o644)
    return [entry, icon, about]


def _write_docs(folder: Path) -> None:
    folder.mkdir(parents=True)
    licence = (freeze.ROOT / "LICENSE").read_text(encoding="utf-8")
    words = (
        "Weir Studio, Apache License 2.0. The licences of what it is built on lie in\n"
        "/opt/weir-studio/licences.\n\n"
    )
    (folder / "copyright").write_text(words + licence, encoding="utf-8")
    changes = (freeze.ROOT / "CHANGELOG.md").read_bytes()
    (folder / "changelog.gz").write_bytes(gzip.compress(changes, mtime=0))
    for path in folder.iterdir():
        path.chmod(0o644)


def _link(path: Path, target: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)
