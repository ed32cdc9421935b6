"""The sentences of `weir connect` and `weir try`. Those with braces are filled with `format`."""

from studio.domain.clients import ClientState

ABOUT = "Point a chat client at the Studio: show what would be written, write it, undo it."
ABOUT_TRY = "Ask for one answer and see how fast it comes; nothing is kept of it."
HELP_CLIENT = "The client, as `weir connect` lists them. Left out: the list."
HELP_KEY = (
    "The name of a kept key to put into it, or `new` for another one. Left out: the one named"
    " after the client, made when there is none."
)
HELP_MODEL = "A preset, or the name that a model is served under. Left out: what runs or ran last."
HELP_SHOW = "Show what would be written, and change nothing. This is so when nothing else is said."
HELP_WRITE = (
    "Write the client's file, with a backup beside it. Where it has none: make its key and show"
    " the values to enter."
)
HELP_UNDO = "Put the client's file back as it was before."
HELP_FILE = "The client's configuration, where that lies elsewhere."
HELP_PROMPT = "What to ask. Left out: a short question."
PROMPT = "Tell in three sentences what a weir does in a river."

HEADING_FOUND = "Found on this machine"
HEADING_OTHERS = "Others"
STATES: dict[ClientState, str] = {
    ClientState.UNTOUCHED: "",
    ClientState.CONNECTED: "connected",
    ClientState.CHANGED: "changed since",
}
BY_HAND = "by hand"
SEE_ONE = "`weir connect CLIENT` shows what would be written, or the values to enter."

FILE = "File"
ADDRESS = "Address"
MODEL = "Model"
KEY = "Key"
DOCUMENTED = "Documented"
KEY_MADE_THEN = "`{name}`, made when it is written"
NO_FILE_YET = "{path} (there is none yet)"
ALREADY = "The file already says all of this."
NEXT_WRITE = "`weir connect {client} --write` writes it, with a backup beside it."
NEXT_HAND = "`weir connect {client} --write` makes the key and shows it in the values."
NEXT_NAME = "`weir connect {client} --write --file PATH` writes its file."
HEADING_STEPS = "Then"
HEADING_VALUES = "Values to enter"
WRITTEN = "Wrote {path}."
UNCHANGED = "{path} already said all of this; nothing was written."
BACKED_UP = "As it was, it lies beside: {backup}"
NEXT_UNDO = "`weir connect {client} --undo` puts it back."
KEY_MADE = "Made the key `{name}`."
UNDONE = "{path} is as it was."
REMOVED = "{path} is gone: there had been none."
KEY_STAYS = "The key `{name}` still works; `weir keys revoke` ends it."
SEEN = "seen here: first token after {ttft}, {rate}, {tokens}"
THOUGHT = "(thinking)"
ONE_ONLY = "--{one} needs a client"
