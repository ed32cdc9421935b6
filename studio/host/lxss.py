"""What WSL keeps in a person's registry of its distributions: where their disk images lie.

`wsl.exe` says their names only, and a person may have moved one to another disk (`wsl --manage NAME
--move FOLDER`). Names of key and values: microsoft/WSL, src/windows/service/exe/
DistributionRegistration.h, commit 3e27a6a5; the key: MicrosoftDocs/WSL, WSL/disk-space.md.
"""

from collections.abc import Iterator
from pathlib import Path

from studio.host.registry import Registry

KEY = r"Software\Microsoft\Windows\CurrentVersion\Lxss"
_DISK = "ext4.vhdx"
"""What WSL calls an image where the registry names no other."""
_VERBATIM = "\\\\?\\"
"""Before a path that Windows is not to change."""


def disk(registry: Registry, name: str) -> Path | None:
    """Return the disk image of a distribution; None where WSL has none of that name."""
    return dict(disks(registry)).get(name)


def disks(registry: Registry) -> Iterator[tuple[str, Path]]:
    """Yield every distribution that WSL knows a folder of, with its disk image."""
    for one in registry.keys(KEY):
        key = f"{KEY}\\{one}"
        name, folder = registry.text(key, "DistributionName"), registry.text(key, "BasePath")
        if name and folder:
            file = registry.text(key, "VhdFileName") or _DISK
            yield name, Path(folder.removeprefix(_VERBATIM)) / file
