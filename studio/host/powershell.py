"""Windows' PowerShell, from Windows or through WSL's interop: what to type and what it may know."""

import base64
import os
import sys
from collections.abc import Mapping

from studio.host import process

_FOLDERS = ("/mnt/c/Windows/System32", "/mnt/c/Windows/System32/WindowsPowerShell/v1.0")


def command(script: str) -> list[str]:
    """Return what runs `script`; encoded, because a command line crosses two systems' quoting."""
    encoded = base64.b64encode(script.encode("utf-16-le")).decode("ascii")
    return ["powershell.exe", "-NoProfile", "-NonInteractive", "-EncodedCommand", encoded]


def environment(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the variables with which a program of Windows can be started from here."""
    extra = {name: environ[name] for name in ("WSL_INTEROP", "WSL_DISTRO_NAME") if name in environ}
    return process.helper_environment({**extra, "PATH": path(environ)}, environ=environ)


def path(environ: Mapping[str, str] = os.environ) -> str:
    """Return where programs are looked for: WSL may be told to leave Windows' PATH out."""
    given = environ.get("PATH", os.defpath)
    return given if sys.platform == "win32" else os.pathsep.join((given, *_FOLDERS))
