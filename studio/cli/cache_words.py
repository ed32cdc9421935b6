"""Sentences of `weir cache`. Those with braces are filled with `format`."""

from studio.domain.cache import ChangeKind

ABOUT = (
    "Show whose prompts are read anew each turn instead of coming from the cache, what changes in "
    "them, and what to do."
)
HELP_CLEAR = "Forget what was found; what still is so will be found again."

HEADINGS = ("CLIENT", "KEY", "MODEL", "REQUESTS", "PROMPT TOKENS", "FROM CACHE")
NO_AGENT = "(not said)"
NO_CLIENTS = "No request has passed since the service started."
NOT_LIVE = "No service runs; this is what the last one found."
NOTHING = "Nothing to report: prompts go on as they began."
NOTHING_LEFT = "All findings are forgotten."
NOT_COMPARED = "{count} requests were too large or came too fast to be compared."

FOUND = "{client} (key `{key}`, model {model}): {what}."
ENDED = "Was so till {when}, and is no longer: "
WHERE = {
    ChangeKind.SETTINGS: "the settings of the template (effort, thinking) change from turn to turn",
    ChangeKind.TOOLS: "tool {number} is another one each turn, or the list grows and shrinks",
    ChangeKind.TOOLS_ORDER: "the tools come in another order each turn, from tool {number} on",
    ChangeKind.SYSTEM: "the system prompt changes each turn{place}",
    ChangeKind.MESSAGE: "message {number} ({role}), sent before, changes each turn{place}",
    ChangeKind.HISTORY_CUT: "the oldest messages are dropped each turn, from message {number} on",
    ChangeKind.LATE_SYSTEM: "new system messages come in the middle, and the engine moves them to"
    " the head of the prompt",
    ChangeKind.NOT_KEPT: "the prompt goes on as it began, but the engine had not kept it",
}
BETWEEN = ", where a new conversation begins"
PLACE = ", in line {line}, {where}"
EXACTLY = "at character {characters}"
WITHIN = "within {within} characters from character {characters} on"
LOOKS_LIKE = " ({mark})"
MARKS = {
    "attribution-line": "Claude Code's attribution line",
    "time": "a time of day",
    "timestamp": "a time as a number",
    "date": "a date",
    "uuid": "an id",
    "hex-id": "an id or a hash",
    "temporary-path": "a temporary folder",
    "git-status": "the state of a repository",
    "number": "a number",
}

LABEL_SEEN = "Seen"
LABEL_COST = "Cost"
LABEL_SAME = "Same up to"
LABEL_REMEDY = "What to do"
SEEN = "in {changed} of the last {compared} turns; first {first}, last {last}"
COST = "{tokens} tokens are read again each turn"
COST_TIME = ", {seconds} at the {speed} tok/s that prompts are read with here"
SAME = "about token {tokens}"

REMEDIES = {
    ChangeKind.SETTINGS: "Let the client send the same effort and thinking settings in every turn "
    "of a conversation.",
    ChangeKind.TOOLS: "Let the client send all its tools in every turn, also those that it does "
    "not need at the moment.",
    ChangeKind.TOOLS_ORDER: "Let the client sort its tools, by name for example.",
    ChangeKind.SYSTEM: "Take what changes out of the system prompt, or let the client put it into "
    "the newest message of the user.",
    ChangeKind.MESSAGE: "Let the client send earlier messages as it sent them before, and put what "
    "changes into the newest one.",
    ChangeKind.HISTORY_CUT: "Give the client the context that `weir status` shows, or let it sum "
    "up many messages at once instead of dropping one each turn.",
    ChangeKind.LATE_SYSTEM: "Let such messages be passed on as messages of the user, where they "
    "stand: `weir gateway adjust late-system-message on`.",
    ChangeKind.NOT_KEPT: "The pool is too small for what is kept in turn, or keeps no prefixes: "
    "serve fewer conversations at once, a larger pool (`weir plan`), or a preset with "
    "prefix caching.",
}
REMEDY_ADJUST = (
    "Let the Studio take it out: `weir gateway adjust {adjustment} on`, or for this key only with "
    '`--key {key}`. In Claude Code itself: "CLAUDE_CODE_ATTRIBUTION_HEADER": "0" under `env` in '
    "~/.claude/settings.json."
)
LABEL_STATUS = "Cache"


def status(findings: int) -> str:
    """Say in one line how many clients there are."""
    if findings == 1:
        return "1 client has its prompts read anew each turn: `weir cache`"
    return f"{findings} clients have their prompts read anew each turn: `weir cache`"
