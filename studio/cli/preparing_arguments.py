"""The words that `weir models missing` and `weir models prepare` take."""

import argparse

from studio.cli import preparing_words as words


def add(
    name: str, arguments: "argparse._ArgumentGroup", options: "argparse._ArgumentGroup"
) -> None:
    """Add what one of the commands takes."""
    arguments.add_argument("name", metavar="PRESET|MODEL", help=words.HELP_NAME)
    if name == "prepare":
        options.add_argument("--dry-run", action="store_true", help=words.HELP_DRY_RUN)
        options.add_argument(
            "-y", "--yes", dest="consent", action="store_true", help=words.HELP_YES
        )
    options.add_argument("--json", action="store_true", help=words.HELP_JSON)
