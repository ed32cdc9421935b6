"""The sentences about keys that are kept to be shown again."""

from studio.domain.secrets import StoreKind

REVEAL = "Show a key again that was made with --store."
HELP_STORE = (
    "Keep the key itself, too, so that it can be shown again: in the system's keyring, or where"
    " there is none in a file that only you can read."
)
MADE_IN_KEYRING = (
    "Key `{name}` was made. It is kept in the {where}; `weir keys reveal {name}` shows it again:"
)
MADE_IN_FILE = (
    "Key `{name}` was made. No keyring can be used ({reason}), so it is kept in a file that only"
    " you can read, under {where}; `weir keys reveal {name}` shows it again:"
)
MADE_IN_FILE_INSTEAD = (
    "Key `{name}` was made. The {where} stayed locked or refused, so it is kept in a file that only"
    " you can read, under `secrets` in the Studio's folder; `weir keys reveal {name}` shows it"
    " again:"
)
KEPT = {
    StoreKind.KEYRING: "Kept in the system's keyring, for `weir keys reveal`: {names}",
    StoreKind.FILE: "Kept in files that only you can read, for `weir keys reveal`: {names}",
}
LABEL = "Kept"
PLACES = {
    StoreKind.KEYRING: "in the system's keyring: `weir keys reveal` shows it",
    StoreKind.FILE: "in a file that only you can read: `weir keys reveal` shows it",
}
