"""The sentences of `weir top`. Those with braces are filled with `format`."""

ABOUT = "Watch cards, pool, spill, tok/s, requests and keys, live in this terminal."
HELP_JSON = "Print each second as one JSON document a line, until it is ended."

NEEDS_TERMINAL = "`weir top` draws on a terminal, and standard output is none."
DUMB_TERMINAL = "This terminal (TERM=dumb) cannot move its cursor, which `weir top` needs."
HINT_JSON = "`weir top --json` prints one document a second; `weir status` shows one instant."
TOO_SMALL = "This terminal has {width} × {height} characters; `weir top` needs {least}."
LEAST = "80 × 24"

TITLE = "weir top"
PAUSED = "paused"
FOOTER = (
    ("q", "quit"),
    ("p", "pause"),
    ("s", "sort"),
    ("a", "alarms"),
    ("g", "cards"),
    ("?", "help"),
)
BACK = "any other key goes back"

POOL = "Pool"
SPILL = "Spill"
DECODE = "Decode"
PREFILL = "Prefill"
TIMES = "Times"
ENGINE = "Engine"
FETCHING = "Fetch"
BOOT = "Boot"
CARDS = "Cards"
ALARMS = "Alarms"
KEYS = "Keys"
QUEUED = "Waits"
REQUESTS = "Requests"
RUNNING = "Running"
VERDICT = "Verdict"
ROOM = "Room"
HOST = "Host"

POOL_OF = "{used} of {total}"
QUEUE = "running {running} · waiting {waiting}"
PREEMPTIONS = "preempted {count}"
HARM_NONE = "none where it hurts"
HARM = "{amount} where it hurts"
HARM_UNKNOWN = "– where it hurts ({reason})"
SPILL_KINDS = {
    "wddm-shared": "shared memory",
    "swap": "swap",
    "memory-pressure": "memory pressure",
    "page-thrash": "weights read again",
    "slow-path": "slow path",
    "cpu-kv-tier": "CPU KV tier",
    "host-kv": "host KV",
    "expert-ring": "expert ring",
    "ple-disk": "PLE from disk",
}
MOVES = "{rate}/s"
TTFT = "first {half}, 95 % {most}"
BETWEEN = "between tokens {half}, 95 % {most}"
STEP = "step {time}"
PER_STEP = "{tokens} tok/step"
PREFIX = "cache {share}"
TAKEN = "guesses taken {shares}"
WAITS = "{count} ({reasons})"
WAIT_REASONS = {"capacity": "no room or seat", "deferred": "held back"}
ANSWERED = "answered {count}"
MEMORY = "memory {used} of {total}"
ENGINE_MEMORY = "engine {used}"
GATEWAY_SHORT = "gateway {in_flight}, {waiting} waiting"
GATEWAY = "gateway {in_flight} under way, {waiting} waiting, {count} since start"

CARD_COLUMNS = ("#", "card", "busy", "mem", "GiB", "W", "°C", "MHz", "held back by")
CARD_COLUMNS_WIDE = (
    "#", "card", "busy", "mem", "GiB", "W", "°C", "MHz", "mem MHz", "PCIe in", "PCIe out",
    "ECC", "held back by",
)  # fmt: skip
NOTHING_HOLDS = "nothing"
LOST = "lost: it answers no more"
MORE_COUNT = "… and {count} more"
MORE = "… and {count} more: {key}"
KEY_COLUMNS = ("key", "running", "requests", "errors", "prompt", "cached", "generated", "last used")
KEY_SPEED = "tok/s"
RESIDENT_COLUMNS = ("running", "key", "", "for", "prompt", "generated", "in the pool")
RESIDENT_STATES = {"reading": "reads its prompt", "writing": "writes"}
ESTIMATE = "~{tokens}"
REQUEST_COLUMNS_NARROW = ("at", "key", "status", "first token", "took", "prompt", "generated")
REQUEST_COLUMNS = ("at", "key", "status", "first token", "took", "prompt", "cached", "generated")
SORTED_BY = "by {name}"
SORTS = ("last used", "generated", "requests", "name")
NEVER = "never"
REVOKED = "revoked"

NO_CARDS = "none: the driver lists no card"
BECAUSE = "– ({reason})"
CARDS_UNKNOWN = "– (NVIDIA's driver does not answer, or there is none)"
NO_TICK = "– (no reading yet)"
NO_ENGINE = "– (no engine serves)"
NO_RATE = "– (no work in the last seconds)"
MUTED = "{title}, muted"
NO_ALARMS = "none"
ALARMS_UNKNOWN = "– (this service does not tell)"
NO_KEYS = "none: `weir keys create NAME` makes one"
KEYS_UNKNOWN = "– (not asked yet)"
NO_REQUESTS = "none yet"
NOT_SAID = "the monitor does not read it"
SINCE = "since {time}"

GONE = "The service is gone ({reason}); looking for it again."
GONE_SHORT = "service gone"
NO_REASON = "it does not answer"
BACK_AGAIN = "The service is there again."

HELP = (
    ("q", "quit; Ctrl+C does the same"),
    ("p", "pause: the screen stands still, the figures go on being collected"),
    ("s", "sort the keys: by last use, generated tokens, requests, name"),
    ("a", "all alarms with cause, evidence and what can be done"),
    ("g", "all cards with what the driver did not answer"),
    ("?", "this page"),
)
HELP_TEXTS = (
    "Pool: tokens of the KV cache that running requests hold, of all there are.",
    "Room: what more fits now. Verdict: whether it is as fast as it should be.",
    "Spill: bytes in places where they slow answers down; below, those that belong there.",
    "Decode and prefill: tokens a second of all requests together. The right end is now.",
    "busy: share of the last period in which a kernel ran. mem: in which memory was used.",
    "– stands for what is not known; beside it stands why. It is never zero.",
    "An alarm has lasted long enough to be sure; `weir fix` lists what can be done.",
)
