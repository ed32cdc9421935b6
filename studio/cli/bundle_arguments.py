"""The options of `weir runtime export`, `import` and `signers`."""

import argparse
from collections.abc import Mapping

from studio.cli import bundle_words as words

BUNDLE_COMMANDS = ("export", "import", "signers")
SIGNERS_ACTIONS = ("list", "trust", "forget")

Groups = tuple["argparse._ArgumentGroup", "argparse._ArgumentGroup"]
"""The arguments of a command, and its options."""


def add_bundles(made: Mapping[str, Groups]) -> None:
    """Add what each of the commands takes; `export` has its runtime's name already."""
    _arguments, options = made["export"]
    options.add_argument("--to", metavar="FILE", help=words.HELP_EXPORT_TO)
    options.add_argument("--key", metavar="FILE", help=words.HELP_EXPORT_KEY)
    arguments, options = made["import"]
    arguments.add_argument("name", metavar="FILE", help=words.HELP_IMPORT_FILE)
    options.add_argument("--trust", metavar="FINGERPRINT", help=words.HELP_IMPORT_TRUST)
    arguments, options = made["signers"]
    arguments.add_argument(
        "action",
        metavar="list | trust | forget",
        nargs="?",
        default="list",
        choices=SIGNERS_ACTIONS,
        help=words.HELP_SIGNERS_ACTION,
    )
    arguments.add_argument(
        "reference", metavar="FINGERPRINT", nargs="?", help=words.HELP_SIGNERS_REFERENCE
    )
    options.add_argument("--name", dest="signer_name", metavar="NAME", help=words.HELP_SIGNERS_NAME)
