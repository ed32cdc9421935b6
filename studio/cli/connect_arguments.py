"""The options of `weir connect` and `weir try`."""

import argparse

from studio.cli import connect_words as words


def add_connect(arguments: "argparse._ArgumentGroup", options: "argparse._ArgumentGroup") -> None:
    """Add what `weir connect` takes."""
    arguments.add_argument("reference", metavar="CLIENT", nargs="?", help=words.HELP_CLIENT)
    options.add_argument("--key", metavar="NAME|new", help=words.HELP_KEY)
    options.add_argument("--model", metavar="PRESET", help=words.HELP_MODEL)
    options.add_argument("--file", metavar="PATH", help=words.HELP_FILE)
    either = options.add_mutually_exclusive_group()
    either.add_argument(
        "--show", dest="action", action="store_const", const="show", help=words.HELP_SHOW
    )
    either.add_argument(
        "--write", dest="action", action="store_const", const="write", help=words.HELP_WRITE
    )
    either.add_argument(
        "--undo", dest="action", action="store_const", const="undo", help=words.HELP_UNDO
    )


def add_try(arguments: "argparse._ArgumentGroup", options: "argparse._ArgumentGroup") -> None:
    """Add what `weir try` takes."""
    arguments.add_argument("name", metavar="PROMPT", nargs="?", default="", help=words.HELP_PROMPT)
    options.add_argument("--model", metavar="PRESET", help=words.HELP_MODEL)
