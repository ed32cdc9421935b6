"""The sentences of `weir pool`. Those with braces are filled with `format`."""

ABOUT = "Show the KV pool: how full it is, who lies in it, and what more fits."

NOTHING_SERVES = "No engine is serving, so there is no pool. `weir up` starts one."
LABEL_POOL = "Pool"
LABEL_BLOCKS = "Blocks"
LABEL_SEATS = "Seats"
LABEL_ROOM = "Room"
LABEL_WAITING = "Waiting"
LABEL_HITS = "Found again"
LABEL_PREEMPTED = "Put back"
LABEL_FORECAST = "Forecast"
LABEL_OTHERS = "Others"
USED = "{used} of {total}, {share}"
BLOCKS = "{used} of {total} blocks of {size} tokens"
SEATS = "{running} of {seats} taken"
SEATS_UNKNOWN = "{running} taken; how many there are is not known"
CONCURRENCY = "the pool holds {count} requests of {context} at a time"
REASONS = {"capacity": "no room or no seat", "deferred": "held back"}
WAITING = "{count} ({reasons})"
HITS = "{local} of prompt tokens in the pool"
HITS_BOTH = "{local} of prompt tokens in the pool, {external} behind it"
PREEMPTED = "{count} times since the start, because the pool was full"
OTHERS = "{tokens} that no request of the gateway explains"
HEADINGS = ("REQUEST", "KEY", "STATE", "AGE", "PROMPT", "ANSWER", "TOKENS")
STATES = {"reading": "reading", "writing": "writing"}
ESTIMATE = "~{text}"
ESTIMATED = "~ estimated: the engine tells the exact count when an answer ends."
