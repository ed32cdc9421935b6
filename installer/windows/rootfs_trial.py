"""Tries the root file system for WSL in a chroot, as root: the nearest thing to an import.

    python -m installer.windows.rootfs_trial ARCHIVE [--home SEED] [--share FOLDER]

The archive is unpacked as WSL does it, and its program exchanged as an update of Windows does it;
then everything is done by the person inside, who is not root: version, doctor, the service, and
with `--home` (see `installer/trial.py`) a model served on the processor and asked.
"""

import argparse
import lzma
import shutil
import subprocess
import sys
import time
from pathlib import Path

from installer import roots, served
from installer.roots import Root, say
from installer.windows import rootfs
from studio.app import wsl_renew

HOME = f"/home/{rootfs.USER}"


def attempt(archive: Path, work: Path, seed: Path | None, share: Path | None) -> None:
    """Unpack and use it. Raises: RuntimeError when something inside fails."""
    roots.release(work)  # a trial that was killed leaves this machine's /dev in it
    roots.clear(work)
    work.mkdir(parents=True)
    begun = time.monotonic()
    subprocess.run(["tar", "--extract", f"--file={archive}", f"--directory={work}",
                    "--numeric-owner", "--preserve-permissions"], check=True)  # fmt: skip
    say(f"unpacked in {time.monotonic() - begun:.0f} s, {_megabytes(work)} MB")
    made = Root(work, HOME)
    with roots.mounted(work, share):
        if share is not None:
            _borrow(made)
        _renew(made, archive)
        _use(made, seed)
    roots.clear(work)


def _borrow(made: Root) -> None:
    """Install what the runtime of another machine needs: apt inside has to work for that, too."""
    for name in ("resolv.conf", "hosts"):  # WSL writes both at its start
        shutil.copyfile(Path("/etc", name), made.folder / "etc" / name)
    begun = time.monotonic()
    made.run("apt-get", "update", "-qq")
    made.apt("install", *roots.BORROWED.split())
    say(f"  apt inside: {time.monotonic() - begun:.0f} s")


def _renew(made: Root, archive: Path) -> None:
    """Exchange the program as an update of Windows does it, and once more after a kill in it."""
    plain, script = made.folder / "tmp/rootfs.tar", made.folder / "tmp" / wsl_renew.SCRIPT_FILE
    with lzma.open(archive) as packed, plain.open("wb") as file:
        shutil.copyfileobj(packed, file, 1 << 20)
    script.write_bytes(wsl_renew.SCRIPT)
    words = ("sh", f"/tmp/{script.name}", f"/tmp/{plain.name}", "/opt")
    begun = time.monotonic()
    made.run(*words)
    say(f"  program exchanged in {time.monotonic() - begun:.0f} s")
    (made.folder / "opt/weir-studio").rename(made.folder / "opt/.weir-studio.old")
    said = made.run(*words)
    left = sorted(path.name for path in (made.folder / "opt").iterdir())
    if not said.startswith("weir ") or left != ["weir-studio"]:
        raise RuntimeError(f"the exchange after a kill: {said.strip()}, {left}")
    for path in (plain, script):
        path.unlink()


def _use(made: Root, seed: Path | None) -> None:
    user = rootfs.USER
    say(f"  {made.run('id', user=user).strip()}")
    begun = time.monotonic()
    say(f"  {made.run('weir', '--version', user=user).strip()} {time.monotonic() - begun:.1f} s")
    said = made.run("weir", "doctor", user=user, check=False)
    roots.require_sentences("doctor", said)
    say(f"  doctor says {len(said.splitlines())} lines; first: {said.splitlines()[0]}")
    refused = made.run("weir", "ui", user=user, check=False)
    say(f"  window: {roots.refusal(refused)}")
    say(f"  apt: {made.run('dpkg', '--audit').strip() or 'nothing half installed'}")
    if seed is None:
        made.run("weir", "keys", "list", user=user)
        return
    served.serve(made, user, seed)
    made.run("weir", "down", user=user)


def _megabytes(folder: Path) -> int:
    done = subprocess.run(["du", "-sm", str(folder)], capture_output=True, text=True, check=True)
    return int(done.stdout.split()[0])


def main() -> int:
    """Try it; 1 when something failed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("archive", type=Path)
    parser.add_argument("--work", type=Path, default=Path("/tmp/weir-trial/rootfs"))
    parser.add_argument("--home", type=Path, help="a home whose models and runtimes are copied")
    parser.add_argument("--share", type=Path, help="a folder to have at its place, read-only")
    options = parser.parse_args()
    seed, share = (
        path.absolute() if path is not None else None for path in (options.home, options.share)
    )
    try:
        attempt(options.archive, options.work.resolve(), seed, share)
    except (RuntimeError, OSError, subprocess.SubprocessError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
