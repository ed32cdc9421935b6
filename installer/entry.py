"""What the frozen program runs first."""

import contextlib
import sys

from studio.__main__ import main

if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError):
        sys.exit(main())
