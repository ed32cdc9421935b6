"""The words that `weir report` takes."""

import argparse

from studio.cli import report_words, words


def add(arguments: "argparse._ArgumentGroup", options: "argparse._ArgumentGroup") -> None:
    """Add them."""
    arguments.add_argument("file", metavar="FILE", nargs="?", help=report_words.HELP_FILE)
    options.add_argument("--replace", action="store_true", help=report_words.HELP_REPLACE)
    options.add_argument("--show", action="store_true", help=report_words.HELP_SHOW)
    options.add_argument("--json", action="store_true", help=words.HELP_JSON)
