"""The sentences of `weir gateway`. Those with braces are filled with `format`."""

from studio.cli import adjust_words, on_demand_words, selftest_words

ABOUT = "Show and set up the gateway: model names, who may ask, where it can be reached."
COMMANDS: dict[str, str] = {
    "show": "Show how the gateway is set up, and where it can be reached.",
    "alias": "Let a name that clients insist on mean a model that is served.",
    "allow": "Let requests come under a host's name, or from a web page.",
    "forget": "Take an alias, a host's name or a web page away.",
    "listen": "Choose where it listens, with or without TLS.",
    "adjust": adjust_words.ABOUT,
    **on_demand_words.COMMANDS,
    "selftest": selftest_words.ABOUT,
}
HELP_ALIAS = "The name that clients send, such as gpt-4o."
HELP_MEANT = "The model that is meant. Left out: whatever is served."
HELP_ALLOWED = "A host's name, such as studio.example, or a page's origin: http://localhost:3000."
HELP_FORGOTTEN = "As `weir gateway` shows it."
HELP_ADDRESS = (
    "127.0.0.1 for this machine only, 0.0.0.0 for every network, or one address of this machine."
    " Left out: as it is."
)
HELP_PORT = "The port to move to and to keep; clients that are set up have to be told."
HELP_EXPOSE = "Agree that other machines can reach the gateway and try keys."
HELP_TLS = "Encrypt, with a certificate of the Studio's own unless one is given."
HELP_NO_TLS = "Do not encrypt."
HELP_CERTIFICATE = "Your own certificate with its chain, as PEM; needs --key."
HELP_KEY = "The certificate's private key, as PEM without a password."

LABEL_ADDRESSES = "Reached at"
LABEL_OPEN = "Open"
LABEL_ALIASES = "Model names"
LABEL_HOSTS = "Host names"
LABEL_PAGES = "Web pages"
LABEL_TLS = "Encrypted"
LABEL_NOTES = "Note"
YES = "yes"
NO = "no"
NOT_YET = "no: `weir up` opens it"
MEANS = "{alias} means {meant}"
WHATEVER = "whatever is served"
OWN_CERTIFICATE = "yes, with the Studio's own certificate"
GIVEN_CERTIFICATE = "yes, with {file}"
FINGERPRINT = "SHA-256 {fingerprint}"
ONLY_OWN = "those of this machine only"
NONE = "none"
NOTHING_CHOSEN = "Nothing was chosen."
HINT_LISTEN = "Name an address, `--port`, `--tls` or `--no-tls`: `weir gateway listen --help`."
