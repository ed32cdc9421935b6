"""The words that `weir models get`, `login`, `logout` and `weir downloads` take."""

import argparse

from studio.cli import hub_words as words

_HUBS = ("huggingface", "modelscope")


def add_models(
    name: str, arguments: "argparse._ArgumentGroup", options: "argparse._ArgumentGroup"
) -> None:
    """Add what one of the commands takes."""
    options.add_argument("--hub", choices=_HUBS, help=words.HELP_HUB)
    options.add_argument("--json", action="store_true", help=words.HELP_JSON)
    if name == "get":
        arguments.add_argument("name", metavar="OWNER/NAME", help=words.HELP_REPOSITORY)
        options.add_argument("--revision", metavar="REVISION", help=words.HELP_REVISION)
        for option, text in (("include", words.HELP_INCLUDE), ("exclude", words.HELP_EXCLUDE)):
            options.add_argument(f"--{option}", metavar="PATTERN", action="append", help=text)
        options.add_argument("--into", dest="to", metavar="FOLDER", help=words.HELP_INTO)
        options.add_argument("--update", action="store_true", help=words.HELP_UPDATE)
    elif name == "login":
        options.add_argument("--token", metavar="-", help=words.HELP_TOKEN)


def add_downloads(arguments: "argparse._ArgumentGroup", options: "argparse._ArgumentGroup") -> None:
    """Add what `weir downloads` takes."""
    arguments.add_argument(
        "action",
        metavar=" | ".join(words.ACTIONS),
        nargs="?",
        default="list",
        choices=words.ACTIONS,
        help=words.HELP_ACTION,
    )
    arguments.add_argument("reference", metavar="DOWNLOAD", nargs="?", help=words.HELP_DOWNLOAD)
    options.add_argument("--json", action="store_true", help=words.HELP_JSON)
