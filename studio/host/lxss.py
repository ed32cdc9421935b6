"""What WSL keeps in a person's registry of its distributions: where their disk images lie.

`wsl.exe` says their names only, and a person may have moved one to another disk (`wsl --manage NAME
--move FOLDER`). Names of key and values: microsoft/WSL, src/windows/service/exe/
DistributionRegistration.h, commit 3e27a6a5; the key: MicrosoftDocs/WSL, WSL/disk-space.md.
"""

from pathlib import Path

from studio.host.registry import Registry

KEY = r"Software\Microsoft\Windows\CurrentVersion\Lxss"
_DISK = "ext4.vhdx"
"""What WSL calls an image where the registry names no other."""
_VERBATIM = "\\\\?\\"
"""Before a path that Windows is not to change."""


def disk(registry: Registry, name: str) -> Path | None:
    """Return the disk image of a distribution; None where WSL has none of that name."""
    for one in registry.keys(KEY):
        key = f"{KEY}\\{one}"
        if registry.text(key, "DistributionName") == name:
            folder = registry.text(key, "BasePath")
            if not folder:
                return None
            file = registry.text(key, "VhdFileName") or _DISK
            return Path(folder.removeprefix(_VERBATIM)) / file
    return None
