"""The one front door of packaging: `make packages`, or `python -m installer.build [OUT]`.

Writes into OUT (`dist/`): the .deb, the .run, a folder that apt can update from, the SBOM, the
build manifest and SHA256SUMS, signed where `WEIR_RELEASE_KEY` names a key.
"""

import argparse
import shutil
import sys
import time
from pathlib import Path

from installer import apt, deb, freeze, manifest, selfextract, sums
from studio import __version__

PROGRAMS = {
    "dpkg-deb": "dpkg", "makeself": "makeself", "strip": "binutils", "xz": "xz-utils",
    "apt-ftparchive": "apt-utils", "patchelf": "patchelf",
}  # fmt: skip
LIMIT_BYTES = 80_000_000
"""A package's size at most; a larger one is refused, because nobody would notice it grow."""


def say(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def build(out: Path, work: Path) -> list[Path]:
    """Make everything; return what was written.

    Raises: RuntimeError when a program is missing or a package is too large.
    """
    missing = [package for name, package in PROGRAMS.items() if shutil.which(name) is None]
    if missing:
        raise RuntimeError(f"programs are missing: apt-get install {' '.join(missing)}")
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    work.mkdir(parents=True, exist_ok=True)
    begun = time.monotonic()
    frozen = freeze.freeze(work)
    say(f"frozen   {freeze.size(frozen) / 1e6:6.1f} MB  {time.monotonic() - begun:5.0f} s")
    packages = []
    for maker in (deb.build, selfextract.build):
        begun = time.monotonic()
        package = maker(frozen, work, out, __version__)
        packages.append(package)
        size = package.stat().st_size
        say(f"{package.suffix[1:]:8} {size / 1e6:6.1f} MB  {time.monotonic() - begun:5.0f} s")
        if size > LIMIT_BYTES:
            raise RuntimeError(f"{package.name} has {size:,} bytes, the limit is {LIMIT_BYTES:,}")
    written = [*packages, *apt.write(out / "apt", packages[0])]
    written.append(
        manifest.write(
            out / "build-manifest.json", manifest.manifest(frozen, packages, __version__)
        )
    )
    written.append(manifest.write(out / "sbom.cdx.json", manifest.sbom(frozen, __version__)))
    sums_file, signer = sums.write(out, written)
    say(f"sums     signed by {signer}" if signer else "sums     not signed: no WEIR_RELEASE_KEY")
    return [*written, sums_file]


def main() -> int:
    """Build; 1 when something is missing."""
    parser = argparse.ArgumentParser(description="Build the packages of Weir Studio.")
    parser.add_argument("out", type=Path, nargs="?", default=freeze.ROOT / "dist")
    parser.add_argument("--work", type=Path, default=freeze.ROOT / "build")
    options = parser.parse_args()
    try:
        build(options.out.resolve(), options.work.resolve())
    except RuntimeError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
