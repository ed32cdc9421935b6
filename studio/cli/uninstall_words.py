"""The sentences of `weir uninstall`. Those with braces are filled with `format`."""

ABOUT = "List everything that the Studio made, and remove what you choose."
HELP_DRY_RUN = "Only list it."
HELP_REMOVE = "Remove this group too, without asking; `all` is every one. May be given again."
HELP_KEEP = "Keep this group, without asking. May be given again."
HELP_YES = "Do not ask: remove everything but models, and what --keep names."
GROUPS: dict[str, str] = {
    "models": "Models",
    "runtimes": "Engines and their packages",
    "cache": "Caches and unfinished downloads",
    "logs": "Logs, and prompts that were kept",
    "history": "History: charts, boots, benches",
    "keys": "Keys of clients and their use",
    "settings": "Settings and your own presets",
    "service": "The service's files, its unit at login",
    "program": "The program itself",
}
QUESTIONS: dict[str, str] = {
    "models": "Remove the models too ({size})? [y/N] ",
    "runtimes": "Remove engines ({size})? [Y/n] ",
    "history": "Remove the history ({size})? [Y/n] ",
    "keys": "Remove the keys of clients? Whoever uses them is locked out ({size}). [Y/n] ",
}
"""Groups that are asked for one by one; the others go without a question of their own."""
REALLY = "Remove {groups}: {size} in all? [y/N] "
KEPT = "kept"
REMOVED = "to remove"
NOTHING = "There is nothing of the Studio on this machine, beside the program."
KEYRING = "In the keyring: {names}. They go with the keys."
FOREIGN = "Not ours, and left alone: {names}."
RUNS = "The service runs (process {pid}); it is ended first."
DONE = "Removed {files:,} files, {size}."
STAYS = "Could not be removed: {reason}"
LEFT = "Kept: {groups}. `weir uninstall --remove GROUP` removes a group later."
NOT_CHOSEN = "Nothing was removed."
UNKNOWN = "There is no group `{name}`."
KNOWN = "Groups: {names}."
BOTH = "The group `{name}` is named after --remove and after --keep."
NOBODY_TO_ASK = "Removing needs a yes, and nobody can be asked here."
HINT_YES = "Look with --dry-run, then add --yes, or --remove GROUP for each group."
