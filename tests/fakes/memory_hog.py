"""A program that holds memory, walks through it, or walks through a mapped file, until killed."""

import mmap
import sys
import time
from pathlib import Path

PAGE = 4096
PAUSE_S = 0.002
"""Between two pieces, so that a walk is no load on the machine that runs the tests."""
_PIECE = 256 * PAGE


def hold(size: int, *, walks: bool) -> None:
    """Take `size` bytes that no kernel can squeeze, and touch them again and again."""
    # Whoever is short of memory because of it: this goes first, and nothing of anybody's.
    Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
    held = bytearray(size)
    for start in range(0, size, PAGE):
        held[start : start + 8] = start.to_bytes(8, "little")
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while True:
        for start in range(0, size if walks else 0, PAGE):
            held[start] = (held[start] + 1) % 256
            if start % _PIECE == 0:
                time.sleep(PAUSE_S)
        time.sleep(PAUSE_S)


def walk(file: Path, *, is_once: bool) -> None:
    """Read a mapped file page by page, once or again and again."""
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as view:
        view.madvise(mmap.MADV_RANDOM)  # page by page, as weights are touched
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        is_first = True
        while True:
            for start in range(0, len(view) if is_first or not is_once else 0, PAGE):
                view[start]
                if start % _PIECE == 0:
                    time.sleep(PAUSE_S)
            is_first = False
            time.sleep(PAUSE_S)


if __name__ == "__main__":
    how, what = sys.argv[1], sys.argv[2]
    if how in ("hold", "cycle"):
        hold(int(what), walks=how == "cycle")
    else:
        walk(Path(what), is_once=how == "once")
