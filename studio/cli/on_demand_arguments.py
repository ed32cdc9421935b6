"""The options of `weir gateway on-demand`."""

import argparse
from collections.abc import Mapping

from studio.cli import on_demand_words as words
from studio.cli.values import count, setting

Groups = tuple["argparse._ArgumentGroup", "argparse._ArgumentGroup"]
"""The arguments of a command, and its options."""


class _Change(argparse.Action):
    """Puts one choice into `changes`."""

    def __call__(
        self,
        _parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        *_rest: object,
    ) -> None:
        changes = dict(getattr(namespace, "changes", None) or {})
        changes[self.dest] = self.const if self.nargs == 0 else values
        namespace.changes = changes


def add_on_demand(made: Mapping[str, Groups]) -> None:
    """Add what the command takes."""
    arguments, options = made["on-demand"]
    arguments.add_argument("preset", metavar="PRESET", nargs="?", help=words.HELP_PRESET)
    options.add_argument(
        "--set", dest="overrides", metavar="KNOB=VALUE", action="append", type=setting,
        help=words.HELP_SET,
    )  # fmt: skip
    options.add_argument("--remove", action="store_true", help=words.HELP_REMOVE)
    for name, metavar, text in (
        ("ttl", "SPAN", words.HELP_TTL),
        ("default_ttl", "SPAN", words.HELP_DEFAULT_TTL),
        ("residence", "SPAN", words.HELP_RESIDENCE),
        ("wait", "SPAN", words.HELP_WAIT),
        ("abandoned", "WORD", words.HELP_ABANDONED),
    ):
        _value(options, name, metavar, text)
    _value(options, "queue_length", "N", words.HELP_QUEUE, option="--queue", type_=count)
    either = options.add_mutually_exclusive_group()
    _flag(either, "--on", "is_on", words.HELP_ON, value=True)
    _flag(either, "--off", "is_on", words.HELP_OFF, value=False)
    either = options.add_mutually_exclusive_group()
    _flag(either, "--by-hand", "ttl_by_hand", words.HELP_BY_HAND, value=True)
    _flag(either, "--not-by-hand", "ttl_by_hand", words.HELP_NOT_BY_HAND, value=False)


def _value(
    options: "argparse._ArgumentGroup",
    name: str,
    metavar: str,
    text: str,
    *,
    option: str | None = None,
    type_: type[str] | object = str,
) -> None:
    assert callable(type_)
    options.add_argument(
        option or f"--{name.replace('_', '-')}", dest=name, metavar=metavar, action=_Change,
        type=type_, help=text, default=argparse.SUPPRESS,
    )  # fmt: skip


def _flag(
    group: "argparse._ActionsContainer", option: str, name: str, text: str, *, value: bool
) -> None:
    group.add_argument(
        option, dest=name, action=_Change, nargs=0, const=value, help=text,
        default=argparse.SUPPRESS,
    )  # fmt: skip
