"""The versions of the program that lie beside the one in use, whichever way they came.

A `.run` and the setup program of Windows keep the version before; what apt, git or a person
exchanges is kept by nobody.
"""

from studio.domain.self_update import Came
from studio.host import files, own_program, own_windows
from studio.host.own_program import Installed


def are_kept(installed: Installed) -> bool:
    """Tell whether the Studio itself can go back to another version."""
    return installed.came in (Came.RUN, Came.SETUP)


def current(installed: Installed) -> str | None:
    """Return the version that is started next; None where that is not known."""
    if installed.came is Came.SETUP:
        return own_windows.current(installed.versions)
    return own_program.current(installed.versions) if installed.came is Came.RUN else None


def has(installed: Installed, version: str) -> bool:
    """Tell whether a version lies there, whole."""
    if installed.came is Came.SETUP:
        return own_windows.folder(installed.versions, version) is not None
    return installed.came is Came.RUN and own_program.is_version(installed.versions / version)


def before(installed: Installed, used: str) -> str | None:
    """Return the version to go back to from `used`, where nothing else is known of it."""
    if installed.came is Came.SETUP:
        return own_windows.before(installed.versions, used)
    return own_program.older(installed.versions, used) if installed.came is Came.RUN else None


def size_bytes(installed: Installed, version: str | None) -> int | None:
    """Return what a version takes of the disk; None: it is not there."""
    if version is None or not has(installed, version):
        return None
    folder = installed.versions / version
    if installed.came is Came.SETUP:
        folder = own_windows.folder(installed.versions, version) or folder
    return files.folder_bytes(folder)
