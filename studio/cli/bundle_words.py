"""Help of `weir runtime export`, `import` and `signers`; part of the words of the command line."""

HELP_EXPORT_TO = "The file to write, or a folder for it (default: the folder you are in)."
HELP_EXPORT_KEY = "Sign with this Ed25519 private key instead of the Studio's own."
HELP_IMPORT_FILE = "The file that `weir runtime export` wrote."
HELP_IMPORT_TRUST = "Trust the signer with this fingerprint from now on."
HELP_SIGNERS_ACTION = "What to do (default: list)."
HELP_SIGNERS_REFERENCE = "A fingerprint; to forget somebody, the name will do."
HELP_SIGNERS_NAME = "What to call the one that you trust."
