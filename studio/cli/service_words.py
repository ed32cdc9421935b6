"""Sentences and labels of `weir service`."""

from studio.domain.service import AutostartState, RunsAs, SleepPolicy

ABOUT = "Let systemd keep the service, choose what starts with it, or run it by hand."
COMMANDS: dict[str, str] = {
    "install": "Let systemd start the service at login, and keep it running.",
    "uninstall": "Let systemd do so no more; removes exactly what the install made.",
    "status": "Show how the service is kept, what starts with it, and what is in the way.",
    "autostart": "Choose a preset that starts with the service; `off` chooses none.",
    "sleep": "Choose whether the engine is kept or stopped when the machine sleeps.",
    "run": "Run the service in this terminal until it is told to end.",
}
HELP_UNTIL_RELEASED = "End when the terminal or window that started it goes away."
HELP_AUTOSTART = "Start what `weir service autostart` chose; for service managers."
HELP_LINGER = "Let it run from the machine's start on, without a login (asks loginctl)."
HELP_FORCE = "Also over a unit that was changed by hand, or that serves another folder."
HELP_FORCE_REMOVE = "Also remove a unit that was changed by hand, or that serves another folder."
HELP_RESTART = "Hand a service that was started by hand over to systemd, and apply changes now."
HELP_DRY_RUN = "Print the unit; change nothing."
HELP_PRESET = "What to start with the service; `off`: nothing."
HELP_SET = "Change one setting of the preset; may be given again."
HELP_POLICY = "`keep` the engine through sleep, or `stop` it before and start it again after."

UNIT = "Unit"
KEPT_BY = "Kept by"
AT_LOGIN = "At login"
LINGER = "Linger"
STARTS = "Starts"
SLEEP = "Sleep"
TO_NOTE = "To note"
PROBLEM = "Problem"

NOT_INSTALLED = "not installed: `weir service install`"
INSTALLED = "{file}"
EDITED = "{file} (changed by hand)"
RUNS_AS = {
    RunsAs.UNIT: "systemd, as process {pid}",
    RunsAs.HAND: "nobody: started by hand, as process {pid}",
}
RUNS_NOT = "no service of this folder runs"
ACTIVE = "{enabled}, {active}"
RESTARTED = " · restarted {count} times"
LINGER_ON = "on: it runs from the machine's start on, without a login"
LINGER_OFF = "off: it runs while {user} is logged in"
STARTS_NOTHING = "nothing: `weir service autostart PRESET` chooses"
STATES: dict[AutostartState, str] = {
    AutostartState.OFF: STARTS_NOTHING,
    AutostartState.NEXT: "{what}, when systemd starts the service next",
    AutostartState.CARDS: "{what}: waits for the cards",
    AutostartState.NETWORK: "{what}: waits for a network",
    AutostartState.TRYING: "{what}: is being started",
    AutostartState.BACKING_OFF: "{what}: failed {attempts} times, tried again at {next}",
    AutostartState.SERVED: "{what}: was started",
    AutostartState.STOOD_DOWN: "{what}: left alone, because something was started or stopped",
    AutostartState.GAVE_UP: "{what}: given up",
}
POLICIES: dict[SleepPolicy, str] = {
    SleepPolicy.KEEP: "the engine is kept, and looked at after waking",
    SleepPolicy.STOP: "the engine is stopped before, and started again after waking",
}
SLEPT = "last at {begin}, woke at {end}. {outcome}"

INSTALLED_NOW = "systemd keeps the service now."
REMOVED_NOW = "The unit is removed. What the Studio installed and your settings stay."
NOTHING_TO_REMOVE = "There was no unit."
CHOSEN = "{preset} starts with the service from now on."
CHOSEN_NONE = "Nothing starts with the service any more."
NO_UNIT_YET = "systemd does not keep the service yet: `weir service install`."
HANDING_OVER = "Handing the running service over to systemd"
SERVING_AGAIN = "Starting `{preset}` again"
ASK_LINGER = "Let the service run without a login, from the machine's start on? [y/N] "

BY_UNIT = "systemd keeps it: `weir service status`."
NOT_BY_UNIT = "The service was started without its systemd unit: {why}"
