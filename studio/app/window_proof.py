"""Whether the window of a version of the Studio paints: it is started where nobody sees it.

Its words and its exit status are both read: a broken binding says that all is well and aborts.
"""

import os
from pathlib import Path

import msgspec

from studio.domain.errors import StudioError
from studio.host import process

WINDOW_S = 15.0
"""A window paints all its pages in a second; two of them fit into a trial."""


class _Smoke(msgspec.Struct, frozen=True, kw_only=True):
    """The line that `weir ui --smoke` prints."""

    pages: tuple[str, ...]


async def shortcoming(
    program: Path, before: Path | None, *, within_s: float = WINDOW_S
) -> str | None:
    """Return what is wrong with the window of a program, or None.

    A window that the program before cannot paint either fails for a reason of this machine's,
    which is held against no version.
    """
    found = await _window(program, within_s)
    if found is None or before is None or await _window(before, within_s) is not None:
        return None
    return found


async def _window(program: Path, within_s: float) -> str | None:
    """Return what is wrong with a window that paints every page where nobody sees it."""
    home = os.environ.get("WEIR_HOME")
    environment = process.helper_environment(
        {"QT_QPA_PLATFORM": "offscreen", **({"WEIR_HOME": home} if home else {})}
    )
    lines: list[str] = []
    try:
        done = await process.run(
            [str(program), "ui", "--smoke"], env=environment, timeout_s=within_s,
            on_line=lines.append,
        )  # fmt: skip
    except StudioError as error:
        return f"its window does not start: {error.message.rstrip('.')}"
    if done.exit_code != 0:
        return f"its window ends with status {done.exit_code}"
    return None if any(_is_painted(line) for line in lines) else "its window paints no page"


def _is_painted(line: str) -> bool:
    try:
        return bool(msgspec.json.decode(line, type=_Smoke).pages)
    except msgspec.DecodeError:
        return False
