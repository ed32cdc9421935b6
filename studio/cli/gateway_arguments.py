"""The options of `weir gateway`."""

import argparse
from collections.abc import Mapping

from studio.cli import adjust_words
from studio.cli import gateway_words as words
from studio.cli.on_demand_arguments import add_on_demand
from studio.cli.values import port

Groups = tuple["argparse._ArgumentGroup", "argparse._ArgumentGroup"]
"""The arguments of a command, and its options."""


def add_gateway(made: Mapping[str, Groups]) -> None:
    """Add what each of the commands takes."""
    arguments, _options = made["alias"]
    arguments.add_argument("name", metavar="ALIAS", help=words.HELP_ALIAS)
    arguments.add_argument("model", metavar="MODEL", nargs="?", help=words.HELP_MEANT)
    made["allow"][0].add_argument("name", metavar="HOST|ORIGIN", help=words.HELP_ALLOWED)
    made["forget"][0].add_argument("name", metavar="NAME", help=words.HELP_FORGOTTEN)
    arguments, options = made["adjust"]
    arguments.add_argument("reference", metavar="NAME", nargs="?", help=adjust_words.HELP_ID)
    arguments.add_argument(
        "other",
        metavar="on|off|default",
        nargs="?",
        choices=("on", "off", "default"),
        help=adjust_words.HELP_HOW,
    )
    options.add_argument("--key", metavar="KEY", help=adjust_words.HELP_KEY)
    arguments, options = made["listen"]
    arguments.add_argument("reference", metavar="ADDRESS", nargs="?", help=words.HELP_ADDRESS)
    options.add_argument("--port", metavar="N", type=port, help=words.HELP_PORT)
    options.add_argument("--expose", action="store_true", help=words.HELP_EXPOSE)
    either = options.add_mutually_exclusive_group()
    either.add_argument("--tls", action="store_true", default=None, help=words.HELP_TLS)
    either.add_argument("--no-tls", dest="tls", action="store_false", help=words.HELP_NO_TLS)
    options.add_argument("--certificate", metavar="FILE", help=words.HELP_CERTIFICATE)
    options.add_argument("--key", metavar="FILE", help=words.HELP_KEY)
    add_on_demand(made)
