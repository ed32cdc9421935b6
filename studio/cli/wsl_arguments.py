"""Which words `weir wsl` takes."""

import argparse

from studio.cli import wsl_words as words
from studio.cli.values import count


def add(name: str, options: "argparse._ArgumentGroup") -> None:
    """Add the options of `weir wsl NAME`."""
    if name in ("setup", "memory", "open", "close", "remove"):
        options.add_argument(
            "-y", "--yes", dest="consent", action="store_true", help=words.HELP_YES
        )
    if name == "setup":
        options.add_argument("--rootfs", metavar="FILE", help=words.HELP_ROOTFS)
    if name == "memory":
        options.add_argument("--preset", metavar="NAME", help=words.HELP_PRESET)
        options.add_argument(
            "--gib", dest="memory_gib", metavar="N", type=count, help=words.HELP_GIB
        )
