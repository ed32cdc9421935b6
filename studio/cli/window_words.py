"""What `weir ui` says about its options."""

HELP_LANGUAGE = "Speak this language, this once."
HELP_SSH = "Show the Studio of HOST, through a tunnel of ssh's."
HELP_REMOTE_HOME = "With --ssh: where the Studio's folder lies on HOST."
HELP_ADDRESS = "Show the Studio behind a control port that a tunnel of yours leads to."
HELP_TOKEN_FILE = "With --address: a file with that service's token."
HELP_PICTURES = "With --smoke: write a PNG of every page into FOLDER."
