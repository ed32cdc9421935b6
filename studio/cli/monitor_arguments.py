"""The words that the commands of the monitor take."""

import argparse
from collections.abc import Mapping

from studio.cli import history_words, scrape_words, words
from studio.cli.values import port

Groups = tuple["argparse._ArgumentGroup", "argparse._ArgumentGroup"]


def add_history(options: "argparse._ArgumentGroup") -> None:
    """Add what `weir history` takes."""
    options.add_argument("--since", metavar="TIME", help=history_words.HELP_SINCE)
    options.add_argument("--until", metavar="TIME", help=history_words.HELP_UNTIL)
    options.add_argument("--series", metavar="NAME,…", help=history_words.HELP_SERIES)
    options.add_argument("--csv", dest="file", metavar="FILE", help=history_words.HELP_CSV)
    options.add_argument(
        "--step", dest="step_s", metavar="SECONDS", type=_step, help=history_words.HELP_STEP
    )
    options.add_argument("--replace", action="store_true", help=history_words.HELP_REPLACE)
    options.add_argument("--list", dest="show", action="store_true", help=history_words.HELP_LIST)
    options.add_argument("--json", action="store_true", help=words.HELP_JSON)


def add_metrics(made: Mapping[str, Groups]) -> None:
    """Add what `weir metrics` takes."""
    made["on"][1].add_argument("--port", metavar="N", type=port, help=scrape_words.HELP_PORT)


def _step(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 5 and 1 <= int(text) <= 3_600):
        raise argparse.ArgumentTypeError(history_words.NOT_A_STEP.format(text=text))
    return int(text)
