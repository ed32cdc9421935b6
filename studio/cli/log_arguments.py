"""The words that `weir logs` takes."""

import argparse

from studio.cli import log_words
from studio.cli.values import count, setting
from studio.domain.logs import LEVELS


def add(options: "argparse._ArgumentGroup") -> None:
    """Add them."""
    options.add_argument("-f", "--follow", action="store_true", help=log_words.HELP_FOLLOW)
    options.add_argument("-n", "--lines", metavar="N", type=count, help=log_words.HELP_LINES)
    options.add_argument("--since", metavar="TIME", help=log_words.HELP_SINCE)
    options.add_argument("--level", metavar="LEVEL", choices=LEVELS, help=log_words.HELP_LEVEL)
    options.add_argument("--grep", metavar="REGEX", help=log_words.HELP_GREP)
    options.add_argument("--full", action="store_true", help=log_words.HELP_FULL)
    options.add_argument(
        "--service", dest="of_service", action="store_true", help=log_words.HELP_SERVICE
    )
    options.add_argument(
        "--set",
        dest="assigned",
        metavar="NAME=VALUE",
        action="append",
        type=setting,
        help=log_words.HELP_SET,
    )
    options.add_argument("--json", action="store_true", help=log_words.HELP_JSON)
