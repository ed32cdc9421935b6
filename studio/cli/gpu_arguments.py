"""The words that `weir gpus` takes."""

import argparse

from studio.cli import gpu_words


def add(options: "argparse._ArgumentGroup") -> None:
    """Add them."""
    options.add_argument("-f", "--follow", action="store_true", help=gpu_words.HELP_FOLLOW)
    options.add_argument("--json", action="store_true", help=gpu_words.HELP_JSON)
