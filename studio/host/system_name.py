"""What this machine's system, release and processor are called, without asking anybody.

`platform` answers on Windows by a call to WMI (CPython 3.12 and newer), which takes seconds on a
busy machine and never returns where WMI is broken; before that it ran `cmd /c ver`. Windows itself
tells every process the same.
"""

import os
import platform
import sys
from collections.abc import Mapping


def system() -> str:
    """Return `Linux` or `Windows`."""
    return "Windows" if sys.platform == "win32" else platform.system()


def release() -> str:
    """Return the kernel's release; of Windows version and build, such as `10.0.26100`."""
    if sys.platform == "win32":
        found = sys.getwindowsversion()
        return f"{found.major}.{found.minor}.{found.build}"
    return platform.release()


def machine() -> str:
    """Return the kind of processor, such as `x86_64`, as the system writes it."""
    return windows_machine(os.environ) if sys.platform == "win32" else platform.machine()


def processor() -> str:
    """Return the processor's own name; empty where nobody says it."""
    if sys.platform == "win32":
        return os.environ.get("PROCESSOR_IDENTIFIER", "")
    return platform.processor()


def windows_machine(environ: Mapping[str, str]) -> str:
    """Return what Windows says of the machine; of the process alone where it is emulated."""
    named = ("PROCESSOR_ARCHITEW6432", "PROCESSOR_ARCHITECTURE")
    return next((environ[name] for name in named if environ.get(name)), "AMD64")


def windows_title(build: int) -> str:
    """Return what Windows of a build is sold as; 11 begins at 22000 and still calls itself 10.0."""
    return f"Windows {11 if build >= 22_000 else 10} (build {build})"
