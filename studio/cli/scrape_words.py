"""The sentences of `weir metrics`. Those with braces are filled with `format`."""

ABOUT = "Let Prometheus read what the monitor sees, with a token of its own."
COMMANDS: dict[str, str] = {
    "show": "Show whether it is open, and where.",
    "on": "Open it, and keep the port for later starts of the service.",
    "off": "Close it.",
    "show-token": "Print the token for the scraper.",
    "rotate": "Make a new token; the old one is refused from then on.",
}
HELP_PORT = "The port from the next start of the service on (default: the present one)."

OFF = "The endpoint for Prometheus is off. `weir metrics on` opens it."
ON = "Prometheus can read {url} with the token that `weir metrics show-token` prints."
ON_LATER = "The endpoint opens with the service{port}; `weir metrics show-token` prints its token."
ON_PORT = ", on port {port}"
ROTATED = "The old token is refused from now on; `weir metrics show-token` prints the new one."
