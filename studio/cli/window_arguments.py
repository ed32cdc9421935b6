"""The options of `weir ui` beyond the theme; the window reads them itself."""

import argparse

from studio.cli import window_words as words

LANGUAGES = ("en", "zh_CN")


def add(options: "argparse._ArgumentGroup") -> None:
    """Add language, and what shows another machine."""
    options.add_argument("--language", choices=LANGUAGES, help=words.HELP_LANGUAGE)
    options.add_argument("--ssh", metavar="HOST", help=words.HELP_SSH)
    options.add_argument("--remote-home", metavar="FOLDER", help=words.HELP_REMOTE_HOME)
    options.add_argument("--address", metavar="HOST:PORT", help=words.HELP_ADDRESS)
    options.add_argument("--token-file", metavar="FILE", help=words.HELP_TOKEN_FILE)
    options.add_argument("--pictures", metavar="FOLDER", help=words.HELP_PICTURES)
