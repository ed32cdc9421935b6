"""The sentences of `weir update`. Those with braces are filled with `format`."""

from studio.domain.self_update import Came, UpdateState

ABOUT = "Show, fetch and apply newer versions of the Studio, or go back to the one before."
COMMANDS: dict[str, str] = {
    "status": "Show where updates stand; asks nobody.",
    "check": "Look whether there is a newer version.",
    "get": "Fetch it, prove it, and lay it beside the present one.",
    "apply": "Let it take over: the service is ended and started anew.",
    "rollback": "Go back to the version before.",
}
HELP_FROM = "Folder or address of a release instead of the usual place; its signature counts too."
HELP_LATER = "Do not end a service that runs: it takes over when the service starts next."
HELP_CANCEL = "Take that back: nothing takes over."
HELP_YES = "Do not ask before a service that runs is ended."

VERSION = "Version"
UPDATE = "Update"
CHANGES = "Changes"
FEED = "Looked at"
PACKAGE = "Package"
PREVIOUS = "Before"
COPIES = "Copies"
SERVICE = "Service"
FAILED = "Taken back"
UNSTEADY = "Unsteady"
NEXT = "Next"

CAME: dict[Came, str] = {
    Came.RUN: "installed for you from a .run",
    Came.DEB: "installed as a package of the system",
    Came.APPIMAGE: "an AppImage",
    Came.SETUP: "installed for you by the setup program",
    Came.CHECKOUT: "a checkout of the sources",
    Came.FOLDER: "a folder that nothing installed",
}
STATES: dict[UpdateState, str] = {
    UpdateState.NOT_CHECKED: "not looked yet: `weir update check`",
    UpdateState.NEWEST: "this is the newest",
    UpdateState.OFFERED: "{version} is there: `weir update get` fetches it",
    UpdateState.FETCHED: "{version} is fetched and proven",
    UpdateState.STAGED: "{version} lies beside this one: `weir update apply` lets it take over",
    UpdateState.WAITING: "{version} takes over when the service starts next",
    UpdateState.TRIAL: "{version} is on trial; without its proof this version comes back",
}
NO_VERSION = "another version"
TOO_OLD = "{version} wants version {minimum} first; this one is too old to go there in one step"
AT = "{feed}, on {day}"
MORE_CHANGES = "… and {count} more: `weir update --json` has all"
NOWHERE = "this build was not told where its releases are announced; use --from"
COPY = "{version} ({day}, {size})"
NO_COPIES = "none"
OLD_SERVICE = "still runs {version}; `weir down` and `weir up` exchange it"
FETCHING = "Fetching {done}"
PREVIOUS_IS = "{version} ({size}); `weir update rollback` goes back to it"
ENDED = (
    "this version ended by itself {count}× since it took over; after the third time {version} "
    "comes back, `weir update rollback` goes back now"
)
ENDED_BY_HAND = "this version ended by itself {count}× since it was installed"
TYPE = "type: {command}"
QUESTION = "End the service, which runs, and start version {version}? [y/N] "
QUESTION_SERVING = (
    "End the service, which serves {preset}, and start version {version}? Running answers are "
    "finished, then the engine starts anew. [y/N] "
)
CONSENT = "Version {version} can only take over when the service ends, and nobody can be asked."
HINT_CONSENT = "Add --yes, or --later to wait for its next start."
NOT_CHANGED = "Nothing was changed. `weir update apply --later` waits for the service's next start."
TAKING_OVER = "Version {version} takes over."
DONE = "Version {version} has taken over."
SERVING_AGAIN = "{preset} is served again."
NOT_IN_TIME = "Version {version} has not come up yet, and was not taken back either."
HINT_NOT_IN_TIME = "`weir update status` shows how it ends."
BACK_KEEPS = (
    "Databases whose form the newer version had changed go back to how they were; a copy of now "
    "is kept."
)
