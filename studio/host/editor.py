"""The person's editor: the one they named, else one that is there."""

import shlex
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from studio.domain.errors import HostLacks
from studio.host import process
from studio.host.files import from_os_error

_COMMON = ("sensible-editor", "nano", "vim", "vi")


def command(environ: Mapping[str, str], *, has_terminal: bool = True) -> list[str]:
    """Return the editor with its arguments.

    One that nobody named is only taken where somebody can see it and leave it: vi without a
    terminal waits for ever. Raises: HostLacks (`editor-missing`).
    """
    for variable in ("VISUAL", "EDITOR"):
        named = environ.get(variable, "").strip()
        if named:
            return _split(named, variable)
    if not has_terminal:
        raise HostLacks(
            "editor-missing",
            "No editor can be opened: neither VISUAL nor EDITOR is set, and there is no terminal.",
            hint="Change single settings with `--set NAME=VALUE`, or set EDITOR.",
        )
    for name in _COMMON:
        found = shutil.which(name, path=environ.get("PATH"))
        if found is not None:
            return [found]
    raise HostLacks(
        "editor-missing",
        "There is no editor: neither VISUAL nor EDITOR is set, and no nano or vi was found.",
        hint="Set EDITOR, or change single settings with `--set KNOB=VALUE`.",
    )


async def edit(text: str, name: str, environ: Mapping[str, str]) -> Path:
    """Return the file that holds `text` as the person left it; the caller removes its folder.

    Raises: HostLacks (`editor-missing`, `editor-failed`, `not-writable`, `disk-full`).
    """
    argv = command(environ, has_terminal=sys.stdin.isatty() and sys.stdout.isatty())
    try:
        path = Path(tempfile.mkdtemp(prefix="weir-")) / name
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise from_os_error(error, Path(error.filename or tempfile.gettempdir())) from error
    try:
        status = await process.interactive([*argv, str(path)])
    except OSError as error:
        shutil.rmtree(path.parent, ignore_errors=True)  # nobody wrote anything
        raise HostLacks(
            "editor-missing",
            f"The editor `{argv[0]}` cannot be started: {error.strerror or error}.",
            hint="Name another one with EDITOR.",
        ) from error
    if status != 0:
        raise HostLacks(
            "editor-failed",
            f"The editor `{argv[0]}` ended with status {status}; nothing was changed.",
            hint=f"What was written is in {path}.",
        )
    return path


def _split(named: str, variable: str) -> list[str]:
    try:
        return shlex.split(named)
    except ValueError as error:
        raise HostLacks(
            "editor-missing", f"{variable} cannot be understood: {error}.", hint="Correct it."
        ) from error
