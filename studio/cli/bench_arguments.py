"""The options of `weir bench`, and how its second word may be left out."""

import argparse
from collections.abc import Mapping, Sequence

from studio.cli import bench_words as words
from studio.domain.bench import BenchKind

Groups = tuple["argparse._ArgumentGroup", "argparse._ArgumentGroup"]
"""The arguments of a command, and its options."""


def with_verb(argv: Sequence[str]) -> list[str]:
    """Let `weir bench PRESET` and `weir bench --quick` mean `weir bench run …`.

    Where the first word is none of the verbs. A preset that is called like one of them is measured
    with `weir bench run NAME`.
    """
    if list(argv[:1]) != ["bench"]:
        return list(argv)
    rest = list(argv[1:])
    if rest[:1] in (["-h"], ["--help"]):
        return list(argv)
    is_verb = bool(rest) and rest[0] in words.COMMANDS
    return list(argv) if is_verb else ["bench", "run", *rest]


def add_bench(made: Mapping[str, Groups]) -> None:
    """Add what each of the commands takes; what changes a preset is added by parsers.py."""
    arguments, options = made["run"]
    arguments.add_argument("preset", metavar="PRESET", nargs="?", help=words.HELP_PRESET)
    options.add_argument("--quick", action="store_true", help=words.HELP_QUICK)
    options.add_argument(
        "--only",
        dest="kinds",
        metavar="PART",
        action="append",
        choices=tuple(one.value for one in BenchKind),
        help=words.HELP_ONLY,
    )
    made["list"][0].add_argument("preset", metavar="PRESET", nargs="?", help=words.HELP_ONE_PRESET)
    made["show"][0].add_argument(
        "name", metavar="RUN", nargs="?", default="last", help=words.HELP_RUN
    )
    made["compare"][0].add_argument(
        "name", metavar="RUN", nargs="?", default="last", help=words.HELP_RUN
    )
    made["compare"][0].add_argument("other", metavar="OTHER", nargs="?", help=words.HELP_OTHER)
    made["rm"][0].add_argument("runs", metavar="RUN", nargs="+", help=words.HELP_RUNS)
