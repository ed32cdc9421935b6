"""The sentences of `weir bench`. Those with braces are filled with `format`."""

ABOUT = "Measure the engine with a load that can be repeated, and compare."
COMMANDS: dict[str, str] = {
    "run": "Measure the engine that serves; PRESET is started for it if nothing runs.",
    "stop": "End a run under way; what it has measured is kept.",
    "list": "List the runs that are kept.",
    "show": "Show a run and what it is compared with.",
    "compare": "Compare two runs.",
    "rm": "Remove runs.",
}
EPILOGUE = "`weir bench` and `weir bench PRESET` are short for `weir bench run`."
HELP_PRESET = "What to measure. Left out: what serves, else what `weir up` would start."
HELP_SET = "Change one setting of the preset for this run; may be given again."
HELP_QUICK = "At most two minutes, with shorter answers and prompts."
HELP_ONLY = "Measure this part alone: decode, prefill, copy or turns; may be given again."
HELP_RUN = "A run's id, the beginning of one, or `last`."
HELP_OTHER = "The run to compare with. Left out: the one before it of the same preset."
HELP_RUNS = "Runs to remove, as `weir bench list` names them."
HELP_ONE_PRESET = "List only runs of this preset."

STARTED = "Nothing served, so {preset} was started for this run; it is stopped afterwards."
KEY_MADE = "A first API key was made; it is shown only now: {key}"
STOPPED_AGAIN = "Stopped {preset} again."
MEASURES = "{part} · part {number} of {total} · {elapsed} of {limit} at most"
INTERRUPTED = "Ending the run; what was measured is kept."
NOT_BEFORE = "There is no run before `{run}` of the same preset, runtime, card and load."
HINT_NOT_BEFORE = "Name the other one: `weir bench compare RUN OTHER`."
NONE = "No run is kept. `weir bench` makes one."
NONE_OF = "No run of {preset} is kept. `weir bench {preset}` makes one."
REMOVED = "Removed {ids}."
NOTHING_RUNS = "No run is under way."
STOPPED = "The run was ended; `weir bench show last` shows what it measured."
DAMAGED = "Cannot be read: {reason}"

HEAD = "{preset} on {cards}, {at}"
LABEL_RUN = "Run"
LABEL_RUNTIME = "Runtime"
LABEL_SETTINGS = "Settings"
LABEL_POOL = "Pool"
LABEL_POWER = "Power"
LABEL_KEPT = "Kept in"
LABEL_PARTIAL = "Partial"
QUICK = "quick"
FULL = "full"
TOOK = "{kind}, took {time}"
POWER = "{card}: {watts} of {limit}, {degrees} at most"
COLUMNS = ("part", "one answer", "together", "tok/step", "step", "first", "p95", "read")
DISTURBED_MARK = "*"
READ = "{tokens} at {rate}/s"
LEFT_OUT = "Not measured"
NOTES = "Notes"
COMPARED = "Compared with {title}"
ALL_SAME = "No figure differs by more than the noise: {figures}."
SAME = "The same: {figures}."
NOTHING_TO_COMPARE = "No figure of both could be compared."
LIST_COLUMNS = ("run", "preset", "on", "one answer", "together", "reading", "")
MARK_PARTIAL = "partial"
MARK_DISTURBED = "disturbed"
MARK_QUICK = "quick"
