"""Every sentence that the command line says, so that a catalogue can be laid under one module.

Texts only: no layout, no decisions, no output. Functions where a sentence carries values, which
come in as text that studio.domain.units has made.
"""

from studio.cli import (
    adopt_words,
    alarm_words,
    bench_words,
    boot_words,
    cache_words,
    connect_words,
    disk_words,
    gateway_words,
    gpu_words,
    history_words,
    hub_words,
    key_words,
    network_words,
    pool_words,
    remedy_words,
    report_words,
    scrape_words,
    service_words,
    settings_words,
    speed_words,
    top_words,
    uninstall_words,
    update_words,
    wsl_words,
)
from studio.domain.errors import ErrorInfo
from studio.domain.events import Stage, StageState
from studio.domain.server import EngineState

# Help

PROGRAM = "Serve a large model on this machine, and see pool, spill and tok/s."
EPILOGUE = (
    "`weir COMMAND --help` tells about one command. The Studio keeps everything it writes in one "
    "folder; the variable WEIR_HOME moves it."
)
HEADING_OPTIONS = "Options"
HEADING_ARGUMENTS = "Arguments"
HEADING_COMMANDS = "Commands"

COMMANDS: dict[str, str] = {
    "up": "Serve a preset: set up what is missing, start the engine, show how it runs.",
    "stop": "Stop the engine and give its memory back; the service stays.",
    "restart": "Stop the engine and start it again with the same preset and settings.",
    "switch": "Serve another preset; address and keys stay the same.",
    "down": "End the engine and the service.",
    "status": "Show what runs, where, and how full it is.",
    "top": top_words.ABOUT,
    "gpus": gpu_words.ABOUT,
    "ps": "List the processes that belong to the Studio.",
    "pool": pool_words.ABOUT,
    "speed": speed_words.ABOUT,
    "history": history_words.ABOUT,
    "metrics": scrape_words.ABOUT,
    "alarms": alarm_words.ABOUT,
    "diagnose": remedy_words.ABOUT_DIAGNOSE,
    "fix": remedy_words.ABOUT_FIX,
    "logs": "Show the log of the engine, or of the service.",
    "report": report_words.ABOUT,
    "update": update_words.ABOUT,
    "wsl": wsl_words.ABOUT,
    "uninstall": uninstall_words.ABOUT,
    "disk": disk_words.ABOUT,
    "plan": "Say what fits, what must give if it does not, and how many tokens the pool holds.",
    "presets": "List, show, copy, edit and compare presets.",
    "argv": "Print the command that would serve a preset, to run it yourself.",
    "boots": boot_words.ABOUT,
    "bench": bench_words.ABOUT,
    "doctor": "Say what this machine is good for, what is in the way, and what to do about it.",
    "keys": "Make, limit, list and revoke the API keys of chat clients.",
    "connect": connect_words.ABOUT,
    "try": connect_words.ABOUT_TRY,
    "requests": key_words.ABOUT_REQUESTS,
    "cache": cache_words.ABOUT,
    "gateway": gateway_words.ABOUT,
    "models": hub_words.ABOUT_MODELS,
    "downloads": hub_words.ABOUT_DOWNLOADS,
    "runtime": "List, install, check, repair and roll back the engines that can be had.",
    "network": network_words.ABOUT,
    "service": service_words.ABOUT,
    "adopt": adopt_words.ABOUT,
    "settings": settings_words.ABOUT,
    "ui": "Open the window.",
}
RUNTIME_COMMANDS: dict[str, str] = {
    "list": "List every runtime, its state, and whether it works on this machine.",
    "show": "Show all about one runtime: needs, patches, what is open, how it fails.",
    "series": "Fetch the patch series of another project, check it, and list it.",
    "pin": "Supply a commit or a hash that a recipe leaves open, or agree to what is unverified.",
    "install": "Install a runtime beside whatever is there.",
    "stop": "Stop what is being done to a runtime: installation, check, repair, export.",
    "updates": "List what could take the place of installed runtimes, with sizes and changes.",
    "update": "Install what the recipe says now, try it on this machine, then use it.",
    "verify": "Compare what is installed with the list of its files.",
    "repair": "Restore what differs; fetches only that.",
    "versions": "List the installations of a runtime that are kept.",
    "rollback": "Use the installation before the present one.",
    "gc": "Remove what no runtime uses any more.",
    "export": "Write an installed runtime into one signed file, for machines without a network.",
    "import": "Install a runtime out of such a file; needs no network.",
    "signers": "List, trust and forget those whose runtimes may be imported.",
}

HELP_HELP = "Show this text and leave."
HELP_VERSION = "Show the version and leave."
HELP_JSON = "Print one JSON document on standard output; all else goes to standard error."
HELP_JSON_UP = (
    "Print one JSON object on standard output when it serves; all else goes to standard error. "
    "Implies --detach."
)
HELP_PRESET = (
    "What to serve; `weir presets` lists them. Left out: what ran last, else the best fit."
)
HELP_PRESET_SWITCH = "What to serve instead; `weir presets` lists them."
HELP_SET = "Change one setting of the preset; may be given again."
HELP_GPUS = "Use these cards only, for example 0,1."
HELP_PORT = "Listen on this port and keep it for later starts."
HELP_YES = "Agree to large downloads, and to the next free port when the port is taken."
HELP_DETACH = "Return when the first token was generated; everything keeps running."
HELP_RUNTIME_NAME = "The runtime's name, as `weir runtime list` shows it."
HELP_PIN_COMMIT = "Commit of the upstream patch series, in full, or a branch or tag of it."
HELP_PIN_HASH = "The sha256 of a wheel that no source gives one for; may be given again."
HELP_PIN_CONFIRM = "Agree to something unverified, by its name; may be given again."
HELP_PIN_FORGET = "Drop all that was supplied for this runtime before."
HELP_INSTALL_YES = "Agree to a large download."
HELP_VERIFY_FULL = "Read every byte instead of a sample."
HELP_ROLLBACK_FORWARD = "Take the last step back again."
HELP_GC_DRY_RUN = "Only say what would be removed."
HELP_THEME = "Colours of the window (default: what was chosen last)."
HELP_SMOKE = "Open, paint every page once, report and close."

# Usage errors


def unknown_command(found: str, near: str | None) -> str:
    """Say that no such command exists."""
    return f"There is no command `{found}`." + _near(near)


def unknown_option(found: str, near: str | None) -> str:
    """Say that no such option exists."""
    return f"There is no option `{found}`." + _near(near)


def misplaced_option(option: str, command: str) -> str:
    """Say where an option belongs."""
    return f"`{option}` belongs after `{command}`."


def unexpected_argument(found: str) -> str:
    """Say that a word has no meaning where it stands."""
    return f"`{found}` has no meaning here."


def _near(near: str | None) -> str:
    return f" Did you mean `{near}`?" if near else ""


def not_text(found: str) -> str:
    """Say that a word holds bytes that are no text."""
    return f"`{found}` holds bytes that are not text."


def missing(names: str) -> str:
    """Say that something has to follow."""
    return f"Something is missing: {names}."


def option_needs_value(option: str) -> str:
    """Say that an option stands without its value."""
    return f"`{option}` needs a value."


def option_takes_no_value(option: str) -> str:
    """Say that an option was given a value that it cannot take."""
    return f"`{option}` takes no value."


def set_and_taken_away(name: str) -> str:
    """Say that one line wants both."""
    return f"`{name}` cannot be set and taken away at once."


def not_together(option: str, other: str) -> str:
    """Say that two options contradict each other."""
    return f"`{option}` and `{other}` cannot be given together."


def bad_value(option: str, reason: str) -> str:
    """Say what is wrong with an option's value."""
    return f"{option}: {reason}"


def not_one_of(found: str, choices: str) -> str:
    """Say that a value is none of those allowed."""
    return f"`{found}` is not one of {choices}."


def not_a_setting(found: str) -> str:
    """Say how `--set` is written."""
    return f"a setting is written knob=value, found `{found}`."


def not_a_hash(found: str) -> str:
    """Say how `--hash` is written."""
    return f"a hash is written FILE=SHA256, found `{found}`."


def not_cards(found: str) -> str:
    """Say how `--gpus` is written."""
    return f"cards are written as numbers with commas, for example 0,1; found `{found}`."


def not_a_port(found: str) -> str:
    """Say what a port may be."""
    return f"a port is a whole number from 1 to 65535, found `{found}`."


def not_a_count(found: str) -> str:
    """Say what a count may be."""
    return f"a whole number of 1 or more is expected, found `{found}`."


def see_help(command: str) -> str:
    """Point at the help text of a command."""
    return f"`{command} --help` shows what is possible."


# Errors

ERROR = "error:"
HINT = "hint:"
INTERRUPTED = "Interrupted by Ctrl+C."
NOT_RUNNING = "The Studio is not running."
HINT_NOT_RUNNING = "`weir up` starts it."
CONSENT_HINT = "Run it again with `--yes` to agree."


def port_hint(free_port: int | None) -> str:
    """Say how to use another port."""
    if free_port is None:
        return "Run it again with `--port N`, where N is a free port."
    return f"Run it again with `--port {free_port}`, or with `--yes` to take the next free port."


def versions_differ(reason: str) -> str:
    """Say that the service speaks another version of the control API."""
    return f"The service answered in a form that this version of `weir` does not know: {reason}."


HINT_VERSIONS_DIFFER = "End the service with `weir down`, then start it again with `weir up`."


def output_failed(reason: str) -> str:
    """Say that standard output could not be written."""
    return f"The output could not be written: {reason}."


def code_line(info: ErrorInfo) -> str:
    """Name the stable code of an error."""
    return f"code: {info.code}"


# Questions


def ask_consent(message: str, download: str | None, disk: str | None) -> str:
    """Ask for a large step; sizes that the message does not name itself are added."""
    sizes = [f"{download} to download"] if download and download not in message else []
    sizes += [f"{disk} on disk"] if disk and disk not in message else []
    return " ".join([message, *([", ".join(sizes) + "."] if sizes else []), "Go on? [y/N] "])


def ask_port(port: str, owner: str | None, free_port: int) -> str:
    """Offer the next free port."""
    holder = owner or "another program"
    return f"Port {port} is taken by {holder}. Use {free_port} from now on? [Y/n] "


YES_WORDS = ("y", "yes")
NO_WORDS = ("n", "no")

# weir up

STARTING_SERVICE = "Starting the service."
WARNING = "Warning: {text}"
STAGES: dict[Stage, str] = {
    Stage.DETECT: "Look at this machine",
    Stage.RUNTIME: "Runtime",
    Stage.MODEL: "Model",
    Stage.BOOT: "Engine",
    Stage.GATEWAY: "Gateway",
}
STAGE_STATES: dict[StageState, str] = {
    StageState.RUNNING: "",
    StageState.DONE: "done",
    StageState.SKIPPED: "ready before",
    StageState.FAILED: "failed",
}
LABEL_BASE_URL = "Base URL"
LABEL_API_KEY = "API key"
LABEL_MODEL = "Model name"
LABEL_POOL = "Pool"
LABEL_RUNTIME = "Runtime"
KEY_SHOWN_ONCE = "Shown this once only. Make another: weir keys create NAME"
KEY_KNOWN = "The one you have. Make another: weir keys create NAME"
KEY_PLACEHOLDER = "YOUR-API-KEY"
WITH_CURL = "Try it with curl:"
WITH_PYTHON = "Or from Python (pip install openai):"
SAMPLE_QUESTION = "What is the capital of France?"
KEEPS_RUNNING = "It keeps running. `weir status` shows it, `weir down` ends it."
STOP_WITH_CTRL_C = "Ctrl+C stops what this command started."
LEAVE_WITH_CTRL_C = "Ctrl+C leaves; it keeps running."
STOPPING_ALL = "Stopping the engine and the service. Ctrl+C again leaves at once."
STOPPING_ENGINE = "Stopping the engine. Ctrl+C again leaves at once."
STOPPED_ALL = "Stopped: engine and service."
STOPPED_ENGINE = (
    "Stopped: the engine. The service ran before and keeps running; `weir down` ends it."
)
LEAVES_OPERATION = "The service goes on with it: `weir status` shows how far, `weir stop` stops it."


def serves(preset: str, boot: str | None) -> str:
    """Say that a preset was started."""
    return f"{preset} is ready" + (f": first token after {boot}." if boot else ".")


def serves_already(preset: str) -> str:
    """Say that a preset was running before."""
    return f"{preset} is already running."


def left_running(preset: str | None, base_url: str | None) -> str:
    """Say what goes on after leaving."""
    name, place = preset or "The engine", f" at {base_url}" if base_url else ""
    return f"Left running: {name}{place}. `weir down` ends it."


SERVICE_ENDED = "The service has ended."
ENGINE_DIED = "The engine has ended and could not be started again."
HINT_LOGS = "`weir logs` shows its last words."


def service_ended(reason: str) -> str:
    """Say that the service went down while somebody watched."""
    return f"The service has ended: {reason}."


# The live line


def pool_piece(share: str, total: str) -> str:
    """Say how full the pool is."""
    return f"pool {share} of {total}"


def requests_piece(running: str, waiting: str) -> str:
    """Say how many requests run and wait."""
    return f"{running} running, {waiting} waiting"


def prefill_piece(rate: str) -> str:
    """Say how fast prompts are read."""
    return f"prefill {rate}"


def ttft_piece(latency: str) -> str:
    """Say how long the first token takes."""
    return f"TTFT {latency}"


def spill_piece(amount: str) -> str:
    """Say how much lies where it hurts."""
    return f"spill {amount}"


# States

STATES: dict[EngineState, str] = {
    EngineState.STOPPED: "Stopped",
    EngineState.PREPARING: "Preparing",
    EngineState.STARTING: "Starting",
    EngineState.READY: "Ready",
    EngineState.DRAINING: "Finishing open requests",
    EngineState.STOPPING: "Stopping",
    EngineState.FAILED: "Failed",
    EngineState.BACKING_OFF: "Died; starts again soon",
    EngineState.ADOPTED: "Adopted",
    EngineState.GONE: "Adopted, and gone",
}

# weir status

LABEL_ENGINE = "Engine"
LABEL_ADDRESS = "Address"
LABEL_SPEED = "Speed"
LABEL_REQUESTS = "Requests"
LABEL_MEMORY = "Memory"
LABEL_CONTEXT = "Context"
LABEL_KEYS = "Keys"
LABEL_SERVICE = "Service"
LABEL_HOME = "Folder"
LABEL_CARDS = "Cards"
LABEL_ERROR = "Error"
SEE_FIX = "What can be done about it: `weir fix`."
LABEL_NOTE = "Note"
LABEL_DEATH = "Last death"
DEATH_AT = "{at}: {cause}"
LABEL_STAGE = "Stage"
GATEWAY_CLOSED = "closed"


def booted(boot: str) -> str:
    """Say how long the boot took."""
    return f"booted in {boot}"


def decode_piece(rate: str) -> str:
    """Say how fast tokens are generated."""
    return f"decode {rate}"


def answered_piece(total: str) -> str:
    """Say how many requests came since the gateway opened."""
    return f"{total} since start"


def memory_text(engine: str, used: str, total: str) -> str:
    """Say where the host's memory went."""
    return f"engine {engine}; machine {used} of {total}"


def context_text(tokens: str) -> str:
    """Say how long a conversation may be."""
    return f"{tokens} at most for one conversation"


def runtime_text(name: str, runtime_id: str) -> str:
    """Name a runtime and its id."""
    return f"{name} ({runtime_id})"


def keys_text(count: int) -> str:
    """Say how many keys work."""
    return f"{count} in use" if count else "none: make one with `weir keys create NAME`"


def service_text(version: str, pid: int, since: str) -> str:
    """Name the service process."""
    return f"version {version}, process {pid}, running for {since}"


def restarts_piece(count: int) -> str:
    """Say that the engine came back by itself."""
    return f"restarted {count} times" if count > 1 else "restarted once"


# Other commands

ENGINE_STOPPED = "The engine is stopped. `weir down` ends the service too."
NOTHING_RUNS = "Nothing is running."
DOWN_DONE = "Engine and service have ended."
NO_PRESETS = "There is no preset."
PROCESS_HEADINGS = ("PID", "PARENT", "ROLE", "MEMORY", "CPU", "RUNNING", "COMMAND")
LICENCE = "licence {licence}"
LICENCE_NOT_KNOWN = "not known"
FITS = "fits"
FITS_NOT = "does not fit"
NOTHING_TO_DOWNLOAD = "all here"


def to_download(amount: str) -> str:
    """Say what is still to fetch."""
    return f"{amount} to download"


def of_total(done: str, total: str) -> str:
    """Say how far something is."""
    return f"{done} of {total}"


def counted(count: str, unit: str) -> str:
    """Name a count with its unit."""
    return f"{count} {unit}"


def per_second(rate: str) -> str:
    """Make a rate of an amount."""
    return f"{rate}/s"
