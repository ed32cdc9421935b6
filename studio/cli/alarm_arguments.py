"""The options of `weir alarms`."""

import argparse
from collections.abc import Mapping

from studio.cli import alarm_words as words
from studio.cli.key_arguments import span

Groups = tuple["argparse._ArgumentGroup", "argparse._ArgumentGroup"]
"""The arguments of a command, and its options."""


def add_follow(options: "argparse._ArgumentGroup") -> None:
    """Add what the bare command and its list take."""
    options.add_argument("-f", "--follow", action="store_true", help=words.HELP_FOLLOW)


def add_alarms(made: Mapping[str, Groups]) -> None:
    """Add what each of the second words takes."""
    for name in ("mute", "unmute"):
        made[name][0].add_argument("name", metavar="CODE", help=words.HELP_CODE)
    either = made["mute"][1].add_mutually_exclusive_group()
    either.add_argument(
        "--for", dest="seconds", metavar="TIME", type=span, default=0, help=words.HELP_FOR
    )
    either.add_argument("--once", action="store_true", help=words.HELP_ONCE)
    made["list"][1].add_argument(
        "-f", "--follow", action="store_true", default=argparse.SUPPRESS, help=words.HELP_FOLLOW
    )
