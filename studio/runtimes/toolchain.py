"""Compilers and headers for build steps: where they may lie, which one is right.

Looked for in `CUDA_HOME`, among the packages (`nvidia/*/bin`: they bring the compiler that goes
with their headers), on the PATH, and where CUDA's own installer puts it. A compiler that is newer
than the headers fails as surely as an older one (HyperQwen, docs/install.md), so of those that are
there the one that the recipe accepts is taken, and the packages' before any other. A `CUDA_HOME`
that the person has set always wins, also when it is the wrong one: then it is named.
"""

import os
import re
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from studio.domain.errors import HostLacks
from studio.domain.runtimes import Tool
from studio.host import process

CUDA_HOME = "CUDA_HOME"
CUDA_COMPILER = "nvcc"
_INSTALLED = Path(os.sep, "usr", "local")
_SYSTEM_HEADERS = (Path(os.sep, "usr", "include"), Path(os.sep, "usr", "local", "include"))
_VERSION = re.compile(r"\bV?(\d+(?:\.\d+)+)")
_VERSION_TIMEOUT_S = 30.0


class Where(msgspec.Struct, frozen=True, kw_only=True):
    """Where a runtime's tools may lie."""

    python: Path
    """The runtime's interpreter: its headers lie beside it."""
    site: Path
    """Its packages."""
    environ: Mapping[str, str]


class FoundTool(msgspec.Struct, frozen=True, kw_only=True):
    """One tool of a recipe on this machine."""

    name: str
    path: Path | None = None
    """The program, or the folder of the headers."""
    version: str | None = None
    problem: str | None = None
    """Why it cannot be used; None: it can."""

    @property
    def words(self) -> str:
        """Return where it is and which version."""
        return f"{self.path} ({self.version})" if self.version else str(self.path)


async def look(tools: Iterable[Tool], where: Where) -> dict[str, FoundTool]:
    """Return each tool by its name, found or with the reason why not."""
    return {tool.name: await _look_for(tool, where) for tool in tools}


async def _look_for(tool: Tool, where: Where) -> FoundTool:
    headers = [_header_folder(name, where) for name in tool.headers]
    missing = [name for name, one in zip(tool.headers, headers, strict=True) if one is None]
    if missing:
        return FoundTool(name=tool.name, problem=f"{', '.join(missing)} was not found")
    if not tool.programs:
        return FoundTool(name=tool.name, path=headers[0] if headers else None)
    found = [await _program(tool, path) for path in _programs(tool, where)]
    if not found:
        return FoundTool(name=tool.name, problem=f"{' or '.join(tool.programs)} was not found")
    is_chosen = _is_cuda(tool) and where.environ.get(CUDA_HOME)
    right = [one for one in found if one.problem is None]
    return found[0] if is_chosen or not right else right[0]


def _programs(tool: Tool, where: Where) -> list[Path]:
    """Return every program of that name, the one to prefer first, each file once."""
    found: dict[Path, Path] = {}
    for folder in program_folders(where, is_cuda=_is_cuda(tool)):
        for name in tool.programs:
            path = shutil.which(name, path=str(folder))
            if path is not None:
                found.setdefault(Path(path).resolve(), Path(path))
    return list(found.values())


def _is_cuda(tool: Tool) -> bool:
    return CUDA_COMPILER in tool.programs


def program_folders(where: Where, *, is_cuda: bool) -> list[Path]:
    """Return the folders of programs, in the order in which they are asked."""
    path = [Path(one) for one in where.environ.get("PATH", os.defpath).split(os.pathsep) if one]
    beside = [where.python.parent]
    return [*(_cuda_folders(where, "bin") if is_cuda else []), *beside, *path]


def _cuda_folders(where: Where, part: str) -> list[Path]:
    chosen = where.environ.get(CUDA_HOME)
    packages = sorted(where.site.glob("nvidia/*"), reverse=True)
    installed = [_INSTALLED / "cuda", *sorted(_INSTALLED.glob("cuda-*"), reverse=True)]
    homes = [*([Path(chosen)] if chosen else []), *packages, *installed]
    return [home / part for home in homes]


def _header_folder(name: str, where: Where) -> Path | None:
    own = where.python.resolve().parent.parent
    folders = [
        *where.python.parent.parent.glob("include/python3*"),
        *own.glob("include/python3*"),
        *_cuda_folders(where, "include"),
        *_SYSTEM_HEADERS,
    ]
    return next((folder for folder in folders if os.access(folder / name, os.R_OK)), None)


async def _program(tool: Tool, path: Path) -> FoundTool:
    if not tool.needs_version:
        return FoundTool(name=tool.name, path=path)
    version = await _version(path)
    if version is not None and tool.accepts(version):
        return FoundTool(name=tool.name, path=path, version=version)
    said = f"{path} is {version or 'of a version that it does not tell'}, {tool.wanted} is needed"
    return FoundTool(name=tool.name, path=path, version=version, problem=said)


async def _version(path: Path) -> str | None:
    """Return what a program says of itself; of several numbers the longest (`13.0, V13.0.88`)."""
    try:
        result = await process.run(
            [str(path), "--version"],
            env=process.helper_environment({"LC_ALL": "C"}),
            timeout_s=_VERSION_TIMEOUT_S,
        )
    except (HostLacks, OSError):
        return None
    found = [one for line in result.tail for one in _VERSION.findall(line)]
    return max(found, key=lambda one: one.count("."), default=None)


def cuda_home(found: Mapping[str, FoundTool]) -> Path | None:
    """Return the toolkit whose compiler was found, for those that ask for it by `CUDA_HOME`."""
    for tool in found.values():
        if tool.problem is None and tool.path is not None and tool.path.name == CUDA_COMPILER:
            return tool.path.parent.parent
    return None
