"""The words that `weir models list`, `show`, `verify`, `rm`, `import` and `roots` take."""

import argparse

from studio.cli import models_words as words
from studio.cli.words import HELP_JSON


def add(
    name: str, arguments: "argparse._ArgumentGroup", options: "argparse._ArgumentGroup"
) -> None:
    """Add what one of the commands takes."""
    options.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help=HELP_JSON)
    match name:
        case "show":
            arguments.add_argument("name", metavar="MODEL", help=words.HELP_NAME)
        case "verify":
            arguments.add_argument(
                "reference", metavar="MODEL", nargs="?", help=words.HELP_VERIFY_NAME
            )
            options.add_argument(
                "--stop", dest="forget", action="store_true", help=words.HELP_VERIFY_STOP
            )
            options.add_argument("-d", "--detach", action="store_true", help=words.HELP_DETACH)
        case "rm":
            arguments.add_argument("name", metavar="MODEL", help=words.HELP_NAME)
            options.add_argument("--dry-run", action="store_true", help=words.HELP_DRY_RUN)
            options.add_argument(
                "-y", "--yes", dest="consent", action="store_true", help=words.HELP_YES
            )
        case "import":
            arguments.add_argument("name", metavar="PATH", help=words.HELP_PATH)
            options.add_argument(
                "--by", dest="form", choices=words.WAYS, default=words.WAYS[0], help=words.HELP_BY
            )
            options.add_argument(
                "--name", dest="new_name", metavar="NAME", default="", help=words.HELP_AS
            )
        case "roots":
            arguments.add_argument(
                "action",
                metavar=" | ".join(words.ROOT_ACTIONS),
                nargs="?",
                default="list",
                choices=words.ROOT_ACTIONS,
                help=words.HELP_ACTION,
            )
            arguments.add_argument("reference", metavar="FOLDER", nargs="?", help=words.HELP_FOLDER)
