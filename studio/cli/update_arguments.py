"""Which words `weir update` takes."""

import argparse

from studio.cli import update_words as words


def add(name: str, options: "argparse._ArgumentGroup") -> None:
    """Add the options of `weir update NAME`."""
    if name in ("check", "get"):
        options.add_argument("--from", dest="source", metavar="PLACE", help=words.HELP_FROM)
    if name == "apply":
        options.add_argument("--cancel", dest="forget", action="store_true", help=words.HELP_CANCEL)
    if name in ("apply", "rollback"):
        options.add_argument("--later", action="store_true", help=words.HELP_LATER)
        options.add_argument(
            "-y", "--yes", dest="consent", action="store_true", help=words.HELP_YES
        )
