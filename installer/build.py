"""The one front door of packaging: `make packages`, or `python -m installer.build [OUT]`.

Writes into OUT (`dist/`): the .deb, the .run, the AppImage where its runtime is given, the setup
program for Windows where its tools are at hand, a folder that apt can update from, the SBOMs, the
build manifest and SHA256SUMS. Where `WEIR_RELEASE_KEY` names a key, they are signed, and there is a
feed by which installed programs learn of this version (`WEIR_RELEASE_FEED`: where it will be
published).
"""

import argparse
import functools
import shutil
import sys
import time
from pathlib import Path

from installer import appimage, apt, deb, feed, freeze, manifest, selfextract, sums
from installer.windows import build as windows
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


def build(
    out: Path,
    work: Path,
    runtime: tuple[Path, str] | None = None,
    *,
    with_setup: bool = True,
) -> list[Path]:
    """Make everything; return what was written. `runtime`: of an AppImage, and its sha256.

    Raises: RuntimeError when a program is missing or a package is too large.
    """
    wanted = {**PROGRAMS, **({"mksquashfs": "squashfs-tools"} if runtime is not None else {})}
    missing = [package for name, package in wanted.items() if shutil.which(name) is None]
    if missing:
        raise RuntimeError(f"programs are missing: apt-get install {' '.join(missing)}")
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    work.mkdir(parents=True, exist_ok=True)
    begun = time.monotonic()
    frozen = freeze.freeze(work)
    say(f"frozen   {freeze.size(frozen) / 1e6:6.1f} MB  {time.monotonic() - begun:5.0f} s")
    packages = []
    makers = [deb.build, selfextract.build]
    if runtime is not None:
        makers.append(functools.partial(appimage.build, runtime=runtime[0], sha256=runtime[1]))
    for maker in makers:
        begun = time.monotonic()
        package = maker(frozen, work, out, __version__)
        packages.append(package)
        size = package.stat().st_size
        say(f"{package.suffix[1:]:8} {size / 1e6:6.1f} MB  {time.monotonic() - begun:5.0f} s")
        if size > LIMIT_BYTES:
            raise RuntimeError(f"{package.name} has {size:,} bytes, the limit is {LIMIT_BYTES:,}")
    setup = _windows(packages[0], work, out) if with_setup else None
    packages += [setup.package] if setup is not None else []
    written = [*packages, *apt.write(out / "apt", packages[0])]
    written += setup.papers if setup is not None else ()
    about = setup.about if setup is not None else None
    document = manifest.manifest(frozen, packages, __version__, about)
    written.append(manifest.write(out / "build-manifest.json", document))
    written.append(manifest.write(out / "sbom.cdx.json", manifest.sbom(frozen, __version__)))
    written += feed.write(out, packages, __version__)
    sums_file, signer = sums.write(out, written)
    say(f"sums     signed by {signer}" if signer else "sums     not signed: no WEIR_RELEASE_KEY")
    return [*written, sums_file]


def _windows(package: Path, work: Path, out: Path) -> windows.Made | None:
    """Make the setup program for Windows; without its tools, say so and go on."""
    lacking = windows.lacks()
    if lacking is not None:
        say(f"setup    skipped: {lacking}")
        return None
    begun = time.monotonic()
    made = windows.build(package, work, out, __version__)
    size = made.package.stat().st_size
    say(f"setup    {size / 1e6:6.1f} MB  {time.monotonic() - begun:5.0f} s")
    return made


def main() -> int:
    """Build; 1 when something is missing."""
    parser = argparse.ArgumentParser(description="Build the packages of Weir Studio.")
    parser.add_argument("out", type=Path, nargs="?", default=freeze.ROOT / "dist")
    parser.add_argument("--work", type=Path, default=freeze.ROOT / "build")
    parser.add_argument("--no-setup", action="store_true", help="leave Windows' setup program out")
    parser.add_argument("--appimage-runtime", type=Path, help="the file that mounts an AppImage")
    parser.add_argument("--appimage-sha256", help="of that file")
    options = parser.parse_args()
    if (options.appimage_runtime is None) != (options.appimage_sha256 is None):
        parser.error("--appimage-runtime and --appimage-sha256 come together")
    runtime = None
    if options.appimage_runtime is not None:
        runtime = (options.appimage_runtime.resolve(), options.appimage_sha256)
    try:
        build(
            options.out.resolve(), options.work.resolve(), runtime, with_setup=not options.no_setup
        )
    except RuntimeError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
