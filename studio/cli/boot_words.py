"""The sentences of `weir boots` and of pins. Those with braces are filled with `format`."""

from studio.domain.server import BootPhase

ABOUT = "List the boots of this machine: cold or warm, time per phase, pool, why it differs."
HELP_PRESET = "Only the boots of this preset."
HELP_LINES = "How many of the newest boots to show (default: 20)."

NONE = "Nothing has booted here yet."
NONE_OF = "`{preset}` has not booted here yet."
COLD = "cold"
WARM = "warm"
GUESSED = "{word}, a guess"
UNKNOWN_TEMPERATURE = "cold or warm: not known"
SERVED = "ready after {time}"
FORECAST = "forecast {time}"
FAILED = "failed: {code}"
FAILED_UNKNOWN = "failed"
STOPPED = "stopped before it was ready"
POOL = "pool {tokens}"
TRIES = {
    "warm": "second try, warm",
    "without-graph-estimate": "third try, without the graph estimate",
    "restart": "restart after a death",
}
PHASE = "{phase} {time}"

PHASES: dict[BootPhase, str] = {
    BootPhase.INTERPRETER: "loading Python",
    BootPhase.CONFIG: "reading the configuration",
    BootPhase.ENGINE: "starting the engine core",
    BootPhase.WEIGHTS: "loading weights",
    BootPhase.COMPILE: "compiling",
    BootPhase.PROFILE: "measuring memory",
    BootPhase.KV_CACHE: "sizing the KV cache",
    BootPhase.GRAPHS: "capturing graphs",
    BootPhase.WARM_UP: "warming up",
    BootPhase.SERVER: "opening the server",
    BootPhase.FIRST_TOKEN: "waiting for the first token",
}

FORECAST_PASSED = "{elapsed} of about {expected}"
BOOTED = "booted {temperature}in {time}"
TEMPERATURE = {True: "cold ", False: "warm ", None: ""}
LABEL_TRIES = "Tried"
LABEL_POOL_NOTE = "Pool change"
LABEL_OFFER = "Offer"

PRESET_COMMANDS = {
    "pin": "Keep the pool of a preset's last warm boot, to the byte, from its next start on.",
    "unpin": "Leave the size of a preset's pool to the engine again.",
}
