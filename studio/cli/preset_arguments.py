"""What `weir presets …` and `weir argv` may be given."""

import argparse

from studio.cli import host_words, plan_arguments, preset_words, values, words


def add(
    command: str, arguments: "argparse._ArgumentGroup", options: "argparse._ArgumentGroup"
) -> None:
    """Add what one command of `weir presets` takes."""
    if command in ("list", "show"):
        options.add_argument(
            "--host", metavar="ID|FILE", default=argparse.SUPPRESS, help=host_words.HELP_HOST
        )
    if command == "list":
        return
    if command == "make":
        plan_arguments.add_make(arguments, options)
        return
    if command == "import":
        arguments.add_argument("name", metavar="FILE", help=preset_words.HELP_FILE)
        options.add_argument("--as", dest="other", metavar="NAME", help=preset_words.HELP_AS)
        return
    arguments.add_argument("name", metavar="PRESET", help=preset_words.HELP_PRESET)
    match command:
        case "diff":
            arguments.add_argument(
                "other", metavar="OTHER", nargs="?", help=preset_words.HELP_OTHER
            )
        case "copy":
            arguments.add_argument("other", metavar="NAME", help=preset_words.HELP_NEW)
            options.add_argument("--title", metavar="TEXT", help=preset_words.HELP_TITLE)
            _add_settings(options, preset_words.HELP_COPY_SET)
        case "rename":
            arguments.add_argument("other", metavar="TITLE", help=preset_words.HELP_NEW_TITLE)
        case "update":
            options.add_argument(
                "--take",
                dest="include",
                metavar="SETTING",
                action="append",
                help=preset_words.HELP_TAKE,
            )
        case "edit":
            _add_settings(options, preset_words.HELP_SET_DEFAULT)
        case _:
            return


def add_argv(arguments: "argparse._ArgumentGroup", options: "argparse._ArgumentGroup") -> None:
    """Add what `weir argv` takes."""
    arguments.add_argument("preset", metavar="PRESET", help=preset_words.HELP_PRESET)
    options.add_argument(
        "--format",
        dest="form",
        choices=preset_words.FORMATS,
        default=preset_words.FORMATS[0],
        help=preset_words.HELP_FORMAT,
    )
    _add_settings(options, words.HELP_SET)
    options.add_argument("--gpus", metavar="0,1", type=values.cards, help=words.HELP_GPUS)


def _add_settings(options: "argparse._ArgumentGroup", text: str) -> None:
    options.add_argument(
        "--set",
        dest="overrides",
        metavar="KNOB=VALUE",
        action="append",
        type=values.setting,
        help=text,
    )
