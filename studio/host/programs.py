"""Compilers on this machine: what is there, and of which version."""

import asyncio
import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from studio.domain.errors import HostLacks
from studio.domain.hardware import Program, Toolchain
from studio.host import process

_WITHIN_S = 3.0
_COMPILERS = ("gcc", "cc", "clang")
_NVCC = re.compile(r"\brelease \d+\.\d+, V(?P<version>\d+(?:\.\d+)+)")
_ANY = re.compile(r"\b(?P<version>\d+\.\d+(?:\.\d+)?)\b")


async def toolchain(environ: Mapping[str, str] = os.environ) -> Toolchain:
    """Return the compilers that an engine started from here would find."""
    home = environ.get("CUDA_HOME") or environ.get("CUDA_PATH") or None
    # In a thread: under WSL the PATH holds dozens of Windows folders that take long to look into.
    nvcc, gcc, builder = await asyncio.to_thread(
        _places, environ.get("PATH", os.defpath), str(Path(home, "bin")) if home else ""
    )
    async with asyncio.TaskGroup() as tasks:
        asked = [
            tasks.create_task(_program(found, pattern))
            for found, pattern in (
                (nvcc, _NVCC),
                (gcc, _ANY),
                (builder, _ANY),
            )
        ]
    cuda, compiler, ninja = (one.result() for one in asked)
    return Toolchain(nvcc=cuda, compiler=compiler, ninja=ninja, cuda_home=home)


def _places(path: str, cuda: str) -> tuple[str | None, str | None, str | None]:
    nvcc = _first(("nvcc",), path) or _first(("nvcc",), cuda)
    return nvcc, _first(_COMPILERS, path), _first(("ninja",), path)


def _first(names: tuple[str, ...], path: str) -> str | None:
    """Return the first program there is; a folder that may not be read holds none."""
    if not path:
        return None
    return next((found for name in names if (found := shutil.which(name, path=path))), None)


async def _program(path: str | None, pattern: re.Pattern[str]) -> Program | None:
    if path is None:
        return None
    try:
        done = await process.run(
            [path, "--version"], env=process.helper_environment(), timeout_s=_WITHIN_S
        )
    except (HostLacks, OSError):
        return Program(path=path)
    found = pattern.search("\n".join(done.tail)) if done.exit_code == 0 else None
    return Program(path=path, version=found["version"] if found else None)
