"""Writes the setup program for Windows from a folder that holds `weir-studio.exe`.

    python -m installer.windows.setup PAYLOAD OUT

`makensis` (Debian package nsis) makes it; equal folders give equal bytes. What the folder holds
goes along as a list (`files.txt`, in the encoding that NSIS reads), so that an update and the
removal leave alone what a person put beside.
"""

import argparse
import subprocess
import sys
from pathlib import Path

from installer import freeze
from installer.windows import icon, side
from studio import __version__

SCRIPT = Path(__file__).with_name("weir-studio.nsi")
PROGRAM = "weir-studio.exe"
LISTED = "files.txt"
LIMIT_BYTES = 130_000_000


def build(payload: Path, work: Path, out: Path, version: str) -> Path:
    """Return the program written into `out`.

    Raises: RuntimeError for a folder without the program or one that is too large,
    subprocess.CalledProcessError when makensis refuses.
    """
    if not (payload / PROGRAM).is_file():
        raise RuntimeError(f"{payload} holds no {PROGRAM}")
    strangers = [path.name for path in freeze.files(payload) if path.name in freeze.FORBIDDEN]
    if strangers:
        raise RuntimeError(f"these must not be in a package: {', '.join(strangers)}")
    listed = work / LISTED
    listed.write_bytes(listing(payload).encode("utf-16-le"))
    out.mkdir(parents=True, exist_ok=True)
    target = out / f"weir-studio-{version}-windows-x64-setup.exe"
    picture = work / "weir.ico"
    icon.write(freeze.ROOT / "assets/icons/app.svg", picture)
    beside = work / "side.bmp"
    side.write(freeze.ROOT / "assets/icons/app.svg", beside)
    words = {
        "VERSION": version, "PAYLOAD": payload, "OUT": target, "LISTED": listed, "ICON": picture,
        "SIDE": beside,
    }  # fmt: skip
    command = ["makensis", "-V2", "-INPUTCHARSET", "UTF8"]
    command += [f"-D{name}={text}" for name, text in words.items()]
    subprocess.run([*command, str(SCRIPT)], check=True, stdout=subprocess.DEVNULL)
    size = target.stat().st_size
    if size > LIMIT_BYTES:
        raise RuntimeError(f"{target.name} has {size:,} bytes, the limit is {LIMIT_BYTES:,}")
    return target


def listing(root: Path) -> str:
    """Return what is below a folder, a line each, as Windows writes paths.

    Files first; then the folders with a backslash at their end, each after those that lie in it, so
    that whoever removes line by line finds them empty.
    """
    folders = sorted((path for path in root.rglob("*") if path.is_dir()), reverse=True)
    names = [_windows(path.relative_to(root)) for path in freeze.files(root)]
    names += [_windows(path.relative_to(root)) + "\\" for path in folders]
    return "".join(f"{name}\r\n" for name in names)


def _windows(path: Path) -> str:
    return path.as_posix().replace("/", "\\")


def main() -> int:
    """Build; 1 when the folder is not right."""
    parser = argparse.ArgumentParser()
    parser.add_argument("payload", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--work", type=Path, default=freeze.ROOT / "build")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    try:
        made = build(options.payload.resolve(), options.work.resolve(), options.out.resolve(),
                     __version__)  # fmt: skip
    except RuntimeError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    sys.stdout.write(f"{made}  {made.stat().st_size / 1e6:.1f} MB\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
