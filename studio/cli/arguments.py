"""What was typed, as one record: the words of the command line and nothing behind them.

A mistake is a `UsageError` with one sentence; nothing here prints or exits.
"""

import argparse
import dataclasses
import re
from collections.abc import Iterable, Sequence
from typing import NoReturn

from studio.cli import (
    host_words,
    network_words,
    plan_arguments,
    plan_words,
    preset_arguments,
    preset_words,
    series_words,
    words,
)
from studio.cli.bundle_arguments import BUNDLE_COMMANDS, add_bundles
from studio.cli.values import cards as _cards
from studio.cli.values import count as _count
from studio.cli.values import hash_ as _hash
from studio.cli.values import port as _port
from studio.cli.values import setting as _setting

THEMES = ("dark", "light", "system")
LEVELS = ("debug", "info", "warning", "error")
DEFAULT_LINES = 200
REPLAYABLE = (
    "doctor", "presets", "presets list", "presets show", "runtime list", "runtime show", "plan",
    "argv",
)  # fmt: skip
"""Commands that look at a host and start nothing; they take `--host`."""


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


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """One command with its options; what a command does not take keeps its default."""

    command: str
    """`up`, or with its second word: `keys create`."""
    json: bool = False
    host: str | None = None
    """A host in a file to look at instead of this machine."""
    preset: str | None = None
    overrides: dict[str, str] = dataclasses.field(default_factory=dict)
    gpus: tuple[int, ...] | None = None
    port: int | None = None
    consent: bool = False
    detach: bool = False
    follow: bool = False
    lines: int = DEFAULT_LINES
    grep: str | None = None
    level: str | None = None
    name: str = ""
    max_concurrent: int | None = None
    commit: str | None = None
    hashes: dict[str, str] = dataclasses.field(default_factory=dict)
    confirm: tuple[str, ...] = ()
    with_steps: tuple[str, ...] = ()
    without_steps: tuple[str, ...] = ()
    forget: bool = False
    dropped: tuple[str, ...] = ()
    assigned: tuple[tuple[str, str], ...] = ()
    full: bool = False
    forward: bool = False
    dry_run: bool = False
    to: str | None = None
    key: str | None = None
    trust: str | None = None
    action: str = "list"
    reference: str | None = None
    signer_name: str | None = None
    until_released: bool = False
    model: str | None = None
    drafter: str | None = None
    engine: str | None = None
    rate_mb_per_s: float | None = None
    allow_spill: bool = False
    replace: bool = False
    window_arguments: tuple[str, ...] = ()
    other: str | None = None
    title: str | None = None
    form: str = preset_words.FORMATS[0]


def parse(argv: Sequence[str]) -> Invocation:
    """Return what `argv` asks for.

    Raises: UsageError, TextAsked.
    """
    _check_text(argv)
    argv = _host_last(argv)
    _check_command(argv)
    parser = _parser()
    found, rest = parser.parse_known_args(list(argv))
    if rest:
        raise _leftover(rest[0], argv)
    fields = {field.name for field in dataclasses.fields(Invocation)}
    given = {name: value for name, value in vars(found).items() if name in fields}
    second = getattr(found, "second", None)
    given["command"] = f"{found.command} {second}" if second else found.command
    given["overrides"] = dict(given.get("overrides") or ())
    given["hashes"] = dict(given.get("hashes") or ())
    for name in ("confirm", "with_steps", "without_steps", "dropped", "assigned"):
        given[name] = tuple(given.get(name) or ())
    given["detach"] = bool(given.get("detach") or (found.command == "up" and given.get("json")))
    if found.command == "ui":
        given["window_arguments"] = tuple(argv[1:])
    return Invocation(**given)


def _host_last(argv: Sequence[str]) -> list[str]:
    """Let `--host` stand before the command too."""
    words_ = list(argv)
    if words_[:1] == ["--host"]:
        if len(words_) < 2:
            raise UsageError(words.option_needs_value("--host"), words.see_help("weir"))
        return [*words_[2:], *words_[:2]] if len(words_) > 2 else words_[2:]
    if words_ and words_[0].startswith("--host="):
        return [*words_[1:], words_[0]] if len(words_) > 1 else []
    return words_


_NESTED = {
    "keys": words.KEY_COMMANDS,
    "presets": preset_words.COMMANDS,
    "runtime": words.RUNTIME_COMMANDS,
    "service": words.SERVICE_COMMANDS,
}


_BARE = ("presets",)
"""Commands that mean something without a second word."""


# Mistakes


def _check_text(argv: Sequence[str]) -> None:
    for word in argv:
        if any(0xD800 <= ord(character) <= 0xDFFF for character in word):
            shown = word.encode("utf-8", "replace").decode()
            raise UsageError(words.not_text(shown), words.see_help("weir"))


def _check_command(argv: Sequence[str]) -> None:
    if not argv:
        raise UsageError(words.missing("COMMAND"), words.see_help("weir"))
    first = argv[0]
    if first in ("-h", "--help", "--version"):
        return
    if first not in words.COMMANDS:
        raise _unknown(first, words.COMMANDS, "weir")
    nested = _NESTED.get(first)
    if nested is None:
        return
    second = _second(argv[1:])
    if second is None and first not in _BARE and not {"-h", "--help"} & set(argv):
        raise UsageError(words.missing(" | ".join(nested)), words.see_help(f"weir {first}"))
    if second is not None and second not in nested:
        raise _unknown(second, nested, f"weir {first}")


def _second(rest: Sequence[str]) -> str | None:
    """Return the second word of a command; the host that `--host` takes is none."""
    is_value = False
    for word in rest:
        if not is_value and not word.startswith("-"):
            return word
        is_value = word == "--host"
    return None


def _unknown(found: str, known: Iterable[str], command: str) -> UsageError:
    if found.startswith("-"):
        return UsageError(
            words.unknown_option(found, near(found, ("--help", "--version"))),
            words.see_help(command),
        )
    return UsageError(words.unknown_command(found, near(found, known)), words.see_help(command))


def _leftover(found: str, argv: Sequence[str]) -> UsageError:
    help_text = words.see_help(_command_of(argv))
    if not found.startswith("-"):
        return UsageError(words.unexpected_argument(found), help_text)
    option = found.split("=", 1)[0]
    if option == "--host":
        taken = ", ".join(f"`weir {one}`" for one in REPLAYABLE if one.split()[0] in words.COMMANDS)
        return UsageError(
            host_words.HOST_NOT_TAKEN.format(command=_command_of(argv)),
            host_words.HINT_HOST_TAKEN.format(commands=taken),
        )
    known = set(re.findall(r"(--[a-z-]+)", _help_of(argv)))
    if option in known:
        return UsageError(words.misplaced_option(option, _command_of(argv)), help_text)
    return UsageError(words.unknown_option(option, near(option, sorted(known))), help_text)


def _command_of(argv: Sequence[str]) -> str:
    taken = [argv[0]]
    if argv[0] in _NESTED:
        second = _second(argv[1:])
        taken += [second] if second is not None else []
    return " ".join(["weir", *taken])


def _help_of(argv: Sequence[str]) -> str:
    try:
        _parser().parse_known_args([*_command_of(argv).split()[1:], "--help"])
    except TextAsked as asked:
        return asked.text
    return ""


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
_CHOICE = re.compile(r"invalid choice: (?P<found>.*) \(choose from (?P<choices>.*)\)", re.DOTALL)


def _sentence(message: str) -> str:
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
    choice = _CHOICE.fullmatch(reason)
    if choice:
        wanted = choice["choices"].replace("'", "")
        return words.bad_value(option, words.not_one_of(choice["found"].strip("'"), wanted))
    return words.bad_value(option, reason)


class _Parser(argparse.ArgumentParser):
    def __init__(self, **settings: object) -> None:
        super().__init__(
            prog=str(settings["prog"]),
            description=str(settings["description"]),
            formatter_class=_Formatter,
            add_help=False,
            allow_abbrev=False,
        )
        self.arguments = self.add_argument_group(words.HEADING_ARGUMENTS)
        self.options = self.add_argument_group(words.HEADING_OPTIONS)

    def error(self, message: str) -> NoReturn:
        raise UsageError(_sentence(message), words.see_help(self.prog))


class _Formatter(argparse.HelpFormatter):
    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=26, width=79)


class _Help(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_rest: object) -> None:
        raise TextAsked(parser.format_help().rstrip("\n"))


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_rest: object) -> None:
        from studio import __version__

        raise TextAsked(f"{parser.prog} {__version__}")


# Commands


def _parser() -> _Parser:
    parser = _Parser(prog="weir", description=words.PROGRAM)
    parser.epilog = words.EPILOGUE
    _add_help(parser)
    parser.options.add_argument(
        "--version", action=_Version, nargs=0, help=words.HELP_VERSION, default=argparse.SUPPRESS
    )
    commands = parser.add_subparsers(
        title=words.HEADING_COMMANDS, metavar="COMMAND", dest="command", parser_class=_Parser
    )
    made = {name: _command(commands, name, text) for name, text in words.COMMANDS.items()}
    _add_up(made["up"])
    _add_switch(made["switch"])
    _add_plan(made["plan"])
    _add_logs(made["logs"])
    _add_window(made["ui"])
    _add_network(made["network"])
    for name in ("stop", "restart", "down", "status", "ps", "presets", "doctor"):
        _add_json(made[name])
    for name in made.keys() & set(REPLAYABLE):
        _add_host(made[name])
    _add_keys(made["keys"])
    _add_runtime(made["runtime"])
    _add_presets(made["presets"])
    _add_argv(made["argv"])
    _add_service(made["service"])
    return parser


def _command(commands: "argparse._SubParsersAction[_Parser]", name: str, text: str) -> _Parser:
    parser = commands.add_parser(name, help=text, description=text)
    _add_help(parser)
    return parser


def _add_help(parser: _Parser) -> None:
    parser.options.add_argument(
        "-h", "--help", action=_Help, nargs=0, help=words.HELP_HELP, default=argparse.SUPPRESS
    )


def _add_json(parser: _Parser, text: str = words.HELP_JSON) -> None:
    parser.options.add_argument("--json", action="store_true", help=text)


def _add_host(parser: _Parser) -> None:
    parser.options.add_argument("--host", metavar="ID|FILE", help=host_words.HELP_HOST)


def _add_settings(parser: _Parser, help_set: str = words.HELP_SET) -> None:
    options = parser.options
    options.add_argument(
        "--set",
        dest="overrides",
        metavar="KNOB=VALUE",
        action="append",
        type=_setting,
        help=help_set,
    )
    options.add_argument("--gpus", metavar="0,1", type=_cards, help=words.HELP_GPUS)


def _add_serving(parser: _Parser) -> None:
    _add_settings(parser)
    options = parser.options
    plan_arguments.add_spill(options)
    options.add_argument("--port", metavar="N", type=_port, help=words.HELP_PORT)
    options.add_argument("-y", "--yes", dest="consent", action="store_true", help=words.HELP_YES)


def _add_up(parser: _Parser) -> None:
    parser.arguments.add_argument("preset", metavar="PRESET", nargs="?", help=words.HELP_PRESET)
    _add_serving(parser)
    parser.options.add_argument("-d", "--detach", action="store_true", help=words.HELP_DETACH)
    _add_json(parser, words.HELP_JSON_UP)


def _add_switch(parser: _Parser) -> None:
    parser.arguments.add_argument("preset", metavar="PRESET", help=words.HELP_PRESET_SWITCH)
    _add_serving(parser)
    _add_json(parser)


def _add_plan(parser: _Parser) -> None:
    parser.arguments.add_argument(
        "preset", metavar="PRESET", nargs="?", help=plan_words.HELP_PRESET
    )
    _add_settings(parser, plan_words.HELP_SET)
    plan_arguments.add_plan(parser.options)
    _add_json(parser)


def _add_logs(parser: _Parser) -> None:
    options = parser.options
    options.add_argument("-f", "--follow", action="store_true", help=words.HELP_FOLLOW)
    options.add_argument(
        "-n", "--lines", metavar="N", type=_count, default=DEFAULT_LINES, help=words.HELP_LINES
    )
    options.add_argument("--grep", metavar="TEXT", help=words.HELP_GREP)
    options.add_argument("--level", metavar="LEVEL", choices=LEVELS, help=words.HELP_LEVEL)


def _add_network(parser: _Parser) -> None:
    options = parser.options
    options.add_argument(
        "--set",
        dest="assigned",
        metavar="NAME=VALUE",
        action="append",
        type=_setting,
        help=network_words.HELP_SET,
    )
    options.add_argument(
        "--forget",
        dest="dropped",
        metavar="NAME",
        action="append",
        help=network_words.HELP_FORGET,
    )
    _add_json(parser)


def _add_window(parser: _Parser) -> None:
    parser.options.add_argument("--theme", choices=THEMES, help=words.HELP_THEME)
    parser.options.add_argument("--smoke", action="store_true", help=words.HELP_SMOKE)


def _add_keys(parser: _Parser) -> None:
    commands = parser.add_subparsers(
        title=words.HEADING_COMMANDS, metavar="COMMAND", dest="second", parser_class=_Parser
    )
    made = {name: _command(commands, name, text) for name, text in words.KEY_COMMANDS.items()}
    made["create"].arguments.add_argument("name", metavar="NAME", help=words.HELP_KEY_NAME)
    made["create"].options.add_argument(
        "--max-concurrent", metavar="N", type=_count, help=words.HELP_MAX_CONCURRENT
    )
    made["revoke"].arguments.add_argument(
        "name", metavar="NAME-OR-ID", help=words.HELP_KEY_REFERENCE
    )
    for one in made.values():
        _add_json(one)


def _add_runtime(parser: _Parser) -> None:
    commands = parser.add_subparsers(
        title=words.HEADING_COMMANDS, metavar="COMMAND", dest="second", parser_class=_Parser
    )
    made = {name: _command(commands, name, text) for name, text in words.RUNTIME_COMMANDS.items()}
    add_bundles({name: (made[name].arguments, made[name].options) for name in BUNDLE_COMMANDS})
    for name in made.keys() - {"list", "gc", "updates", "import", "signers"}:
        made[name].arguments.add_argument("name", metavar="NAME", help=words.HELP_RUNTIME_NAME)
    _add_pin(made["pin"].options)
    for name, option, text in (
        ("verify", "--full", words.HELP_VERIFY_FULL),
        ("rollback", "--forward", words.HELP_ROLLBACK_FORWARD),
        ("gc", "--dry-run", words.HELP_GC_DRY_RUN),
    ):
        made[name].options.add_argument(option, action="store_true", help=text)
    for name in ("list", "show"):
        _add_host(made[name])
    for name in ("install", "update"):
        made[name].options.add_argument(
            "-y", "--yes", dest="consent", action="store_true", help=words.HELP_INSTALL_YES
        )
    for one in made.values():
        _add_json(one)


def _add_presets(parser: _Parser) -> None:
    commands = parser.add_subparsers(
        title=words.HEADING_COMMANDS, metavar="COMMAND", dest="second", parser_class=_Parser
    )
    made = {name: _command(commands, name, text) for name, text in preset_words.COMMANDS.items()}
    for name, one in made.items():
        preset_arguments.add(name, one.arguments, one.options)
        one.options.add_argument(
            "--json", action="store_true", default=argparse.SUPPRESS, help=words.HELP_JSON
        )


def _add_argv(parser: _Parser) -> None:
    preset_arguments.add_argv(parser.arguments, parser.options)
    _add_json(parser)


def _add_pin(options: "argparse._ArgumentGroup") -> None:
    options.add_argument("--commit", metavar="SHA", help=words.HELP_PIN_COMMIT)
    options.add_argument(
        "--hash",
        dest="hashes",
        metavar="FILE=SHA256",
        action="append",
        type=_hash,
        help=words.HELP_PIN_HASH,
    )
    options.add_argument("--confirm", metavar="MARK", action="append", help=words.HELP_PIN_CONFIRM)
    for option, text in (
        ("--with", series_words.HELP_PIN_WITH),
        ("--without", series_words.HELP_PIN_WITHOUT),
    ):
        options.add_argument(
            option, dest=f"{option[2:]}_steps", metavar="STEP", action="append", help=text
        )
    options.add_argument("--forget", action="store_true", help=words.HELP_PIN_FORGET)


def _add_service(parser: _Parser) -> None:
    commands = parser.add_subparsers(
        title=words.HEADING_COMMANDS, metavar="COMMAND", dest="second", parser_class=_Parser
    )
    run = _command(commands, "run", words.SERVICE_COMMANDS["run"])
    run.options.add_argument(
        "--until-released", action="store_true", help=words.HELP_UNTIL_RELEASED
    )
