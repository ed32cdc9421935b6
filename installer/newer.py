"""Builds the packages of a next version out of this checkout, to update to in a trial.

    python -m installer.newer OUT [--work FOLDER]

The files that git knows are copied, the number in them is raised, and the copy is built as any
checkout is, without the setup program for Windows. `WEIR_RELEASE_KEY` has to name the key that the
older packages were built with: their programs believe no other.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from installer import feed, freeze
from studio import __version__

_LATER_S = 60
_NUMBERED = ("studio/__init__.py", "pyproject.toml")


def copy(folder: Path, version: str) -> None:
    """Write this checkout under another number into `folder`. Raises: RuntimeError."""
    shutil.rmtree(folder, ignore_errors=True)
    listed = subprocess.run(
        ["git", "-C", str(freeze.ROOT), "ls-files", "-z"], capture_output=True, check=True
    )
    for name in filter(None, listed.stdout.decode("utf-8").split("\0")):
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(freeze.ROOT / name, target)
    for name in _NUMBERED:
        path = folder / name
        text = path.read_text(encoding="utf-8")
        raised = text.replace(f'version = "{__version__}"', f'version = "{version}"')
        raised = raised.replace(f'__version__ = "{__version__}"', f'__version__ = "{version}"')
        if raised == text:
            raise RuntimeError(f"{path} does not say {__version__}")
        path.write_text(raised, encoding="utf-8")


def next_version(version: str) -> str:
    """Return the number after one: 0.2.0 after 0.1.7."""
    major, minor = re.findall(r"\d+", version)[:2]
    return f"{major}.{int(minor) + 1}.0"


def main() -> int:
    """Build; 1 without a key, else the status of the build."""
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("--work", type=Path, default=freeze.ROOT / "build/newer")
    options = parser.parse_args()
    if not os.environ.get(feed.KEY):
        sys.stderr.write(f"error: {feed.KEY} names no key.\n")
        return 1
    source = options.work.resolve() / "checkout"
    copy(source, next_version(__version__))
    environment = {
        **os.environ,
        "PYTHONPATH": str(source),
        # apt takes an index with an earlier date than the one before for a trick.
        "SOURCE_DATE_EPOCH": str(freeze.source_date() + _LATER_S),
    }
    command = [sys.executable, "-m", "installer.build", str(options.out.resolve()), "--no-setup"]
    command += ["--work", str(options.work.resolve() / "build")]
    return subprocess.run(command, cwd=source, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
