"""The Windows part of `make packages`: root file system, folder, setup program, and their papers.

It is left out, with a sentence, where a tool is missing or nobody is root (debootstrap needs that).
"""

import os
import shutil
from pathlib import Path
from typing import Any, NamedTuple

from installer import freeze, manifest
from installer.windows import own_texts, payload, rootfs, setup

PROGRAMS = {**payload.PROGRAMS, "makensis": "nsis", "debootstrap": "debootstrap"}
SUITE = "bookworm"
MIRROR = "http://deb.debian.org/debian"


class Made(NamedTuple):
    """What came of it."""

    package: Path
    papers: tuple[Path, ...]
    about: dict[str, Any]
    """For the build manifest."""


def lacks() -> str | None:
    """Return why it cannot be built here, as a sentence; None: it can."""
    missing = sorted({name for tool, name in PROGRAMS.items() if shutil.which(tool) is None})
    if missing:
        return f"programs are missing: apt-get install {' '.join(missing)}"
    if os.geteuid() != 0:
        return "only root can make its root file system"
    return None


def build(package: Path, work: Path, out: Path, version: str) -> Made:
    """Make the setup program from our .deb and this checkout.

    Raises: RuntimeError when something is too large or not clean, subprocess.CalledProcessError.
    """
    inner = rootfs.build(package, work, work / "debian", SUITE, MIRROR)
    folder = payload.build(work, inner)
    made = setup.build(folder, work, out, version)
    chosen = payload.cpython()
    parts = own_texts.parts(folder)
    papers = manifest.write(
        out / "sbom-windows.cdx.json", manifest.document(version, parts, _others(chosen))
    )
    about = {
        "cpython": chosen._asdict(),
        "compiler": manifest.tool(payload.COMPILER, "--version"),
        "makensis": manifest.tool("makensis", "-VERSION"),
        "rootfs": {"suite": SUITE, "sha256": manifest.digest(inner)},
        "parts": [part._asdict() for part in parts],
        "files": {
            path.relative_to(folder).as_posix(): manifest.digest(path)
            for path in freeze.files(folder)
        },
    }
    return Made(made, (papers,), about)


def _others(chosen: payload.Cpython) -> list[dict[str, Any]]:
    return [
        {"type": "application", "bom-ref": "cpython", "name": "cpython",
         "version": chosen.version, "licenses": [{"license": {"id": "PSF-2.0"}}],
         "externalReferences": [{"type": "distribution", "url": f"pkg:pypi/{chosen.requirement}",
                                 "hashes": [{"alg": "SHA-256", "content": chosen.sha256}]}]},
    ]  # fmt: skip
