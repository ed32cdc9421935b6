"""What `weir models list`, `show`, `verify`, `rm`, `import` and `roots` say."""

COMMANDS: dict[str, str] = {
    "list": "List every model on this machine: what it is, its size, whether it is whole.",
    "show": "Show one model with its files.",
    "verify": "Read every file of a model and compare it with what is known of it.",
    "rm": "Remove a model, after saying what that frees.",
    "import": "Take a model from a folder or a GGUF file into the library.",
    "roots": "List the folders that are searched; `add` and `remove` change them.",
}
HELP_NAME = "A model: its name, the end of it, or its path."
HELP_VERIFY_NAME = "A model; without it, all are checked."
HELP_VERIFY_STOP = "End the check; what was read stays read."
HELP_DETACH = "Do not wait: the service goes on."
HELP_YES = "Do not ask."
HELP_DRY_RUN = "Only say what would go."
HELP_PATH = "A folder with weights, a GGUF file, or a repository in a hub's cache."
HELP_BY = "reference: it stays where it is. link: hard links, no space. copy: a copy of its own."
HELP_AS = "What it is called here."
HELP_ACTION = "add or remove; without it, the list."
HELP_FOLDER = "The folder."
WAYS = ("reference", "link", "copy")
ROOT_ACTIONS = ("list", "add", "remove")

NONE = "There is no model on this machine. `weir models get OWNER/NAME` fetches one."
HEADINGS = ("MODEL", "SIZE", "PARAMETERS", "WEIGHTS", "CONTEXT", "STATE", "USED BY")
TOTAL = "In all {models}, {size}; looked at in {took:.2f} s."
DOUBLE = "The same weights twice, {extra} more than needed: {models}."
NOT_COMPARED = "{size} may be the same as other files; the service compares them when it has time."
LOST = (
    "{name} ({size}), which {uses} needs, is no longer in {path}: somebody removed or moved it, "
    "outside the Studio. `weir models import PATH` takes it in from elsewhere, "
    "`weir models prepare {preset}` gets it anew."
)
LOST_DISK = (
    "{name} ({size}), which {uses} needs, lies in {path}, and that folder is not there: a disk "
    "that is not mounted, or a folder that went."
)
ROOT_MISSING = "{path}: not there now. A disk that is not mounted, or a folder that went."
ROOT_UNREADABLE = "{path}: cannot be read: {note}."
ROOT_NOTE = "{path}: {note}."
STATES: dict[str, str] = {
    "ready": "ready",
    "unproven": "unproven",
    "incomplete": "incomplete",
    "damaged": "damaged",
    "unknown": "not checked",
}
STATE_LONG: dict[str, str] = {
    "ready": "ready: every file is as it was proven",
    "unproven": "unproven: nothing is known to compare it with; `weir models verify` keeps its "
    "digests from now on",
    "incomplete": "incomplete: files are missing",
    "damaged": "damaged: files are not as they should be",
    "unknown": "not checked: `weir models verify` reads it and compares",
}
KINDS: dict[str, str] = {
    "own": "the Studio's own",
    "cache": "cache of Hugging Face",
    "folder": "added",
    "reference": "a single model",
}
SOURCES: dict[str, str] = {
    "huggingface": "Hugging Face",
    "modelscope": "ModelScope",
    "spec": "a preset",
    "import": "what it was at its first check",
}
LABELS = {
    "name": "Model",
    "path": "Path",
    "state": "State",
    "what": "What it is",
    "size": "Size",
    "context": "Context",
    "origin": "From",
    "proven": "Proven",
    "checked": "Last check",
    "uses": "Used by",
    "now": "In use by",
    "same": "Same as",
    "check": "Check",
}
PROVEN = "{when}, against {source}"
CHECKED = "{when}: {files}, {compared} compared{bad}"
CHECKED_BAD = ", {count} damaged"
MISSING_FILE = "missing  {name}  {size}"
DAMAGED_FILE = "damaged  {name}"
UNREADABLE_FILE = "cannot be read  {name}"
CHANGED_FILE = "written since it was proven  {name}"
LEFT_OUT = "… and {count} more files"
WHOLE = "{name} is whole: {files}, {size}, as {source} has it."
FIRST_DIGESTS = "{name}: nothing was known to compare with. Its digests are kept from now on."
NOT_WHOLE = "{name} is {state}."
CHECK_LINE = "{name}: {state}, {done} of {total}{rate}{left}"
CHECK_STATES: dict[str, str] = {
    "queued": "waits for its turn",
    "running": "being read",
    "waiting": "waits: the engine needs the machine",
    "done": "done",
    "failed": "failed",
}
CHECK_BEGUN = "{count} to check; `weir models list` shows how far it is."
CHECK_ENDED = "{name}: its check is ended."
STOP_NEEDS_NAME = "`weir models verify --stop` needs a model"

REMOVE_PLAN = "{name}: {files} in {path}. Frees {freed}."
REMOVE_STAYS = "{size} of it stay: {reason}."
REMOVE_REFERENCE = "{name} is only mentioned here: the mention goes, its files in {path} stay."
REMOVE_USES = "These presets have no model then: {presets}."
REMOVE_ASK = "Remove it? [y/N] "
REMOVE_NOBODY = "Removing a model needs a yes, and nobody can be asked here."
REMOVE_HINT = "Look with --dry-run, then add --yes."
REMOVED = "Removed {name}: {freed} freed."
FORGOTTEN = "{name} is no longer listed; its files stay."
KEPT = "Nothing was removed."
REFUSED = "It cannot be removed now: {reason}"

IMPORTED = "{name} is in the library: {size}, {how}."
HOW_REFERENCE = "left where it is"
HOW_LINK = "by hard links, which take no space"
HOW_CLONE = "sharing its blocks with the original until one of them is written"
HOW_COPY = "copied"
IMPORT_REASON = "Not as asked for: {reason}."
IMPORT_LINE = "{name}: {done} of {total}"

ROOT_LINE = "{path}  ({kind}): {models}, {size}"
ROOT_GONE = "{path}  ({kind}): not there now"
ROOT_UNREAD = "{path}  ({kind}): cannot be read{note}"
ROOTS_NEED_FOLDER = "`weir models roots {action}` needs a folder"
