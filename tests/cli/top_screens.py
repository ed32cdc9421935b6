"""Screens of `weir top` as text: tests/data/top/<state>-<width>x<height>.txt.

TZ=UTC python -m tests.cli.top_screens       writes them anew; the difference is to be reviewed
"""

import sys
from pathlib import Path

from studio.cli.cells import text_of
from studio.cli.top_view import screen
from tests.cli.top_samples import NOW, STATES

FOLDER = Path(__file__).resolve().parents[1] / "data" / "top"
SIZES = ((80, 24), (120, 40), (200, 60))
EVERYWHERE = ("none", "one", "eight")
"""States that are drawn in each size; the others in the smallest."""
PAGES = {"alarms": "spilled", "cards": "faulty", "help": "one"}


def names() -> list[tuple[str, str, int, int]]:
    """Return file, state, width and height of each screen."""
    found = []
    for name in STATES:
        for width, height in SIZES if name in EVERYWHERE else SIZES[:1]:
            found.append((f"{name}-{width}x{height}", name, width, height))
    found += [(f"page-{page}", name, *SIZES[0]) for page, name in PAGES.items()]
    return found


def text(file: str, name: str, width: int, height: int) -> str:
    """Return one screen; blanks at the ends of lines are left out."""
    state = STATES[name]
    before = state.view
    state.view = file.removeprefix("page-") if file.startswith("page-") else before
    try:
        lines = screen(state, width, height, NOW)
    finally:
        state.view = before
    return "".join(f"{text_of(line).rstrip()}\n" for line in lines)


def main() -> int:
    """Write every screen."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for old in FOLDER.glob("*.txt"):
        old.unlink()
    for file, name, width, height in names():
        (FOLDER / f"{file}.txt").write_text(text(file, name, width, height), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
