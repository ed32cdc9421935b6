"""Which words `weir service` and `weir adopt` take."""

import argparse

from studio.cli import adopt_words, service_words
from studio.cli.values import port, setting
from studio.domain.service import SleepPolicy

Group = argparse._ArgumentGroup


def add(name: str, arguments: Group, options: Group) -> None:
    """Add what one command of `weir service` takes, besides `--json`."""
    match name:
        case "run":
            _flag(options, "--until-released", service_words.HELP_UNTIL_RELEASED)
            _flag(options, "--autostart", service_words.HELP_AUTOSTART)
        case "install":
            _flag(options, "--linger", service_words.HELP_LINGER)
            _flag(options, "--restart", service_words.HELP_RESTART)
            _flag(options, "--force", service_words.HELP_FORCE)
            _flag(options, "--dry-run", service_words.HELP_DRY_RUN)
        case "uninstall":
            _flag(options, "--force", service_words.HELP_FORCE_REMOVE)
        case "autostart":
            arguments.add_argument("preset", metavar="PRESET|off", help=service_words.HELP_PRESET)
            options.add_argument(
                "--set",
                dest="overrides",
                metavar="KNOB=VALUE",
                action="append",
                type=setting,
                help=service_words.HELP_SET,
            )
        case "sleep":
            arguments.add_argument(
                "policy",
                choices=[policy.value for policy in SleepPolicy],
                help=service_words.HELP_POLICY,
            )


def add_adopt(arguments: Group, options: Group) -> None:
    """Add what `weir adopt` takes, besides `--json`."""
    arguments.add_argument("url", metavar="URL", nargs="?", help=adopt_words.HELP_URL)
    options.add_argument("--key-file", metavar="FILE|-", help=adopt_words.HELP_KEY_FILE)
    options.add_argument("--name", metavar="NAME", default="", help=adopt_words.HELP_NAME)
    options.add_argument("--port", metavar="N", type=port, help=adopt_words.HELP_PORT)
    _flag(options, "--forget", adopt_words.HELP_FORGET)


def _flag(options: Group, name: str, text: str) -> None:
    options.add_argument(name, action="store_true", help=text)
