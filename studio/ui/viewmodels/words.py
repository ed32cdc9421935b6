"""The words that do not depend on a state, and the shapes that carry a meaning."""

import enum

import msgspec

from studio.domain.server import BootPhase
from studio.domain.units import UNKNOWN

PRODUCT = "Weir Studio"
COPY = "Copy"
COPIED = "Copied"
DISMISS = "Close this card"
SEARCH = "Search the log"
FOLLOW = "Follow"
FOLLOW_TOOLTIP = "Keep the newest line in view (End)"
WARNINGS_ONLY = "Warnings and errors"
ERRORS_ONLY = "Errors"
ERRORS_ONLY_TOOLTIP = "Show errors only"
ONLY_MATCHES = "Only matches"
ONLY_MATCHES_TOOLTIP = "Show only lines that hold what is searched for"
PAUSE = "Pause"
PAUSE_TOOLTIP = "Let nothing move; new lines wait until you go on"
WHOLE = "Whole tracebacks"
WHOLE_TOOLTIP = "Show every line of a traceback instead of its root cause"
REPORT = "Report…"
REPORT_TOOLTIP = "Collect what helps to find a mistake, look through it, and save it as one file"
NEXT_MATCH = "Next match (Enter)"
PREVIOUS_MATCH = "Previous match (Shift+Enter)"
COPY_LINES = "Copy lines"
COPY_LINES_TOOLTIP = "Copy the selected lines, or all that are shown (Ctrl+C)"
KEY_NAME = "Name of the new key, for example the program that will use it"
MAKE_KEY = "Make a key"
COLLAPSE = "Show icons only, or icons and words (Ctrl+B)"
ADDRESS = "Address for chat clients"
LOG = "Log of the engine and the service"
GAUGE = "The weir: tokens in the KV pool, and what spills"


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


PHASE_WORDS: dict[BootPhase, str] = {
    BootPhase.INTERPRETER: "Starting Python",
    BootPhase.CONFIG: "Reading the configuration",
    BootPhase.ENGINE: "Starting the engine",
    BootPhase.WEIGHTS: "Loading weights",
    BootPhase.COMPILE: "Compiling",
    BootPhase.PROFILE: "Measuring memory",
    BootPhase.KV_CACHE: "Sizing the KV cache",
    BootPhase.GRAPHS: "Capturing graphs",
    BootPhase.WARM_UP: "Warming up",
    BootPhase.SERVER: "Opening the server",
    BootPhase.FIRST_TOKEN: "First token",
}


def number_and_unit(text: str) -> tuple[str, str]:
    """Split `68,605 tokens` into its number and its unit; an unknown has no unit."""
    number, _, unit = text.partition(" ")
    return number, unit


def number(text: str) -> str:
    """Return the number of `68,605 tokens`."""
    return number_and_unit(text)[0]


def plural(count: int, one: str, many: str) -> str:
    """Return `1 key` or `3 keys`."""
    return f"{count:,} {one if count == 1 else many}"
