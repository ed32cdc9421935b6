"""Sentences and labels of `weir diagnose` and `weir fix`."""

ABOUT_DIAGNOSE = "Say why an engine failed, by its log: the Studio's own last one, or any vLLM log."
ABOUT_FIX = "List what can be done about what failed last, and do it."

HELP_FILE = "The log, also packed with gzip; `-` reads standard input. Left out: the last engine's."
HELP_EXIT_CODE = "How the process ended, where that is known: 1, 137, -9, 3221225477."
HELP_NUMBER = "Which of the listed remedies to take; left out, they are listed."
HELP_YES = "Agree to large downloads, and to the next free port when the port is taken."

NOT_A_CODE = "an exit status is a whole number, found `{text}`"

NOTHING_KNOWN = "Nothing in {source} ({lines}) is known to mean a failure."
EMPTY = "There is nothing to look at: {source} is empty."
STANDARD_INPUT = "standard input"
HINT_NOTHING_KNOWN = (
    "Say how the process ended with `--exit-code N`, or paste more of the log: what an engine dies "
    "of stands above its last traceback."
)
DIED = "An engine died at {at}: {cause} What is known of it: {folder}"
NO_CAUSE = "It left no word."
THEN = "What follows from it, or was met besides"
DO = "What to do"
CODE = "code: {code}"
INSIDE = "log: {name}"
ONE_LINE = "1 line"
LINES = "{count:,} lines"
AS_COMMAND = "by hand: {command}"
STDIN_UNREADABLE = "Standard input cannot be read: {why}."

NOTHING_FAILED = "Nothing has failed, and nothing runs slower than it could."
FAILED = "{preset} failed: {cause}"
FAILED_UNNAMED = "The last start failed: {cause}"
ABOUT_SLOW = "About a slow path ({code})"
BY_THE_STUDIO = "`weir fix {number}` does it"
BY_HAND = "by hand"
TAKES = "Does: {text}"
REPAIRED = "Mended: {names}."
NO_REMEDY = "No remedy is known for it; `weir logs` shows what was said."
