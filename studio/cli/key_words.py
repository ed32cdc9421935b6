"""The sentences of `weir keys` and `weir requests`. Those with braces are filled with `format`."""

from studio.cli import kept_key_words, prompt_words

COMMANDS: dict[str, str] = {
    "create": "Make a key. It is shown once, then only its hash is kept.",
    "list": "List all keys with their usage.",
    "show": "Show what one key may do, and what it has used.",
    "reveal": kept_key_words.REVEAL,
    "limit": "Change what a key may do; what is not named stays.",
    "rename": "Give a key another name.",
    "rotate": "Replace a key's secret; name, limits and usage stay.",
    "revoke": "Make a key useless from now on.",
    "prompts": prompt_words.ABOUT,
    "usage": "Show what keys have used: requests, tokens, speed; by key, day, hour or model.",
}
ABOUT_REQUESTS = (
    "List the newest requests of chat clients, by when they began: no prompts, no answers."
)

HELP_NAME = "What to call the key, for example the name of the client."
HELP_NEW_NAME = "What to call it from now on."
HELP_REFERENCE = "The key's name or id, as `weir keys list` shows them."
HELP_REFERENCE_OR_ALL = "Only this key. Left out: all of them."
HELP_MODEL = "A model that the key may use; may be given again. Left out: all."
HELP_ROUTE = (
    "openai, anthropic, or a route such as embeddings or chat/completions; may be given again."
)
HELP_FROM = (
    "An address or network that it may be used from, such as 192.168.1.0/24; again for more."
)
HELP_PER_MINUTE = "How many requests it may make in any 60 seconds."
HELP_MAX_CONCURRENT = "How many requests it may have at a time. Left out: any number."
HELP_TOKENS_PER_DAY = (
    "How many tokens (prompt and answer) it may use a day; refused beyond. 2m is 2,000,000, "
    "2M is 2,097,152."
)
HELP_WARN_TOKENS = "From how many tokens a day answers carry the header x-weir-warning."
HELP_MAX_CONTEXT = "How many tokens prompt and answer may have together."
HELP_EXPIRES = "When it ends: 12h, 30d, or a day such as 2027-01-31, at 00:00 of which it ends."
HELP_ONLY_RUNNING = "Use what runs and start nothing, whatever `weir gateway on-demand` lists."
HELP_NO = "Take this limit away: {names}; may be given again."
HELP_NOW = "End its running requests too."
HELP_SINCE = "How far back: 24h, 7d, 8w. Left out: 30d."
HELP_BY = "One row for each key, for each day or hour of it, or for each model."
HELP_CSV = "Answer as CSV, with a heading."
HELP_LINES = "How many of them."
HELP_ERRORS = "Only those that failed or were refused."

NONE = "There is no key. Make one with `weir keys create NAME`."
HEADINGS = ("ID", "NAME", "KEY", "REQUESTS", "TOKENS", "LAST USED", "STATE")
WORKS = "works"
LIMITED = "works, limited"
REVOKED = "revoked"
EXPIRED = "expired"
NEVER_USED = "never"

LABEL_NAME = "Name"
LABEL_ID = "Id"
LABEL_KEY = "Key"
LABEL_STATE = "State"
LABEL_MADE = "Made"
LABEL_ROTATED = "Replaced"
LABEL_USED = "Last used"
LABEL_RUNNING = "Running now"
LABEL_REQUESTS = "Requests"
LABEL_TOKENS = "Tokens"
FROM = "{when} from {address}"
REQUESTS = "{count}, {errors} failed"
TOKENS = "{prompt} prompt ({cached} from the cache), {generated} generated"
LIMITS: dict[str, str] = {
    "models": "Models",
    "routes": "Routes",
    "addresses": "May be used from",
    "requests_per_minute": "Requests a minute",
    "max_concurrent": "At a time",
    "tokens_per_day": "Tokens a day",
    "warn_tokens_per_day": "Warning from, a day",
    "max_context": "Context",
    "expires_at": "Ends",
    "only_running": "Starts",
}
STARTS_NOTHING = "nothing: uses what runs"
NO_LIMITS = "none: every model and route, from everywhere, for ever"
LABEL_LIMITS = "Limits"

USAGE_HEADINGS = (
    "KEY", "REQUESTS", "FAILED", "PROMPT", "CACHED", "GENERATED", "TTFT P50", "P95", "TOK/S P50",
    "P5",
)  # fmt: skip
BEGINS = "SINCE"
MODEL = "MODEL"
NO_USAGE = "No key was used in that time."
ESTIMATED = "{count} answers were cut off; their tokens are estimated."
ESTIMATED_ONE = "1 answer was cut off; its tokens are estimated."
REQUEST_HEADINGS = (
    "BEGAN", "KEY", "ROUTE", "STATUS", "PROMPT", "GENERATED", "TTFT", "TOOK", "NOTE",
)  # fmt: skip
NO_REQUESTS = "No request of that kind is on record."
NO_REQUESTS_YET = "There has been no request yet."
NO_KEY = "(none)"
NOTE_ADJUSTED = "changed: {notes}"
NOTE_LEFT = "client left"
NOTE_ESTIMATED = "estimated"

LIMITS_CHANGED = "Key `{name}` has other limits now: `weir keys show {name}`."
LIMITS_SAME = "Key `{name}` has these limits already: `weir keys show {name}`."
RENAMED = "Key `{old}` is called `{new}` now."
ROTATED_KEPT = (
    "Key `{name}` has a new secret; the old one no longer works. `weir keys reveal {name}` shows it"
    " again:"
)
ROTATED = "Key `{name}` has a new secret; the old one no longer works. It is shown this once only:"
NOTHING_TO_CHANGE = "No limit was named."
HINT_CHANGE = "Name one to set, or `--no` with one to take away: `weir keys limit --help`."
NOT_A_SPAN = "`{text}` is no span of time: write `24h`, `7d` or `8w`, at most 400 days"
NOT_A_SIZE = "`{text}` is no number: write `20000`, `32k` or `2M`"


def made(name: str) -> str:
    """Say that a key was made."""
    return f"Key `{name}` was made. It is shown this once only:"


def revoked(name: str) -> str:
    """Say that a key no longer works."""
    return f"Key `{name}` no longer works."


def unknown(reference: str, near: str | None) -> tuple[str, str]:
    """Say that no key has that name, and what to do."""
    hint = f"Did you mean `{near}`?" if near else "`weir keys list` shows all keys."
    return f"No key is called `{reference}`.", hint


def revoked_before(reference: str) -> tuple[str, str]:
    """Say that a key was revoked before, and what to do."""
    return f"Key `{reference}` was revoked before.", "`weir keys list` shows all keys."
