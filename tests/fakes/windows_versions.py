"""The folder that the setup program of Windows leaves, on any system."""

from pathlib import Path

from studio.domain.self_update import Came
from studio.host import own_program, own_windows
from studio.host.own_program import Installed

LISTED = "_internal\\weir-studio-rootfs.tar.xz\r\nweir.exe\r\n_internal\\\r\n"


def made(place: Path, *folders: str) -> Installed:
    """Lay finished versions there: the last one is run, the one before it is kept."""
    place.mkdir(parents=True)
    (place / own_program.UNINSTALLER).touch()
    for name in folders:
        finish(place, name)
    (place / own_windows.POINTER).write_text(folders[-1], encoding="ascii")
    if len(folders) > 1:
        (place / own_windows.BEFORE).write_text(folders[-2], encoding="ascii")
    return Installed(Came.SETUP, place)


def finish(place: Path, name: str) -> Path:
    """Lay one version there, with a root file system that is no xz."""
    folder = place / name
    (folder / own_windows.INSIDE).mkdir(parents=True)
    (folder / own_windows.PROGRAM).write_bytes(b"MZ" * 500)
    (folder / own_windows.FINISHED).write_text(name, encoding="ascii")
    (folder / own_windows.INSIDE / "weir-studio-rootfs.tar.xz").write_bytes(b"root")
    (folder / own_windows.LISTED).write_bytes(LISTED.encode("utf-16-le"))
    return folder
