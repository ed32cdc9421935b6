"""What `weir models get`, `login`, `logout` and `weir downloads` say."""

from studio.cli import preparing_words

ABOUT_MODELS = "List, check, import, remove and fetch models."
ABOUT_DOWNLOADS = "List downloads; pause, resume, cancel, move and limit them."
MODELS_COMMANDS: dict[str, str] = {
    "get": "Fetch a model from a hub: resumed after a break, proven by the hub's digests.",
    "login": "Keep a token for a hub once the hub knows it, or say whose is used.",
    "logout": "Forget the token that is kept for a hub.",
    **preparing_words.COMMANDS,
}
ACTIONS = ("list", "pause", "resume", "cancel", "first", "limit")

HELP_REPOSITORY = "The repository: OWNER/NAME."
HELP_HUB = "Which hub: huggingface or modelscope."
HELP_REVISION = "A branch, a tag or a commit; a branch is kept at the commit it had first."
HELP_INCLUDE = "Only files that match: '*.safetensors'. May be given several times."
HELP_EXCLUDE = "No files that match. May be given several times."
HELP_INTO = "A plain folder instead of the hub's cache."
HELP_UPDATE = "Follow the branch to the commit that it has now."
HELP_TOKEN = "Read the token from standard input (`-`); otherwise it is asked for."
HELP_ACTION = "What to do; without it, the list."
HELP_DOWNLOAD = "A download's id or repository; for `limit` MB a second, or `off`."
HELP_JSON = "Print one JSON document on standard output; all else goes to standard error."

NO_DOWNLOADS = "Nothing is being fetched."
ASK_TOKEN = "Token: "
TOKEN_ONLY_STDIN = "A token is not taken from the command line, where other programs can read it"
HINT_TOKEN = "Use `--token -` and give it on standard input."
NO_TOKEN = "{hub}: no token. Public models need none."
TOKEN_FROM = "{hub}: the token of {source} is used, for {endpoint} only."
FETCHED = "{repository} is here, at {commit}, {files}, {bytes}:\n{folder}"
NEWER = "Its branch has a newer commit, {commit}: `weir models get {repository} --update`."
LIMIT = "Models take at most {limit}/s."
HELD = "The others wait until what is needed now is here."
UNKNOWN_SIZE = "of unknown size"
LIMIT_WRONG = "A limit is a number of MB a second, or `off`; found `{found}`"
NEEDS_NAME = "`weir downloads {action}` needs a download"
ONE_LINE = "{title}: {done} {total}{rate}{left}"
FIRST = "; goes first"
NOT_AT_WORK = "No service runs: they go on when one does (`weir service start`, `weir up`)."
LABEL = "Download"
QUEUED = "{count} queued"
PAUSED = "{count} paused"
FAILED = "{count} failed"
OTHERS = "{total} more: {others} (`weir downloads`)"
ACCOUNT = "It is the token of {account}{role}."
ROLE = ", and may {role}"
ASK_OTHER = "{message}\nFetch it from {hub} instead? [y/N] "
