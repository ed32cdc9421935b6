"""Which words each command takes; what they mean is told in arguments.py."""

import argparse
from collections.abc import Mapping
from typing import NoReturn

from studio.cli import (
    alarm_arguments,
    alarm_words,
    bench_arguments,
    bench_words,
    boot_words,
    cache_words,
    connect_arguments,
    gateway_arguments,
    gateway_words,
    gpu_arguments,
    host_words,
    hub_arguments,
    hub_words,
    key_arguments,
    key_words,
    log_arguments,
    models_arguments,
    models_words,
    monitor_arguments,
    network_words,
    plan_arguments,
    plan_words,
    preparing_arguments,
    preparing_words,
    preset_arguments,
    preset_words,
    remedy_arguments,
    report_arguments,
    scrape_words,
    series_words,
    service_arguments,
    service_words,
    settings_words,
    top_words,
    uninstall_words,
    update_arguments,
    update_words,
    window_arguments,
    words,
    wsl_arguments,
    wsl_words,
)
from studio.cli.bundle_arguments import BUNDLE_COMMANDS, add_bundles
from studio.cli.mistakes import TextAsked, UsageError, sentence
from studio.cli.values import cards as _cards
from studio.cli.values import count as _count
from studio.cli.values import hash_ as _hash
from studio.cli.values import port as _port
from studio.cli.values import setting as _setting

THEMES = ("dark", "light", "system")
REPLAYABLE = (
    "doctor", "presets", "presets list", "presets show", "runtime list", "runtime show", "plan",
    "argv",
)  # fmt: skip
"""Commands that look at a host and start nothing; they take `--host`."""


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
        raise UsageError(sentence(message), words.see_help(self.prog))


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


def build() -> _Parser:
    """Return the parser of the whole command line."""
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
    _add_boots(made["boots"])
    log_arguments.add(made["logs"].options)
    report_arguments.add(made["report"].arguments, made["report"].options)
    gpu_arguments.add(made["gpus"].options)
    _add_window(made["ui"])
    _add_assigning(made["network"], network_words.HELP_SET, network_words.HELP_FORGET)
    _add_assigning(made["settings"], settings_words.HELP_SET, settings_words.HELP_FORGET)
    remedy_arguments.add_diagnose(made["diagnose"].arguments, made["diagnose"].options)
    remedy_arguments.add_fix(made["fix"].arguments, made["fix"].options)
    for name in (
        "stop",
        "restart",
        "down",
        "status",
        "ps",
        "pool",
        "speed",
        "presets",
        "models",
        "doctor",
        "requests",
        "connect",
        "try",
        "diagnose",
        "fix",
        "uninstall",
        "disk",
    ):
        _add_json(made[name])
    for name in made.keys() & set(REPLAYABLE):
        _add_host(made[name])
    connect_arguments.add_connect(made["connect"].arguments, made["connect"].options)
    connect_arguments.add_try(made["try"].arguments, made["try"].options)
    _add_uninstall(made["uninstall"].options)
    for name, one in _add_seconds(made["update"], update_words.COMMANDS).items():
        update_arguments.add(name, one.options)
    for name, one in _add_seconds(made["wsl"], wsl_words.COMMANDS).items():
        wsl_arguments.add(name, one.options)
    _add_cache(made["cache"])
    _add_gateway(made["gateway"])
    _add_bench(made["bench"])
    _add_json(made["top"], top_words.HELP_JSON)
    monitor_arguments.add_history(made["history"].options)
    _add_metrics(made["metrics"])
    _add_alarms(made["alarms"])
    _add_keys(made["keys"])
    key_arguments.add_requests((made["requests"].arguments, made["requests"].options))
    _add_runtime(made["runtime"])
    _add_presets(made["presets"])
    _add_models(made["models"])
    hub_arguments.add_downloads(made["downloads"].arguments, made["downloads"].options)
    _add_argv(made["argv"])
    _add_service(made["service"])
    service_arguments.add_adopt(made["adopt"].arguments, made["adopt"].options)
    _add_json(made["adopt"])
    return parser


def _command(commands: "argparse._SubParsersAction[_Parser]", name: str, text: str) -> _Parser:
    parser = commands.add_parser(name, help=text, description=text)
    _add_help(parser)
    return parser


def _add_help(parser: _Parser) -> None:
    parser.options.add_argument(
        "-h", "--help", action=_Help, nargs=0, help=words.HELP_HELP, default=argparse.SUPPRESS
    )


def _add_uninstall(options: "argparse._ArgumentGroup") -> None:
    for name, target, text in (
        ("--remove", "kinds", uninstall_words.HELP_REMOVE),
        ("--keep", "keep", uninstall_words.HELP_KEEP),
    ):
        options.add_argument(name, metavar="GROUP", dest=target, action="append", help=text)
    options.add_argument("--dry-run", action="store_true", help=uninstall_words.HELP_DRY_RUN)
    options.add_argument(
        "-y", "--yes", dest="consent", action="store_true", help=uninstall_words.HELP_YES
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


def _add_boots(parser: _Parser) -> None:
    parser.arguments.add_argument(
        "preset", metavar="PRESET", nargs="?", help=boot_words.HELP_PRESET
    )
    parser.options.add_argument(
        "-n", "--lines", metavar="N", type=_count, default=20, help=boot_words.HELP_LINES
    )
    _add_json(parser)


def _add_assigning(parser: _Parser, help_set: str, help_forget: str) -> None:
    options = parser.options
    options.add_argument(
        "--set",
        dest="assigned",
        metavar="NAME=VALUE",
        action="append",
        type=_setting,
        help=help_set,
    )
    options.add_argument(
        "--forget",
        dest="dropped",
        metavar="NAME",
        action="append",
        help=help_forget,
    )
    _add_json(parser)


def _add_bench(parser: _Parser) -> None:
    parser.epilog = bench_words.EPILOGUE
    commands = parser.add_subparsers(
        title=words.HEADING_COMMANDS, metavar="COMMAND", dest="second", parser_class=_Parser
    )
    made = {name: _command(commands, name, text) for name, text in bench_words.COMMANDS.items()}
    groups = {name: (one.arguments, one.options) for name, one in made.items()}
    bench_arguments.add_bench(groups)
    _add_settings(made["run"], bench_words.HELP_SET)
    made["run"].options.add_argument(
        "-y", "--yes", dest="consent", action="store_true", help=words.HELP_YES
    )
    for one in made.values():
        _add_json(one)


def _add_window(parser: _Parser) -> None:
    parser.options.add_argument("--theme", choices=THEMES, help=words.HELP_THEME)
    window_arguments.add(parser.options)
    parser.options.add_argument("--smoke", action="store_true", help=words.HELP_SMOKE)


def _add_keys(parser: _Parser) -> None:
    commands = parser.add_subparsers(
        title=words.HEADING_COMMANDS, metavar="COMMAND", dest="second", parser_class=_Parser
    )
    made = {name: _command(commands, name, text) for name, text in key_words.COMMANDS.items()}
    key_arguments.add_keys({name: (one.arguments, one.options) for name, one in made.items()})
    for one in made.values():
        _add_json(one)


def _add_gateway(parser: _Parser) -> None:
    made = _add_seconds(parser, gateway_words.COMMANDS)
    gateway_arguments.add_gateway({n: (one.arguments, one.options) for n, one in made.items()})


def _add_metrics(parser: _Parser) -> None:
    made = _add_seconds(parser, scrape_words.COMMANDS)
    monitor_arguments.add_metrics({n: (one.arguments, one.options) for n, one in made.items()})


def _add_alarms(parser: _Parser) -> None:
    alarm_arguments.add_follow(parser.options)
    made = _add_seconds(parser, alarm_words.COMMANDS)
    alarm_arguments.add_alarms({name: (one.arguments, one.options) for name, one in made.items()})


def _add_seconds(parser: _Parser, texts: Mapping[str, str]) -> dict[str, _Parser]:
    """Add the second words of a command that also means something without one."""
    _add_json(parser)
    commands = parser.add_subparsers(
        title=words.HEADING_COMMANDS, metavar="COMMAND", dest="second", parser_class=_Parser
    )
    made = {name: _command(commands, name, text) for name, text in texts.items()}
    for one in made.values():
        one.options.add_argument(
            "--json", action="store_true", default=argparse.SUPPRESS, help=words.HELP_JSON
        )
    return made


def _add_cache(parser: _Parser) -> None:
    parser.options.add_argument(
        "--clear", dest="forget", action="store_true", help=cache_words.HELP_CLEAR
    )
    _add_json(parser)


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


def _add_models(parser: _Parser) -> None:
    commands = parser.add_subparsers(
        title=words.HEADING_COMMANDS, metavar="COMMAND", dest="second", parser_class=_Parser
    )
    for name, text in models_words.COMMANDS.items():
        made = _command(commands, name, text)
        models_arguments.add(name, made.arguments, made.options)
    for name, text in hub_words.MODELS_COMMANDS.items():
        made = _command(commands, name, text)
        is_ours = name in preparing_words.COMMANDS
        add = preparing_arguments.add if is_ours else hub_arguments.add_models
        add(name, made.arguments, made.options)


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
    made = {name: _command(commands, name, text) for name, text in service_words.COMMANDS.items()}
    for name, one in made.items():
        service_arguments.add(name, one.arguments, one.options)
        if name != "run":
            _add_json(one)
