"""What the Studio's programs for Windows run first (`launcher.c` names it).

Python is loaded out of `_internal`; that is told to the Studio as a frozen program tells it. The
program of the Start menu has no terminal: what would be printed there when it fails becomes a box.
"""

import ctypes
import io
import sys
from pathlib import Path

import weir_archive

_TITLE = "Weir Studio"
_ICON_ERROR = 0x10
_MOST_CHARACTERS = 2_000


def main() -> int:
    """Run the Studio; return the exit status."""
    inside = Path(__file__).parent
    vars(sys).update(frozen=True, _MEIPASS=str(inside))
    weir_archive.install(inside / "app.zip", *inside.glob("python3*.zip"))
    heard = _listen() if sys.stderr is None else None
    from studio.__main__ import main as run

    status = 1
    try:
        status = run()
    except SystemExit as end:  # argparse's way out
        status = end.code if isinstance(end.code, int) else 1
        raise
    finally:
        if heard is not None and status != 0:
            _tell(heard.getvalue())
    return status


def _listen() -> io.StringIO:
    """Give a program without a terminal something to write to and nothing to read."""
    heard = io.StringIO()
    sys.stdout = sys.stderr = heard
    sys.stdin = io.StringIO()
    return heard


def _tell(text: str) -> None:
    words = text.strip()[-_MOST_CHARACTERS:] or "Weir Studio ended and did not say why."
    box = ctypes.WinDLL("user32").MessageBoxW
    box(None, words, _TITLE, _ICON_ERROR)


if __name__ == "__main__":
    sys.exit(main())
