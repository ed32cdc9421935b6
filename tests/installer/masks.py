"""What new files are kept from others while a package is made."""

import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def masked(mask: int) -> Iterator[None]:
    """Take these rights from every file that is made meanwhile."""
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)
