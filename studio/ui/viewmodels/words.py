"""The words that do not depend on a state, and the shapes that carry a meaning.

Texts at module level are marked: whoever shows one calls `t`.
"""

import enum
from collections.abc import Iterable

import msgspec

from studio.domain.server import BootPhase
from studio.domain.units import UNKNOWN
from studio.ui.language import marked, nt, t

PRODUCT = "Weir Studio"
COPY = marked("Copy")
COPIED = marked("Copied")
DISMISS = marked("Close this card")
SEARCH = marked("Search the log")
FOLLOW = marked("Follow")
FOLLOW_TOOLTIP = marked("Keep the newest line in view (End)")
WARNINGS_ONLY = marked("Warnings and errors")
ERRORS_ONLY = marked("Errors")
ERRORS_ONLY_TOOLTIP = marked("Show errors only")
ONLY_MATCHES = marked("Only matches")
ONLY_MATCHES_TOOLTIP = marked("Show only lines that hold what is searched for")
PAUSE = marked("Pause")
PAUSE_TOOLTIP = marked("Let nothing move; new lines wait until you go on")
WHOLE = marked("Whole tracebacks")
WHOLE_TOOLTIP = marked("Show every line of a traceback instead of its root cause")
REPORT = marked("Report…")
REPORT_TOOLTIP = marked(
    "Collect what helps to find a mistake, look through it, and save it as one file"
)
NEXT_MATCH = marked("Next match (Enter)")
PREVIOUS_MATCH = marked("Previous match (Shift+Enter)")
COPY_LINES = marked("Copy lines")
COPY_LINES_TOOLTIP = marked("Copy the selected lines, or all that are shown (Ctrl+C)")
KEY_NAME = marked("Name of the new key, for example the program that will use it")
MAKE_KEY = marked("Make a key")
COLLAPSE = marked("Show icons only, or icons and words (Ctrl+B)")
ADDRESS = marked("Address for chat clients")
LOG = marked("Log of the engine and the service")
GAUGE = marked("The weir: tokens in the KV pool, and what spills")


class Role(enum.StrEnum):
    """A colour of `assets/tokens.toml`."""

    INK = "ink"
    QUIET = "quiet"
    WATER = "water"
    DEEP = "deep"
    CLEAR = "clear"
    WARN = "warn"
    HARM = "harm"
    OK = "ok"


class Shape(enum.StrEnum):
    """A sign that says the state without colour."""

    DOT = "dot"
    RING = "ring"
    HALF = "half"
    TICK = "tick"
    CROSS = "cross"
    TRIANGLE = "triangle"


class Text(msgspec.Struct, frozen=True, kw_only=True):
    """A text with what it says on hover."""

    text: str = UNKNOWN
    tooltip: str = ""


class ButtonView(msgspec.Struct, frozen=True, kw_only=True):
    """A button as it stands now."""

    text: str
    visible: bool = True
    enabled: bool = True
    tooltip: str = ""


class RemovalView(msgspec.Struct, frozen=True, kw_only=True):
    """What removing something would do, before it is done."""

    title: str
    lines: tuple[str, ...]
    button: ButtonView


PHASE_WORDS: dict[BootPhase, str] = {
    BootPhase.INTERPRETER: marked("Starting Python"),
    BootPhase.CONFIG: marked("Reading the configuration"),
    BootPhase.ENGINE: marked("Starting the engine"),
    BootPhase.WEIGHTS: marked("Loading weights"),
    BootPhase.COMPILE: marked("Compiling"),
    BootPhase.PROFILE: marked("Measuring memory"),
    BootPhase.KV_CACHE: marked("Sizing the KV cache"),
    BootPhase.GRAPHS: marked("Capturing graphs"),
    BootPhase.WARM_UP: marked("Warming up"),
    BootPhase.SERVER: marked("Opening the server"),
    BootPhase.FIRST_TOKEN: marked("First token"),
}


def number_and_unit(text: str) -> tuple[str, str]:
    """Split `68,605 tokens` into its number and its unit; an unknown has no unit."""
    number, _, unit = text.partition(" ")
    return number, unit


def number(text: str) -> str:
    """Return the number of `68,605 tokens`."""
    return number_and_unit(text)[0]


def listed(names: Iterable[str]) -> str:
    """Return `one, two, three`, parted as the language parts them."""
    return t(", ").join(names)


def named(name: str, text: str) -> str:
    """Return `name: text`, with the language's own colon."""
    return t("{name}: {text}").format(name=name, text=text)


def plural(count: int, one: str, many: str) -> str:
    """Return `1 key` or `3 keys`."""
    return f"{count:,} {nt(one, many, count)}"
