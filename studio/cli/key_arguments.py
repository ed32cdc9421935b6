"""The options of `weir keys` and `weir requests`."""

import argparse
import re
from collections.abc import Mapping, Sequence

from studio.cli import kept_key_words, prompt_words
from studio.cli import key_words as words
from studio.cli.values import count
from studio.domain.keys import UsageBy
from studio.domain.quantities import whole_number

LIMIT_NAMES: Mapping[str, str] = {
    "model": "models",
    "route": "routes",
    "from": "addresses",
    "per-minute": "requests_per_minute",
    "max-concurrent": "max_concurrent",
    "tokens-per-day": "tokens_per_day",
    "warn-tokens-per-day": "warn_tokens_per_day",
    "max-context": "max_context",
    "expires": "expires_at",
    "only-running": "only_running",
}
"""What options are called, and the limits that they set."""

_SPAN = re.compile(r"(\d{1,5})\s*([hdw])")
_SPAN_S = {"h": 3_600, "d": 86_400, "w": 7 * 86_400}
_MOST_S = 400 * 86_400
_MOST_PROMPTS_S = 7 * 86_400
_MONTH_S = 30 * 86_400
REQUEST_LINES = 50

Groups = tuple["argparse._ArgumentGroup", "argparse._ArgumentGroup"]
"""The arguments of a command, and its options."""


class _SetLimit(argparse.Action):
    """Puts a limit into `limits`; those that take several values are collected."""

    def __call__(
        self,
        _parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        *_rest: object,
    ) -> None:
        limits = dict(getattr(namespace, "limits", None) or {})
        name = LIMIT_NAMES[self.dest]
        if self.nargs == 0:
            values = True
        if name in ("models", "routes", "addresses"):
            values = (*limits.get(name, ()), values)
        limits[name] = values
        namespace.limits = limits


def add_keys(made: Mapping[str, Groups]) -> None:
    """Add what each of the commands takes."""
    for name in ("create", "limit"):
        _add_limits(made[name][1])
    made["create"][0].add_argument("name", metavar="NAME", help=words.HELP_NAME)
    made["create"][1].add_argument("--store", action="store_true", help=kept_key_words.HELP_STORE)
    for name in ("show", "reveal", "limit", "rename", "rotate", "revoke"):
        made[name][0].add_argument("name", metavar="NAME-OR-ID", help=words.HELP_REFERENCE)
    made["rename"][0].add_argument("new_name", metavar="NEW", help=words.HELP_NEW_NAME)
    made["limit"][1].add_argument(
        "--no",
        dest="dropped",
        metavar="LIMIT",
        action="append",
        choices=tuple(LIMIT_NAMES),
        help=words.HELP_NO.format(names=", ".join(LIMIT_NAMES)),
    )
    made["revoke"][1].add_argument("--now", action="store_true", help=words.HELP_NOW)
    arguments, options = made["prompts"]
    arguments.add_argument("name", metavar="NAME-OR-ID", help=words.HELP_REFERENCE)
    arguments.add_argument(
        "other",
        metavar="on|off|show|clear",
        nargs="?",
        choices=("on", "off", "show", "clear"),
        help=prompt_words.HELP_HOW,
    )
    options.add_argument(
        "--for", dest="seconds", metavar="SPAN", type=_prompt_span, default=0,
        help=prompt_words.HELP_FOR,
    )  # fmt: skip
    options.add_argument(
        "-n", "--lines", metavar="N", type=count, default=20, help=prompt_words.HELP_LINES
    )
    arguments, options = made["usage"]
    arguments.add_argument(
        "reference", metavar="NAME-OR-ID", nargs="?", help=words.HELP_REFERENCE_OR_ALL
    )
    options.add_argument(
        "--since", dest="seconds", metavar="SPAN", type=span, default=_MONTH_S,
        help=words.HELP_SINCE,
    )  # fmt: skip
    options.add_argument(
        "--by",
        choices=tuple(one.value for one in UsageBy),
        default=UsageBy.KEY.value,
        help=words.HELP_BY,
    )
    options.add_argument("--csv", action="store_true", help=words.HELP_CSV)


def add_requests(groups: Groups) -> None:
    """Add what `weir requests` takes."""
    arguments, options = groups
    arguments.add_argument(
        "reference", metavar="NAME-OR-ID", nargs="?", help=words.HELP_REFERENCE_OR_ALL
    )
    options.add_argument(
        "-n", "--lines", metavar="N", type=count, default=REQUEST_LINES, help=words.HELP_LINES
    )
    options.add_argument("--errors", action="store_true", help=words.HELP_ERRORS)
    options.add_argument("--csv", action="store_true", help=words.HELP_CSV)


def _add_limits(options: "argparse._ArgumentGroup") -> None:
    rows: Sequence[tuple[str, str, object, str]] = (
        ("model", "NAME", str, words.HELP_MODEL),
        ("route", "ROUTE", str, words.HELP_ROUTE),
        ("from", "ADDRESS", str, words.HELP_FROM),
        ("per-minute", "N", _size, words.HELP_PER_MINUTE),
        ("max-concurrent", "N", _size, words.HELP_MAX_CONCURRENT),
        ("tokens-per-day", "N", _size, words.HELP_TOKENS_PER_DAY),
        ("warn-tokens-per-day", "N", _size, words.HELP_WARN_TOKENS),
        ("max-context", "N", _size, words.HELP_MAX_CONTEXT),
        ("expires", "WHEN", str, words.HELP_EXPIRES),
    )
    for name, metavar, read, text in rows:
        assert callable(read)
        options.add_argument(
            f"--{name}", dest=name, metavar=metavar, action=_SetLimit, type=read, help=text,
            default=argparse.SUPPRESS,
        )  # fmt: skip
    options.add_argument(
        "--only-running", dest="only-running", action=_SetLimit, nargs=0,
        help=words.HELP_ONLY_RUNNING, default=argparse.SUPPRESS,
    )  # fmt: skip


def _size(text: str) -> int:
    number = whole_number(text)
    if number is None:
        raise argparse.ArgumentTypeError(words.NOT_A_SIZE.format(text=text))
    return number


def _prompt_span(text: str) -> int:
    found = re.fullmatch(r"(\d{1,5})\s*([mhd])", text.strip().lower())
    seconds = int(found[1]) * {"m": 60, "h": 3_600, "d": 86_400}[found[2]] if found else 0
    if not 0 < seconds <= _MOST_PROMPTS_S:
        raise argparse.ArgumentTypeError(prompt_words.NOT_A_SPAN.format(text=text))
    return seconds


def span(text: str) -> int:
    """Read a span of time such as `30min`, `8h` or `7d`, in seconds."""
    found = _SPAN.fullmatch(text.strip().lower())
    seconds = int(found[1]) * _SPAN_S[found[2]] if found else 0
    if not 0 < seconds <= _MOST_S:
        raise argparse.ArgumentTypeError(words.NOT_A_SPAN.format(text=text))
    return seconds
