"""The sentences of `weir plan`, and nothing else."""

from studio.domain.plans import LedgerPlace

HELP_PRESET = "What to plan. Left out: what ran last, else the best fit."
HELP_MODEL = "Plan any model instead of a preset: its folder, or its config.json."
HELP_DRAFTER = "With --model: the folder of a draft model."
HELP_ENGINE = "With --model: the engine, `vllm-0.32.0`, or the name of a runtime."
HELP_SET = "Change one setting; with --model, any of the engine's own. May be given again."
HELP_ALLOW_SPILL = "Cross the line of dedicated memory all the same, this once (WSL2, Windows)."
HELP_RATE = "Speed of your line in MB/s, for the time that a download takes."

HELP_FOLDER = "The model's folder, with config.json, weights and tokenizer; it is never written to."
HELP_ID = "What to call the preset. Left out: made from the folder's name."
HELP_RUNTIME = "Which runtime serves it. Left out: the best one for this machine."
HELP_REPLACE = "Overwrite a preset of your own with that name."

UNNAMED = "The model"
LEDGER_CARD = "On the card"
LEDGER_ONE = "On card {index}"
LEDGER_CARDS = "On each of {count} cards"
PLACES: dict[LedgerPlace, str] = {
    LedgerPlace.MEMORY: "In memory",
    LedgerPlace.SHM: "In shared memory",
    LedgerPlace.DISK: "On the disk",
}
HEADINGS = ("", "SIZE", "+/-", "FROM")
HEADING_REDUCTIONS_ENOUGH = "It fits when you give up, in this order:"
HEADING_REDUCTIONS_NOT = "What could be given up; it is not enough:"
HEADING_REDUCTIONS_OPEN = "It does not fit without these; whether they are enough is not known:"
HEADING_REASONS = "Why"
HEADING_UNKNOWN = "What is not known"
HEADING_WARNINGS = "Look at this"
HEADING_ASSUMPTIONS = "Taken for granted"
HEADING_HEADROOM = "What was left of a card, and what became of the engine"
HEADROOM_HERE = "here"
OUTCOMES = {"runs": "runs", "dies": "died", "spills": "spilled"}

KINDS = {
    "full": "attention",
    "sliding": "sliding",
    "chunked": "chunked",
    "mla": "latent attention",
    "cross": "cross-attention",
    "linear": "recurrent",
}
LABEL_MODEL = "Model"
LABEL_DRAFTER = "Drafter"
LABEL_RUNTIME = "Runtime"
LABEL_HOST = "Host"
LABEL_CARDS = "Cards"
LABEL_POOL = "Pool"
LABEL_REQUEST = "A request"
LABEL_CONTEXT = "Context"
LABEL_SEATS = "Seats"
LABEL_HEADROOM = "Left over"
LABEL_FILES = "Files"
LABEL_DOWNLOAD = "Download"
LABEL_DISK = "Disk"
LABEL_BOOT = "Boot"

EXACT = "exact"
ERROR_UNKNOWN = "not known how far off"
NOTHING_TO_DOWNLOAD = "nothing, all is here"
RATE_UNKNOWN = "how long is not known yet"
REPLAY = "a machine from a file, not this one"


def fits(name: str, pool: str | None) -> str:
    """Return the verdict for what fits."""
    return f"{name} fits: {pool}." if pool else f"{name} fits."


def fits_by_spilling(name: str, over: str, pool: str | None) -> str:
    """Return the verdict for what starts, as was allowed, and is slow then."""
    head = f"{name} starts, but {over} spill into the machine's memory, which makes it slow"
    return f"{head}: {pool}." if pool else f"{head}."


def fits_if(name: str, titles: list[str]) -> str:
    """Return the verdict for what fits with reductions."""
    first = titles[0][:1].lower() + titles[0][1:]
    more = len(titles) - 1
    rest = "" if not more else f", and {more} more thing{'s' if more > 1 else ''} below"
    return f"{name} fits if you give something up: {first}{rest}."


def may_start(name: str, titles: list[str]) -> str:
    """Return the verdict for what lacks so little that the forecast cannot be sure."""
    head = f"{name} may not start: its pool is too small for one request, by less than the forecast"
    sure = fits_if("It", titles).removesuffix(".") if titles else ""
    return f"{head} is sure of. {sure}." if sure else f"{head} is sure of."


def fits_not(name: str, reason: str | None) -> str:
    """Return the verdict for what does not fit."""
    return f"{name} does not fit: {reason}" if reason else f"{name} does not fit."


def not_known(name: str, reason: str | None, pool: str | None) -> str:
    """Return the verdict where facts are missing."""
    head = f"Whether {name} fits is not known"
    head += f": {reason}" if reason else "."
    return f"{head} The arithmetic: {pool}." if pool else head


def pool_words(tokens: str, error: str | None, resident: str | None, context: str | None) -> str:
    """Return the pool in words: its size, how sure that is, and what it means."""
    text = f"the pool holds {tokens}"
    text += f" ({error})" if error else ""
    if resident and context:
        text += f", {resident} requests of {context} at a time"
    return text


def error_words(tokens: str) -> str:
    """Return an error bar."""
    return f"give or take {tokens}"


def block_words(blocks: str, size: str, each: str) -> str:
    """Return how the pool is cut."""
    return f"{blocks} blocks of {size}; one request of full length takes {each}"


def part_words(blocks: str, kind: str, layers: str) -> str:
    """Return what some blocks of a request are for."""
    return f"{blocks} blocks for {layers} {KINDS.get(kind, kind)} layers"


def context_words(now: str, longest: str | None) -> str:
    """Return the context and how far it could go."""
    return f"{now}; up to {longest} would start" if longest else now


def seats_words(seats: str, resident: str | None) -> str:
    """Return admitted seats beside resident requests."""
    if resident is None:
        return f"{seats} admitted"
    return f"{seats} admitted; {resident} of full length are in the pool at a time"


def boot_words(cold: str | None, warm: str | None, source: str | None) -> str:
    """Return how long a boot takes."""
    pieces = [f"first {cold}" if cold else "", f"later ones {warm}" if warm else ""]
    text = ", ".join(piece for piece in pieces if piece)
    return f"{text} ({source})" if source else text


def download_words(size: str, duration: str | None) -> str:
    """Return a download and its time."""
    return f"{size}, about {duration}" if duration else f"{size}; {RATE_UNKNOWN}"


def try_words(command: str) -> str:
    """Return the command that applies all reductions."""
    return f"All of it: `{command}`"


def made(preset: str, path: str) -> str:
    """Return that a preset was made."""
    return f"`{preset}` is made: {path}. Start it with `weir up {preset}`."


def not_a_rate(text: str) -> str:
    """Return what is wrong with a speed."""
    return f"`{text}` is no number of MB/s above 0"
