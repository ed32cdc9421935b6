"""The sentences of `weir doctor` and of `--host`. Those with braces are filled with `format`."""

from studio.domain.doctor import Level
from studio.domain.runtimes import RuntimeState

HELP_HOST = (
    "Answer for this host instead of this machine: an id such as rtx3090-linux, or a file that "
    "`weir doctor --json` wrote. Nothing is started."
)

HOST_NOT_TAKEN = "`{command}` does not take `--host`: a replayed host never starts anything."
HINT_HOST_TAKEN = "Commands that take it: {commands}."
HOST_REPLAYED = "`{host}` is only looked at: nothing can be started on it."
HINT_HOST_REPLAYED = "Leave out `--host` to use this machine."
REPLAYING = "Replaying host {host}: nothing below is about this machine."

LEVELS: dict[Level, str] = {
    Level.STOPS: "Stops you",
    Level.LOOK: "Look at this",
    Level.UNKNOWN: "Not known",
    Level.GOOD: "Good",
}
CARD = "Card {index}"
CARDS = "Cards {indices}"
PRESETS_FIT = "Presets that fit"
PRESETS_FIT_NOT = "Presets that do not fit"
RUNTIMES = "Runtimes"
WORKS = "Fits this machine."
WORKS_NOT = "Does not fit this machine."
STATES: dict[RuntimeState, str] = {
    RuntimeState.INSTALLED: "Installed.",
    RuntimeState.NOT_PINNED: "Not pinned yet: `weir runtime show {name}`.",
    RuntimeState.UNVERIFIED: "Not verified yet: `weir runtime show {name}`.",
    RuntimeState.DAMAGED: "Damaged: `weir runtime repair {name}`.",
}
"""What is said beside the verdict; nothing for one that can simply be installed."""
ADVICE_MARK = "→"
STOPPED = "Without it: {names}."
STOPPED_ALL = "Without it nothing can be served."

VERDICT_GOOD = "All is well: {count} of {total} presets fit."
VERDICT_LOOK = "It can serve: {count} of {total} presets fit."
VERDICT_WAITS = (
    "Nothing can be served on it yet: {count} of {total} presets fit, and each needs something "
    "from you first. `weir presets show NAME` says what."
)
SOME_WAIT = "{ready} can be served now, {waiting} after what `weir presets show NAME` says."
VERDICT_STOPS = "Nothing can be served on it as it is."
