"""Which words `weir diagnose` and `weir fix` take."""

import argparse
import re

from studio.cli import remedy_words as words
from studio.cli.values import count

_NUMBER = re.compile(r"[+-]?\d{1,20}|0x[0-9a-fA-F]{1,16}")


def add_diagnose(arguments: "argparse._ArgumentGroup", options: "argparse._ArgumentGroup") -> None:
    """Add what `weir diagnose` takes."""
    arguments.add_argument("log", metavar="FILE|-", nargs="?", help=words.HELP_FILE)
    options.add_argument("--exit-code", metavar="N", type=exit_code, help=words.HELP_EXIT_CODE)


def add_fix(arguments: "argparse._ArgumentGroup", options: "argparse._ArgumentGroup") -> None:
    """Add what `weir fix` takes."""
    arguments.add_argument("number", metavar="N", nargs="?", type=count, help=words.HELP_NUMBER)
    options.add_argument("-y", "--yes", dest="consent", action="store_true", help=words.HELP_YES)


def exit_code(text: str) -> int:
    """Read an exit status, also a negative one or one in hexadecimal digits."""
    if _NUMBER.fullmatch(text) is None:
        raise argparse.ArgumentTypeError(words.NOT_A_CODE.format(text=text))
    return int(text, 0) if text.startswith("0x") else int(text)
