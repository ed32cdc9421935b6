"""What a runtime takes along so that it runs where nothing else is installed.

A runtime whose CPython came as an archive holds all of it. One that stands on a CPython of this
machine takes that along too, as `python/base`: program, standard library, headers. System
libraries that its recipe names come along into `lib/`, where the engine looks first.
"""

import functools
import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from studio.domain.errors import HostLacks
from studio.domain.manifests import RuntimeRecipe
from studio.host import tools
from studio.host.paths import Paths
from studio.host.threads import in_thread
from studio.runtimes.bundle_write import Content
from studio.runtimes.folder import PYTHON

BASE = "python/base"
_SETTINGS = "python/pyvenv.cfg"
_ORIGIN = b"$ORIGIN/../lib"
_LEFT_OUT = frozenset(("site-packages", "dist-packages", "test"))
"""The packages of that Python are not the runtime's, and its own tests are half its size."""
_TIMEOUT_S = 60.0


class _Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What carry.py says."""

    base: str | None
    executable: str
    stdlib: str
    platstdlib: str
    include: str
    shared: str | None
    needs_shared: str | None
    libraries: dict[str, str | None]


async def carried(recipe: RuntimeRecipe, paths: Paths, root: Path) -> dict[str, Content]:
    """Return what comes along, by its path in the runtime's folder; nothing when all is inside.

    Some of it stands in the place of files of the runtime: links to the machine's Python, and the
    settings that name it.

    Raises: HostLacks (`interpreter-not-portable`, `program-missing`), OSError.
    """
    asked = [one.soname for one in recipe.libraries if not (root / "lib" / one.soname).exists()]
    result = await tools.run_tool(
        root / PYTHON,
        tools.tool_file(paths, "carry.py"),
        [msgspec.json.encode(asked).decode()],
        timeout_s=_TIMEOUT_S,
    )
    try:
        answer = msgspec.json.decode(result.tail[-1] if result.tail else "", type=_Answer)
    except msgspec.DecodeError as error:
        raise HostLacks(
            "interpreter-not-portable",
            f"The interpreter of {recipe.title} does not say what it stands on.",
            hint=f"`weir runtime repair {recipe.name}` restores it.",
            evidence=result.tail[-10:],
        ) from error
    return await in_thread(functools.partial(_members, recipe, root, answer))


def _members(recipe: RuntimeRecipe, root: Path, answer: _Answer) -> dict[str, Content]:
    members = {
        f"lib/{soname}": Content(Path(place))
        for soname, place in answer.libraries.items()
        if place is not None
    }
    is_inside = answer.base is None or Path(answer.base).is_relative_to(root)
    if not is_inside:
        members |= _base(recipe, root, answer)
    return members


def _base(recipe: RuntimeRecipe, root: Path, answer: _Answer) -> dict[str, Content]:
    program = Path(answer.executable)
    members = {f"{BASE}/bin/{program.name}": _program(recipe, program, answer)}
    if answer.shared is not None:
        members[f"{BASE}/lib/{answer.needs_shared}"] = Content(Path(answer.shared).resolve())
    library = Path(answer.stdlib)
    for folder in dict.fromkeys((answer.stdlib, answer.platstdlib)):
        members |= dict(_tree(Path(folder), f"{BASE}/lib/{library.name}"))
    include = Path(answer.include)
    members |= dict(_tree(include, f"{BASE}/include/{include.name}"))
    members[_SETTINGS] = _settings(root)
    return members


def links(root: Path, members: dict[str, Content]) -> dict[str, str]:
    """Return the links of the runtime that lead to the machine's Python, and where to instead."""
    program = next((path for path in members if path.startswith(f"{BASE}/bin/")), None)
    if program is None:
        return {}
    real = members[program].place
    return {
        f"python/bin/{link.name}": os.path.relpath(program, "python/bin")
        for link in (root / "python/bin").iterdir()
        if link.is_symlink() and link.readlink().is_absolute() and link.resolve() == real
    }


def _program(recipe: RuntimeRecipe, program: Path, answer: _Answer) -> Content:
    """Return the program, made to find its own library beside it.

    A Python built as a shared library names the folder of that library in its head. The new name
    is written over the old one, which is longer, so nothing in the program moves.
    """
    if answer.needs_shared is None:
        return Content(program)
    data = program.read_bytes()
    if _ORIGIN in data:
        return Content(program)
    place = os.fsencode(Path(answer.shared).parent) if answer.shared is not None else b""
    old, new = b"\0" + place + b"\0", b"\0" + _ORIGIN.ljust(len(place), b"\0") + b"\0"
    if data.count(old) != 1 or len(new) != len(old):
        raise HostLacks(
            "interpreter-not-portable",
            f"{recipe.title} stands on {program}, which needs {answer.needs_shared} of the system "
            "and cannot be taken along.",
            hint="Install the runtime with the interpreter of its recipe (docs/user/offline.md), "
            "then export it.",
        )
    return Content(program, data.replace(old, new))


def _settings(root: Path) -> Content:
    place = root / _SETTINGS
    home = f"home = {root / BASE / 'bin'}"
    lines = [
        home if line.partition("=")[0].strip() == "home" else line
        for line in place.read_text("utf-8").splitlines()
    ]
    return Content(place, "".join(f"{line}\n" for line in lines).encode())


def _tree(folder: Path, target: str) -> Iterator[tuple[str, Content]]:
    """Yield the files of a folder; a link counts as the file that it leads to."""
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in _LEFT_OUT]
        inside = Path(place).relative_to(folder).as_posix()
        for name in names:
            real = Path(place, name).resolve()
            if real.is_file() and real.suffix != ".a":
                path = name if inside == "." else f"{inside}/{name}"
                yield f"{target}/{path}", Content(real)
