"""Tries the AppImage in a clean root, with FUSE and without, as people start it.

No package index carries the file that mounts an AppImage, so where `dist/` has none, one is made
here with a stand-in (`tests/fakes/appimage_runtime.c`): it proves our half of the format, and is
never published.
"""

import os
import shutil
import stat
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from installer import appimage, freeze, manifest, served
from installer.roots import Root, say, screen

NEEDS = ("gcc", "libsquashfuse-dev", "libfuse3-dev", "libzstd-dev", "liblzma-dev", "liblz4-dev",
         "zlib1g-dev", "liblzo2-dev", "squashfs-tools")  # fmt: skip
"""Packages of Debian; all but the C library goes into the stand-in."""
_SOURCE = freeze.ROOT / "tests/fakes/appimage_runtime.c"
_LIBRARIES = ("squashfuse_ll", "squashfuse", "fuse3", "zstd", "lzma", "lz4", "lzo2", "z")
_FUSE_MAJOR, _FUSE_MINOR = 10, 229
"""Linux' own list of devices, Documentation/admin-guide/devices.txt."""
_OF_ALL = ("/.cache/fontconfig/", "/tmp/.X11-unix")
"""What the system's own library and the screen leave for every program."""
_UNMOUNTED_S = 20.0
_WITHOUT_FUSE = "--appimage-extract-and-run"


def compile_runtime(work: Path) -> Path:
    """Return the stand-in, compiled. Raises: subprocess.CalledProcessError."""
    work.mkdir(parents=True, exist_ok=True)
    made = work / "appimage-runtime"
    command = ["gcc", "-O2", "-Wall", "-Wextra", "-DFUSE_USE_VERSION=32"]
    command += ["-D_FILE_OFFSET_BITS=64", "-I/usr/include/squashfuse", "-I/usr/include/fuse3"]
    command += ["-o", str(made), str(_SOURCE), "-Wl,-Bstatic"]
    command += [*(f"-l{name}" for name in _LIBRARIES), "-Wl,-Bdynamic", "-lpthread"]
    subprocess.run(command, check=True)
    return made


def lacks() -> str | None:
    """Return which packages are missing for that, as a sentence; None: nothing."""
    tools = [shutil.which(name) for name in ("gcc", "mksquashfs")]
    is_ready = all(tools) and _header("squashfuse") and _header("fuse3")
    return None if is_ready else f"apt-get install {' '.join(NEEDS)}"


def build(deb: Path, work: Path) -> Path:
    """Return an AppImage of the program in a .deb, with the stand-in in front."""
    unpacked = work / "unpacked"
    shutil.rmtree(unpacked, ignore_errors=True)
    unpacked.mkdir(parents=True)
    subprocess.run(["dpkg-deb", "--extract", str(deb), str(unpacked)], check=True)
    runtime = compile_runtime(work)
    number = deb.name.split("_")[1]
    made = appimage.build(
        unpacked / "opt/weir-studio", work, work, number,
        runtime=runtime, sha256=manifest.digest(runtime),
    )  # fmt: skip
    shutil.rmtree(unpacked)
    return made


def try_appimage(made: Root, package: Path, user: str) -> None:
    """Start it mounted and unpacked; a service of it outlives whoever mounted it.

    Raises: RuntimeError.
    """
    file = f"/home/{package.name}"
    shutil.copy(package, made.folder / "home")
    before = _all(made)
    with _without_fuse(made):
        said = made.run(file, "--version", user=user, check=False).strip()
        say(f"  AppImage without FUSE: {said}")
        if _WITHOUT_FUSE not in said:
            raise RuntimeError(f"it does not say what to do without FUSE: {said}")
        for words in ((_WITHOUT_FUSE, "--version"), (_WITHOUT_FUSE, "ui", "--smoke")):
            said = made.run(*screen(), file, *words, user=user).strip()
            say(f"    {' '.join(words)}: {said[:60]}")
        made.run(file, "keys", "list", user=user, APPIMAGE_EXTRACT_AND_RUN="1")
    made.apt("install", "fuse3")
    made.run("ln", "-sf", "/proc/self/mounts", "/etc/mtab")  # debootstrap leaves it to systemd
    with _fuse_for_all(made):
        say(f"  AppImage, mounted: {made.run(file, '--version', user=user).strip()}")
        made.run(*screen(), file, "ui", "--smoke", user=user)
        said = made.refused(file, "service", "install", user=user)
        say(f"    service install: {said}")
        _serve(made, file, user)
        plan = made.run(file, "uninstall", "--dry-run", user=user)
        if package.name not in plan:
            raise RuntimeError(f"the file itself is not named: {plan}")
        made.run(file, "uninstall", "--remove", "all", user=user)
    (made.folder / file.lstrip("/")).unlink()
    _until_unmounted(made)
    left = _all(made) - before
    if left - {file}:
        raise RuntimeError(f"the AppImage left {sorted(left)}")
    say("    left: nothing of ours, no mount, no folder in /tmp")


def _serve(made: Root, file: str, user: str) -> None:
    made.run("sh", "-c", f'"{file}" service run >/dev/null 2>&1 &', user=user)
    made.run(
        "sh", "-c", 'n=0; until [ -f "$1" ] || [ $n -gt 149 ]; do sleep 0.2; n=$((n+1)); done',
        "sh", f"{made.home}/{served.OWN_FOLDER}/service/service.json", user=user,
    )  # fmt: skip
    say(f"    a service of it: {served.service(made, user, file)}")
    made.run(file, "keys", "create", "zed", user=user)
    made.run(file, "down", user=user)


def _all(made: Root) -> set[str]:
    """Return what a program could leave behind: in the home, in /tmp, and what is mounted."""
    places = (made.home_folder, made.folder / "tmp")
    names = {str(path) for place in places for path in place.rglob("*") if not path.is_dir()}
    names |= {str(path) for path in (made.folder / "tmp").iterdir()}
    inside = {name.removeprefix(str(made.folder)) for name in names}
    return {name for name in inside if not any(part in name for part in _OF_ALL)}


def _until_unmounted(made: Root) -> None:
    """Wait until the mounts of programs that have ended are gone. Raises: RuntimeError."""
    deadline = time.monotonic() + _UNMOUNTED_S
    begins = f" {made.folder.resolve()}/tmp/.mount_"
    while begins in Path("/proc/self/mounts").read_text(encoding="utf-8"):
        if time.monotonic() > deadline:
            raise RuntimeError(f"an AppImage that has ended is still mounted below {made.folder}")
        time.sleep(0.1)


@contextmanager
def _without_fuse(made: Root) -> Iterator[None]:
    """Have no FUSE in this root for a while."""
    with _device(made, Path("/dev/null")):
        yield


@contextmanager
def _fuse_for_all(made: Root) -> Iterator[None]:
    """Have FUSE as desktops have it, whatever this machine lets its people do."""
    node = made.folder / "srv/fuse"
    node.unlink(missing_ok=True)
    os.mknod(node, stat.S_IFCHR, os.makedev(_FUSE_MAJOR, _FUSE_MINOR))
    node.chmod(0o666)
    with _device(made, node):
        yield
    node.unlink()


@contextmanager
def _device(made: Root, over: Path) -> Iterator[None]:
    """Put something over the device of FUSE, in this root alone."""
    place = str(made.folder / "dev/fuse")
    subprocess.run(["mount", "--bind", str(over), place], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", place], check=True)


def _header(name: str) -> bool:
    return Path("/usr/include", name).is_dir()
