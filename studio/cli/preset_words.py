"""The sentences of `weir presets` and `weir argv`. Those with braces are filled with `format`."""

from studio.cli import boot_words

COMMANDS: dict[str, str] = {
    "list": "List the presets and whether they fit this machine.",
    "show": "Show all about one preset: values here, knobs, figures, what is not verified.",
    "diff": "Compare a preset with another one, or with what it was copied from.",
    "copy": "Make a preset of your own from another one.",
    "import": "Take over a preset from a file; one with a key in it is refused.",
    "edit": "Change a preset of your own; a bundled one is copied first.",
    "rename": "Give a preset of your own another title.",
    "remove": "Delete a preset of your own; a bundled one of that name is back then.",
    "update": "Take over what changed in the preset that yours was copied from.",
    "make": "Make a preset of any model folder, with values that fit this machine.",
    **boot_words.PRESET_COMMANDS,
}
FORMATS = ("shell", "compose", "systemd")
HELP_PRESET = "The preset's name, as `weir presets` lists it."
HELP_OTHER = "What to compare with. Left out: what it was copied from, then and now."
HELP_NEW = "What to call the copy. The same name puts yours in the place of the bundled one."
HELP_FILE = "A preset's file, as somebody else wrote it."
HELP_AS = "What to call it. Left out: as it calls itself."
HELP_TITLE = "What it is for, in your words."
HELP_NEW_TITLE = "The new title. The name stays: `weir up` goes on as before."
HELP_TAKE = (
    "Take the original's value of this setting only; may be given again, also for settings that "
    "both changed. Left out: everything that you did not change yourself."
)
HELP_COPY_SET = "Change one setting's default in the copy; may be given again."
HELP_SET_DEFAULT = (
    "Change one setting's default; may be given again. Left out: the file is opened in an editor."
)
HELP_FORMAT = "How it is written down: a script for sh, a Compose file or a systemd user unit."

BEST = "proposed here"
OWN = "yours"
BROKEN = "cannot be used"
UNVERIFIED = "{count} values not verified"
NOTE_MARK = "→"
STEPS = "{count} things to do before it can be served: `weir presets show {id}`"
ONE_STEP = "one thing to do before it can be served: `weir presets show {id}`"

EXPERT = "Expert"
FOR = "For"
MODEL = "Model"
DRAFTER = "Drafter"
RUNTIME = "Runtime"
OTHER_RUNTIMES = "or {names}"
SERVED_NAME = "Model name"
FILE = "File"
COPIED_FROM = "Copied from"
VERDICT = "Verdict"
FITS = "fits"
FITS_NOT_REFUSED = "does not fit: it is refused as it is, for the reason below."
FITS_NOT = "does not fit"
CARDS = "Cards"
BADGES = "Badges"
HEADING_KNOBS = "Knobs (change with --set NAME=VALUE)"
HEADING_EXPECTED = "Published figures"
HEADING_MODELS = "Models"
HEADING_RULES = "What this host changes"
HEADING_WARNINGS = "Warnings"
HEADING_REFUSALS = "Refused like this"
HEADING_NOTES = "Before it can be served"
HEADING_UNVERIFIED = "Not verified"
LICENCE = "licence {licence}"
REVISION = "revision {revision}"
NO_REVISION = "no revision is known"
ON_DISK = "{size} on disk"
PREPARED = "then prepared: {steps}"
NO_VALUE = "not set"
POOL = "pool {tokens}"
DECODE = "{rate} for one"
STEP = "{count} tokens a step"
TOTAL = "{rate} in all"
PREFILL = "prompts {rate}"
FIRST_TOKEN = "first token {time}"
BOOT = "start {time}"
BOOT_WARM = "start {time}, later {warm}"

CHANGES: dict[str, str] = {
    "yours": "changed by you",
    "update": "changed by the update",
    "both": "changed by both, to the same",
    "conflict": "changed by both, to different values",
    "differs": "differs",
}
SAME = "Both serve the same."
UNCHANGED = "Nothing was changed, neither by you nor by an update."
THREE_WAY = "{mine} against {theirs}, which it was copied from"
TWO_WAY = "{mine} against {theirs}"
NOTHING = "–"
WAS = "was"
YOURS = "yours"
NOW = "now"

COPIED = "{id} is yours now: {path}"
IMPORTED = "{id} is yours now: {path}"
NO_FILE = "The file {path} cannot be read: {reason}."
SAVED = "{id} is changed: {path}"
COPY_CHANGED = (
    "{id} came with the Studio, so a copy of your own was made and changed: {path}\n"
    "It stands in the place of the bundled one; remove the file to have that back."
)
REFUSED = (
    "It is saved, but refused like this. Change it further with "
    "`weir presets edit {id} --set NAME=VALUE`:"
)
RENAMED = "{id} has its new title: {path}"
REMOVED = "{id} is deleted: {path}"
REMOVED_BACK = "Yours is deleted ({path}); {id} is again the one that came with the Studio."
NOT_CHANGED = "Nothing was changed."
KEPT = "What you wrote is kept in {path}."
ARGV_FOR = "For {host}, on {runtime}."
