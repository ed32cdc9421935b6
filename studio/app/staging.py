"""Lets a fetched package lay its version of the Studio beside the one in use, and tries it there.

The package does so itself: a `.run` by `--stage`, the setup program of Windows where it finds
`WEIR_STAGE_INTO`. Both write a folder of their own and nothing that is in use, and start what they
wrote once. On Windows the new window has to paint here, too: no service there would ask it later.
"""

import asyncio
import contextlib
from pathlib import Path

from studio.app import window_proof
from studio.domain.errors import Busy, Damaged, HostLacks
from studio.domain.self_update import Came
from studio.host import kept_versions, own_windows, process
from studio.host.own_program import Installed

INTO = "WEIR_STAGE_INTO"
"""Tells the setup program its folder; in words, NSIS wants a path with blanks without quotes."""
_INSTALL_S = 900.0
_WINDOW_S = 120.0
"""A virus scanner reads a new program before it lets it run."""
_BUSY = 3
"""Exit status of the setup program where another one runs (`weir-studio.nsi`)."""


async def stage(installed: Installed, package: Path, version: str, scratch: Path) -> None:
    """Lay a version beside the one in use; `scratch` is a folder to unpack in.

    Raises: HostLacks (`update-not-staged`), Damaged (`update-window`), Busy (`update-busy`).
    """
    is_setup = installed.came is Came.SETUP
    words, variables = _setup(installed, package) if is_setup else _run(installed, package, scratch)
    done = await process.run(
        words, env=process.helper_environment(variables), timeout_s=_INSTALL_S, cwd=scratch
    )
    if is_setup and done.exit_code == _BUSY:
        raise Busy(
            "update-busy",
            "A setup program of the Studio runs already.",
            hint="Let it end, then try again.",
        )
    if done.exit_code != 0 or not kept_versions.has(installed, version):
        raise HostLacks(
            "update-not-staged",
            f"Version {version} could not be laid beside the present one.",
            hint=f"Start {package} yourself to see what it says; what is installed was not touched."
            if is_setup
            else "The lines above say why. What is installed was not touched.",
            evidence=done.tail,
        )
    if is_setup:
        await _require_window(installed.versions, version)


def _run(installed: Installed, package: Path, scratch: Path) -> tuple[list[str], dict[str, str]]:
    words = ["sh", str(package), "--quiet", "--nox11", "--", "--stage"]
    words += ["--prefix", str(installed.prefix)]
    words += [] if installed.has_window else ["--headless"]
    return words, {"TMPDIR": str(scratch)}


def _setup(installed: Installed, package: Path) -> tuple[list[str], dict[str, str]]:
    with contextlib.suppress(OSError):
        package.chmod(0o700)  # means nothing to Windows
    return [str(package), "/S"], {INTO: str(installed.versions)}


async def _require_window(place: Path, version: str) -> None:
    """Raises: Damaged, after which the version is gone again."""
    folder = own_windows.folder(place, version)
    used = own_windows.current(place)
    before = own_windows.folder(place, used) if used is not None else None
    assert folder is not None
    lacking = await window_proof.shortcoming(
        folder / own_windows.PROGRAM,
        before / own_windows.PROGRAM if before is not None else None,
        within_s=_WINDOW_S,
    )
    if lacking is None:
        return
    await asyncio.to_thread(own_windows.remove_version, folder)
    raise Damaged(
        "update-window",
        f"Version {version} does not work on this PC: {lacking}.",
        hint="What is installed was not touched. Wait for the version after it, or send us "
        "`weir report`.",
    )
