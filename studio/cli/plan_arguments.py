"""What `weir plan` may be given."""

import argparse
import math

from studio.cli import plan_words, values, words


def add_plan(options: "argparse._ArgumentGroup") -> None:
    """Add the arguments of `weir plan` that `weir up` does not have."""
    add = options.add_argument
    add("--model", metavar="FOLDER", help=plan_words.HELP_MODEL)
    add("--drafter", metavar="FOLDER", help=plan_words.HELP_DRAFTER)
    add("--engine", metavar="NAME", help=plan_words.HELP_ENGINE)
    add(
        "--rate",
        dest="rate_mb_per_s",
        metavar="MB/S",
        type=_rate,
        help=plan_words.HELP_RATE,
    )
    add_spill(options)


def add_spill(options: "argparse._ArgumentGroup") -> None:
    """Add the one-run override of the never-spill rule."""
    options.add_argument("--allow-spill", action="store_true", help=plan_words.HELP_ALLOW_SPILL)


def add_make(arguments: "argparse._ArgumentGroup", options: "argparse._ArgumentGroup") -> None:
    """Add what `weir presets make` takes."""
    arguments.add_argument("model", metavar="FOLDER", help=plan_words.HELP_FOLDER)
    options.add_argument("--id", dest="other", metavar="NAME", help=plan_words.HELP_ID)
    options.add_argument("--runtime", dest="engine", metavar="NAME", help=plan_words.HELP_RUNTIME)
    options.add_argument("--gpus", metavar="0,1", type=values.cards, help=words.HELP_GPUS)
    options.add_argument("--replace", action="store_true", help=plan_words.HELP_REPLACE)


def _rate(text: str) -> float:
    try:
        rate = float(text)
    except ValueError:
        rate = math.nan
    if not 0 < rate < math.inf:
        raise argparse.ArgumentTypeError(plan_words.not_a_rate(text))
    return rate
