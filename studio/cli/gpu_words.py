"""Sentences and labels of `weir gpus`. Those with braces are filled with `format`."""

ABOUT = "Show what every NVIDIA card does right now: memory, load, power, heat, who is on it."
HELP_FOLLOW = "Go on, once a second, until Ctrl+C."
HELP_JSON = "Print one JSON document; with -f one a second, each on a line of its own."

HEADINGS = ("#", "Card", "Memory", "Busy", "Bus", "Power", "Heat", "Clock")
NO_CARDS = "There is no NVIDIA card on this machine."
NOT_KNOWN = "What the cards do is not known."
WATTS = "{drawn} of {limit} W"
DEGREES = "{degrees} °C"
MEGAHERTZ = "{clock} MHz"
LOST = "lost: {why}"
LOST_SHORT = "lost: it answers no more"
BUSY = "{share} busy"
LOST_WITHOUT_WORDS = "it answers no more"
FAULT = "the driver fails to answer: {why}"
SLOWED = "slowed down: {reasons}"
LINK = "over the link: {received}/s in, {sent}/s out"
ERRORS = "memory errors that could not be corrected: {count}"
PROCESS = "{pid} {name}: {held}"
MORE_PROCESSES = "and {count} more"
DRAWS = "graphics"

REASONS = {
    "sw-power-cap": "its power limit",
    "hw-slowdown": "the hardware's protection",
    "sync-boost": "another card of its group",
    "sw-thermal-slowdown": "heat",
    "hw-thermal-slowdown": "heat near its limit",
    "hw-power-brake": "the power supply",
    "display-clock-setting": "a screen",
}
"""What NVML calls them to what a person can act on."""
