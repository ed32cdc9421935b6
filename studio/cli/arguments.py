"""What was typed, as one record: the words of the command line and nothing behind them.

A mistake is a `UsageError` with one sentence; nothing here prints or exits.
"""

import dataclasses
import re
from collections.abc import Iterable, Sequence

from studio.cli import (
    alarm_words,
    bench_words,
    gateway_words,
    host_words,
    hub_words,
    key_words,
    models_words,
    parsers,
    preset_words,
    scrape_words,
    service_words,
    update_words,
    words,
    wsl_words,
)
from studio.cli.bench_arguments import with_verb
from studio.cli.key_arguments import LIMIT_NAMES
from studio.cli.mistakes import TextAsked, UsageError, near
from studio.cli.parsers import REPLAYABLE


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
    lines: int | None = None
    since: str | None = None
    until: str | None = None
    series: str | None = None
    step_s: int | None = None
    of_service: bool = False
    grep: str | None = None
    level: str | None = None
    name: str = ""
    new_name: str = ""
    limits: dict[str, object] = dataclasses.field(default_factory=dict)
    changes: dict[str, object] = dataclasses.field(default_factory=dict)
    remove: bool = False
    now: bool = False
    store: bool = False
    once: bool = False
    seconds: int = 0
    by: str = "key"
    csv: bool = False
    errors: bool = False
    expose: bool = False
    tls: bool | None = None
    certificate: str | None = None
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
    autostart: bool = False
    linger: bool = False
    force: bool = False
    restart: bool = False
    policy: str = ""
    url: str | None = None
    key_file: str | None = None
    model: str | None = None
    drafter: str | None = None
    engine: str | None = None
    rate_mb_per_s: float | None = None
    allow_spill: bool = False
    replace: bool = False
    file: str | None = None
    show: bool = False
    window_arguments: tuple[str, ...] = ()
    other: str | None = None
    title: str | None = None
    log: str | None = None
    exit_code: int | None = None
    number: int | None = None
    quick: bool = False
    kinds: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    hub: str | None = None
    revision: str | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    update: bool = False
    token: str | None = None
    source: str | None = None
    later: bool = False
    rootfs: str | None = None
    memory_gib: int | None = None
    form: str = preset_words.FORMATS[0]


def parse(argv: Sequence[str]) -> Invocation:
    """Return what `argv` asks for.

    Raises: UsageError, TextAsked.
    """
    _check_text(argv)
    argv = with_verb(_host_last(argv))
    _check_command(argv)
    parser = parsers.build()
    found, rest = parser.parse_known_args(list(argv))
    if rest:
        raise _leftover(rest[0], argv)
    fields = {field.name for field in dataclasses.fields(Invocation)}
    given = {name: value for name, value in vars(found).items() if name in fields}
    second = getattr(found, "second", None)
    given["command"] = f"{found.command} {second}" if second else found.command
    given["overrides"] = dict(given.get("overrides") or ())
    given["hashes"] = dict(given.get("hashes") or ())
    for name in (
        "confirm",
        "with_steps",
        "without_steps",
        "dropped",
        "assigned",
        "kinds",
        "runs",
        "keep",
        "include",
        "exclude",
    ):
        given[name] = tuple(given.get(name) or ())
    both = _set_and_taken_away(
        {*(given.get("limits") or ()), *(name for name, _value in given["assigned"])},
        given["dropped"],
    )
    if both is not None:
        raise UsageError(words.set_and_taken_away(both), words.see_help(_command_of(argv)))
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
    "bench": bench_words.COMMANDS,
    "alarms": alarm_words.COMMANDS,
    "gateway": gateway_words.COMMANDS,
    "keys": key_words.COMMANDS,
    "metrics": scrape_words.COMMANDS,
    "models": {**models_words.COMMANDS, **hub_words.MODELS_COMMANDS},
    "presets": preset_words.COMMANDS,
    "runtime": words.RUNTIME_COMMANDS,
    "service": service_words.COMMANDS,
    "update": update_words.COMMANDS,
    "wsl": wsl_words.COMMANDS,
}


_BARE = ("alarms", "gateway", "metrics", "models", "presets", "update", "wsl")
"""Commands that mean something without a second word."""


# Mistakes


def _set_and_taken_away(chosen: set[str], dropped: Iterable[str]) -> str | None:
    """Return what one line wants to set and to take away, if anything."""
    for name in dropped:
        if LIMIT_NAMES.get(name, name.replace("-", "_")) in chosen:
            return name
    return None


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
        parsers.build().parse_known_args([*_command_of(argv).split()[1:], "--help"])
    except TextAsked as asked:
        return asked.text
    return ""
