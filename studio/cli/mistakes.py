"""Mistakes on the command line, in our words instead of argparse's."""

import re
from collections.abc import Iterable

from studio.cli import words


class UsageError(Exception):
    """The line cannot be understood; `hint` names the help that explains it."""

    def __init__(self, sentence: str, hint: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.hint = hint


class TextAsked(Exception):
    """The person asked for a text (help or version) instead of a command."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


def near(found: str, known: Iterable[str]) -> str | None:
    """Return the one of `known` that `found` is most likely a slip of."""
    import difflib

    lowered = {name.lower(): name for name in known}
    begun = [name for name in lowered if found and name.startswith(found.lower())]
    if begun:
        return lowered[begun[0]]
    close = difflib.get_close_matches(found.lower(), lowered, n=1, cutoff=0.6)
    return lowered[close[0]] if close else None


_ARGUMENT = re.compile(r"argument (?P<name>[^:]+): (?P<reason>.*)", re.DOTALL)
_REQUIRED = re.compile(r"the following arguments are required: (?P<names>.*)", re.DOTALL)
_CLASH = re.compile(r"not allowed with argument (?P<other>.*)", re.DOTALL)
_CHOICE = re.compile(r"invalid choice: (?P<found>.*) \(choose from (?P<choices>.*)\)", re.DOTALL)


def sentence(message: str) -> str:
    """Return argparse's message in our words."""
    required = _REQUIRED.fullmatch(message)
    if required:
        return words.missing(required["names"])
    about = _ARGUMENT.fullmatch(message)
    if not about:
        return message
    option = about["name"].split("/")[-1].split(" ")[0]
    reason = about["reason"]
    if reason.startswith("expected"):
        return words.option_needs_value(option)
    if reason.startswith("ignored explicit argument"):
        return words.option_takes_no_value(option)
    clash = _CLASH.fullmatch(reason)
    if clash:
        return words.not_together(option, clash["other"].split("/")[-1])
    choice = _CHOICE.fullmatch(reason)
    if choice:
        wanted = choice["choices"].replace("'", "")
        return words.bad_value(option, words.not_one_of(choice["found"].strip("'"), wanted))
    return words.bad_value(option, reason)
