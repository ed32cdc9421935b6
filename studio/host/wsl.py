"""The Windows Subsystem for Linux around us, and the limits that `.wslconfig` sets."""

import os
import re
from collections.abc import Mapping
from pathlib import Path, PurePath, PureWindowsPath

import msgspec

from studio.domain.errors import HostLacks
from studio.domain.hardware import WslFacts
from studio.domain.wsl import DISTRIBUTION
from studio.host import process

_PROFILE = re.compile(r"^(?P<users>/mnt/[a-z]/Users)/(?P<name>[^/:]+)(?:/|$)", re.IGNORECASE)
_SIZE = re.compile(r"^(?P<value>\d+(?:\.\d+)?)\s*(?P<unit>[KMGT]?)B?$", re.IGNORECASE)
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_MODES = ("nat", "mirrored", "virtioproxy", "bridged", "none")
_CONFIG_LIMIT_BYTES = 1 << 20
_LINUX_DRIVERS = (
    "usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1",
    "usr/lib/aarch64-linux-gnu/libnvidia-ml.so.1",
    "usr/lib64/libnvidia-ml.so.1",
)
_INFO_WITHIN_S = 2.0
_ON_DRIVE = re.compile(r"^[A-Za-z]:[\\/]")


def is_wsl(kernel: str, environ: Mapping[str, str] = os.environ) -> bool:
    """Tell whether this is WSL, by the kernel's name or WSL's own variable."""
    return "microsoft" in kernel.lower() or "WSL_DISTRO_NAME" in environ


def is_own(environ: Mapping[str, str] = os.environ) -> bool:
    """Tell whether this is the Studio's own Linux, whose window and command are Windows' own."""
    return environ.get("WSL_DISTRO_NAME") == DISTRIBUTION


def seen_inside(path: PurePath) -> str:
    r"""Return a path of Windows as a Linux in it has it: `C:\a` is `/mnt/c/a` there.

    That is WSL's own place for drives, which our `wsl.conf` does not change.
    """
    windows = PureWindowsPath(path)
    if len(windows.drive) != 2:
        return path.as_posix()
    return f"/mnt/{windows.drive[0].lower()}{windows.as_posix()[2:]}"


def meant(text: str, environ: Mapping[str, str] = os.environ) -> str:
    r"""Return a path that a person named as this machine has it.

    In WSL `D:\models` is `/mnt/d/models`: window and command on Windows name it Windows' way.
    """
    is_windows = "WSL_DISTRO_NAME" in environ and _ON_DRIVE.match(text) is not None
    return seen_inside(PureWindowsPath(text)) if is_windows else text


def facts(
    kernel: str, *, environ: Mapping[str, str] = os.environ, root: Path = Path("/")
) -> WslFacts:
    """Return what can be read of WSL without asking Windows. `kernel` is the kernel's release."""
    found = WslFacts(
        version=_version(kernel),
        distribution=environ.get("WSL_DISTRO_NAME") or None,
        has_linux_driver=any((root / place).exists() for place in _LINUX_DRIVERS),
    )
    profile_folder = profile(environ, root)
    if profile_folder is None:
        return found
    try:
        with (profile_folder / ".wslconfig").open("rb") as file:
            raw = file.read(_CONFIG_LIMIT_BYTES)
    except FileNotFoundError:
        return msgspec.structs.replace(found, has_config=False)
    except OSError:
        return found
    return with_config(found, decoded(raw))


def _version(kernel: str) -> int | None:
    """Return 1 or 2: WSL 1 names itself `4.4.0-19041-Microsoft`, WSL 2 `…-microsoft-standard…`."""
    if "microsoft-standard" in kernel.lower() or "wsl2" in kernel.lower():
        return 2
    return 1 if kernel.endswith("-Microsoft") else None


def profile(environ: Mapping[str, str] = os.environ, root: Path = Path("/")) -> Path | None:
    """Return the folder of the Windows user: the one on the PATH, else the only one there is.

    WSL appends Windows' PATH to ours, and with it folders of the user who started it.
    """
    for part in environ.get("PATH", "").split(":"):
        match = _PROFILE.match(part)
        if match is not None:
            folder = root / match["users"].lstrip("/") / match["name"]
            if folder.is_dir():
                return folder
    users = root / "mnt/c/Users"
    try:
        holding = [one for one in users.iterdir() if (one / ".wslconfig").is_file()]
    except OSError:
        return None
    return holding[0] if len(holding) == 1 else None


def decoded(raw: bytes) -> str:
    """Return the text of a file that a Windows editor wrote."""
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        return raw.decode("utf-16", "replace")
    return raw.decode("utf-8-sig", "replace")


def with_config(found: WslFacts, text: str) -> WslFacts:
    """Return `found` with what a `.wslconfig` of that text says; nonsense becomes a fault."""
    values, faults = _settings(text)
    memory = _size(values, "memory", faults)
    swap = _size(values, "swap", faults)
    processors = values.get("processors", "")
    if processors and not processors.isdecimal():
        faults.append(f"processors={processors}")
    mode = values.get("networkingmode", "").lower()
    if mode and mode not in _MODES:
        faults.append(f"networkingMode={values['networkingmode']}")
        mode = ""
    return msgspec.structs.replace(
        found,
        has_config=True,
        config_memory_bytes=memory,
        config_swap_bytes=swap,
        config_processors=int(processors) if processors.isdecimal() else None,
        config_networking_mode=mode or None,
        config_faults=tuple(faults),
    )


def _settings(text: str) -> tuple[dict[str, str], list[str]]:
    """Return the settings of `[wsl2]` and `[experimental]`, names in lower case, and nonsense."""
    values: dict[str, str] = {}
    faults = []
    section = ""
    for line in text.splitlines():
        words = line.split("#", 1)[0].strip().strip("\0")
        if not words or words.startswith(";"):
            continue
        if words.startswith("[") and words.endswith("]"):
            section = words[1:-1].strip().lower()
            continue
        name, equals, value = words.partition("=")
        if not equals or not name.strip():
            faults.append(words[:80])
        elif section in ("wsl2", "experimental"):
            values.setdefault(name.strip().lower(), value.strip().strip('"'))
    return values, faults


def _size(values: Mapping[str, str], name: str, faults: list[str]) -> int | None:
    text = values.get(name)
    if text is None:
        return None
    match = _SIZE.match(text)
    if match is None:
        faults.append(f"{name}={text}")
        return None
    return int(float(match["value"]) * _UNITS[match["unit"].upper()])


async def networking_mode() -> str | None:
    """Return what WSL itself says of its network (`wslinfo`, from WSL 2.0 on), None when it cannot.

    The configuration is no proof: WSL falls back to NAT where Windows cannot mirror.
    """
    try:
        done = await process.run(
            ["wslinfo", "--networking-mode"],
            env=process.helper_environment(),
            timeout_s=_INFO_WITHIN_S,
        )
    except (HostLacks, OSError):
        return None
    said = done.tail[-1].strip().lower() if done.tail and done.exit_code == 0 else ""
    return said if said in _MODES else None
