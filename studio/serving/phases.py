"""Log lines of a vLLM engine → boot phases, progress and facts. Pure.

Reads vLLM's own lines by their message alone: process tags, times and source positions differ from
version to version and are cut off first. A message must stand at the beginning of its line, so a
prompt that somebody logs cannot pass for one. Knows 0.26 to 0.32, CUDA and CPU, with the
series of HyperQwen and 1Cat.
"""

import dataclasses
import re
from collections.abc import Callable, Mapping

from studio.domain.server import BootPhase
from studio.serving import ledger
from studio.serving.log_text import split_header

Facts = Mapping[str, int | float | str]

ORDER: tuple[BootPhase, ...] = tuple(BootPhase)
"""The phases in the order of a boot."""

_RANK = {phase: rank for rank, phase in enumerate(ORDER)}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Sign:
    """What one line says about the boot.

    `phase` is under way from this line on (`FIRST_TOKEN`: the server is up, a token is awaited);
    `share` is the progress of the pass that the line belongs to, 0 to 1 (graph capture makes two
    passes). Facts, a later one replaces an earlier one: `engine_version`, `max_model_len`,
    `checkpoint_gib`, `weights_s`, `weights_gib`, `compile_s`, `kv_gib`, `pool_tokens`,
    `max_concurrency`, `graphs_s`, `graphs_gib`, `init_s`, `startup_complete`, `is_eager` (nothing
    is compiled), `compiled` (something was, which a later boot finds ready), `saved` (what was made
    of it), `cache_loaded` (something was found ready), `cache_off` (nothing is kept),
    `compile_cache` (where), `loads_drafter`. A patched engine also prints a ledger, whose facts
    (ledger.py) are exact and in bytes.
    """

    phase: BootPhase | None = None
    share: float | None = None
    facts: Facts = dataclasses.field(default_factory=dict)
    is_ledger: bool = False


class Known:
    """The facts of one boot so far; what a ledger says wins over prose, earlier or later."""

    def __init__(self) -> None:
        self._prose: dict[str, int | float | str] = {}
        self._ledger: dict[str, int | float | str] = {}

    def learn(self, sign: Sign) -> None:
        """Take up what a line said."""
        (self._ledger if sign.is_ledger else self._prose).update(sign.facts)

    @property
    def facts(self) -> Facts:
        """Return all that is known."""
        return {**self._prose, **self._ledger}

    def whole(self, name: str) -> int | None:
        """Return a fact that is a whole number, or None."""
        value = self.facts.get(name)
        return value if isinstance(value, int) else None


def is_cold(facts: Facts) -> bool | None:
    """Return whether a boot compiled what later ones find ready; None when it does not say.

    One kernel made anew is enough: an engine whose cache is half stale loads one part and compiles
    the other, which takes as long.
    """
    if facts.get("compiled") or facts.get("cache_off"):
        return True
    if facts.get("cache_loaded"):
        return False
    return True if facts.get("saved") else None


class Reader:
    """Reads the lines of one boot in their order, for what a line means by those before it.

    Graphs are captured twice: before the pool is made, to see what they take (part of the profile),
    and after it. What follows the weights is a compilation, unless the engine runs eagerly.
    """

    def __init__(self) -> None:
        self._is_eager = False
        self._has_pool = False

    def read(self, line: str) -> Sign | None:
        """Return what `line` says about the boot, or None."""
        sign = read(line)
        if sign is None:
            return None
        facts = sign.facts
        self._is_eager = self._is_eager or bool(facts.get("is_eager"))
        self._has_pool = self._has_pool or "pool_tokens" in facts
        if not self._has_pool and sign.phase in (BootPhase.GRAPHS, BootPhase.WARM_UP):
            return dataclasses.replace(sign, phase=BootPhase.PROFILE)
        if "weights_gib" in facts and not self._has_pool:
            after = BootPhase.PROFILE if self._is_eager else BootPhase.COMPILE
            return dataclasses.replace(sign, phase=after)
        return sign


def is_later(phase: BootPhase, than: BootPhase | None) -> bool:
    """Return whether `phase` comes after `than`.

    Workers of a tensor-parallel engine speak out of step, so a reader keeps the latest phase.
    """
    return than is None or _RANK[phase] > _RANK[than]


def read(line: str) -> Sign | None:
    """Return what `line` says about the boot, or None."""
    if ledger.PREFIX in line:
        facts = ledger.facts(split_header(line)[1])
        return None if facts is None else Sign(facts=facts, is_ledger=True)
    for needle, rules in _GATE:
        if needle in line:
            message = _TAG.sub("", split_header(line)[1], count=1)
            for rule in rules:
                match = rule.pattern.match(message)
                if match is not None:
                    return rule.sign(match)
    return None


Value = Callable[[str], int | float | str]


def _whole(text: str) -> int:
    return int(text.replace(",", ""))


_READERS: Mapping[str, Value] = {
    "engine_version": str,
    "compile_cache": str,
    "max_model_len": _whole,
    "pool_tokens": _whole,
}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Rule:
    needle: str
    pattern: re.Pattern[str]
    phase: BootPhase | None
    flag: str | None = None
    """A fact that the line alone states."""

    def sign(self, match: re.Match[str]) -> Sign:
        facts: dict[str, int | float | str] = {}
        share = None
        found = match.groupdict()
        done, total = found.pop("done", None), found.pop("total", None)
        percent = found.pop("percent", None)
        if done is not None and total is not None:
            share = min(1.0, int(done) / int(total)) if int(total) > 0 else None
        elif percent is not None:
            share = min(1.0, int(percent) / 100)
        for name, text in found.items():
            if text is not None:
                facts[name] = _READERS.get(name, float)(text)
        if self.flag is not None:
            facts[self.flag] = 1
        return Sign(phase=self.phase, share=share, facts=facts)


def _rule(phase: BootPhase | None, needle: str, pattern: str, flag: str | None = None) -> _Rule:
    return _Rule(needle=needle, pattern=re.compile(pattern), phase=phase, flag=flag)


_TAG = re.compile(r"^\[(?!shutdown)[a-z_]{1,40}\] ")
"""Which part of the model is compiled: `[backbone]`, `[eagle_head]`."""
_NUMBER = r"\d+(?:\.\d+)?"
_ART = r"[ █▀▄]+"

_RULES = (
    _rule(BootPhase.CONFIG, "version ", rf"{_ART}version (?P<engine_version>\d+\.\d+\S*)\s*$"),
    _rule(BootPhase.CONFIG, "non-default args", r"non-default args: \{"),
    # The last word of the API server before it starts the engine's process, which stays silent
    # until it has imported everything (15 s on a small machine).
    _rule(
        BootPhase.ENGINE,
        "Using max model len",
        r"Using max model len (?P<max_model_len>[\d,]+)\s*$",
    ),
    _rule(
        BootPhase.ENGINE,
        "LLM engine (v",
        r"Initializing a V\d LLM engine \(v(?P<engine_version>[^)\s]+)\)",
    ),
    _rule(None, "Enforce eager set", r"Enforce eager set, disabling torch\.compile", "is_eager"),
    _rule(BootPhase.WEIGHTS, "Starting to load model", r"Starting to load model \S"),
    _rule(BootPhase.WEIGHTS, "Loading model from scratch", r"Loading model from scratch"),
    _rule(
        BootPhase.WEIGHTS,
        "Checkpoint size",
        rf"Filesystem type for checkpoints: .{{1,40}}?\. "
        rf"Checkpoint size: (?P<checkpoint_gib>{_NUMBER}) GiB",
    ),
    # Shards of each loader; the streaming ones count tensors instead.
    _rule(
        BootPhase.WEIGHTS,
        "% Completed |",
        r"(?:Multi-thread l|L)oading [\w ()-]{0,60}?:\s+(?P<percent>\d+)% Completed \|"
        r"(?: (?P<done>\d+)/(?P<total>\d+) )?",
    ),
    _rule(
        BootPhase.WEIGHTS,
        "Loading weights took",
        rf"Loading weights took (?P<weights_s>{_NUMBER}) s",
    ),
    _rule(BootPhase.WEIGHTS, "Loading drafter model", r"Loading drafter model", "loads_drafter"),
    _rule(
        BootPhase.WEIGHTS,
        "Model loading took",
        rf"Model loading took (?P<weights_gib>{_NUMBER}) GiB(?: memory)? and {_NUMBER} s",
    ),
    _rule(
        BootPhase.COMPILE,
        "for the compilation",
        r"Warming up model for the compilation",
    ),
    _rule(BootPhase.COMPILE, "Starting torch.compile", r"Starting torch\.compile"),
    _rule(
        BootPhase.COMPILE,
        "cache is disabled",
        r"(?:vLLM's )?torch\.compile cache is disabled",
        "cache_off",
    ),
    _rule(
        BootPhase.COMPILE,
        "for vLLM's torch.compile",
        r"Using cache directory: (?P<compile_cache>\S.*?) for vLLM's torch\.compile",
    ),
    _rule(BootPhase.COMPILE, "Dynamo bytecode", rf"Dynamo bytecode transform time: {_NUMBER} s"),
    _rule(
        BootPhase.COMPILE,
        "for compile range",
        r"Compiling a graph for compile range",
        "compiled",
    ),
    _rule(
        BootPhase.COMPILE,
        "graph of compile range",
        r"Cache the graph of compile range",
        "compiled",
    ),
    _rule(
        BootPhase.COMPILE,
        "Directly load the compiled",
        r"Directly load the compiled graph(?:\(s\))? for (?:compile range|shape|dynamic shape)",
        "cache_loaded",
    ),
    _rule(
        BootPhase.COMPILE,
        "AOT compiled",
        r"[Ss]aved AOT compiled function to (?P<compile_cache>\S.*?)\s*$",
        "saved",
    ),
    _rule(
        BootPhase.COMPILE,
        "AOT compilation from",
        r"Directly load AOT compilation from path (?P<compile_cache>\S.*?)\s*$",
        "cache_loaded",
    ),
    _rule(
        BootPhase.COMPILE,
        "due to a load failure",
        r"Compiling model again due to a load failure from \S",
        "compiled",
    ),
    # What comes after it is the trial run at full load.
    _rule(
        BootPhase.PROFILE,
        "torch.compile took",
        rf"torch\.compile (?:took|and initial profiling/warmup run together took) "
        rf"(?P<compile_s>{_NUMBER}) s",
    ),
    _rule(
        BootPhase.PROFILE,
        "torch.compile takes",
        rf"torch\.compile takes (?P<compile_s>{_NUMBER}) s",
    ),
    _rule(
        BootPhase.PROFILE,
        "profiling/warmup run took",
        rf"Initial profiling/warmup run took {_NUMBER} s",
    ),
    _rule(BootPhase.PROFILE, "Memory profiling takes", rf"Memory profiling takes {_NUMBER} s"),
    _rule(BootPhase.PROFILE, "graph memory", r"Profiling CUDA graph memory: "),
    _rule(BootPhase.PROFILE, "Estimated CUDA graph", r"Estimated CUDA graph memory: "),
    _rule(
        BootPhase.KV_CACHE,
        "Available KV cache memory",
        rf"Available KV cache memory: (?P<kv_gib>-?{_NUMBER}) GiB",
    ),
    _rule(
        BootPhase.KV_CACHE,
        "GiB for KV cache on node",
        rf"(?:Explicitly|Auto) set \((?P<kv_gib>{_NUMBER})/{_NUMBER}\) GiB for KV cache on node",
    ),
    _rule(
        BootPhase.KV_CACHE,
        "memory for KV Cache",
        rf"Initial free memory {_NUMBER} GiB, reserved (?P<kv_gib>{_NUMBER}) GiB memory for KV C",
    ),
    _rule(
        BootPhase.KV_CACHE,
        "KV cache size: ",
        rf"(?:GPU |CPU |XPU |TPU )?KV cache size: (?P<pool_tokens>[\d,]+) tokens"
        rf"(?:, Maximum concurrency for (?P<max_model_len>[\d,]+) tokens per request: "
        rf"(?P<max_concurrency>{_NUMBER})x)?",
    ),
    _rule(
        BootPhase.KV_CACHE,
        "Maximum concurrency for",
        rf"Maximum concurrency for (?P<max_model_len>[\d,]+) tokens per request: "
        rf"(?P<max_concurrency>{_NUMBER})x",
    ),
    _rule(
        BootPhase.GRAPHS,
        "Capturing ",
        r"Capturing (?:prefill |decode )?(?:CUDA|cudagraph|ACL|XPU)[^:]{0,60}:\s+\d+%\|[^|]*\| "
        r"(?P<done>\d+)/(?P<total>\d+)",
    ),
    _rule(
        BootPhase.WARM_UP,
        "raph capturing finished",
        rf"Graph capturing finished in (?P<graphs_s>{_NUMBER}) secs?, "
        rf"took (?P<graphs_gib>-?{_NUMBER}) GiB",
    ),
    _rule(BootPhase.WARM_UP, "JIT monitor activated", r"Kernel JIT monitor activated"),
    _rule(
        BootPhase.SERVER,
        "init engine (",
        rf"init engine \([^)]*\) took (?P<init_s>{_NUMBER}) s"
        rf"(?:\w* \(compilation: (?P<compile_s>{_NUMBER}) s)?",
    ),
    _rule(BootPhase.SERVER, "Supported tasks: ", r"Supported(?:_| )tasks: \["),
    _rule(BootPhase.SERVER, "vLLM server on ", r"Starting vLLM (?:API )?server(?: \d+)? on \S"),
    _rule(
        BootPhase.FIRST_TOKEN,
        "startup complete",
        r"Application startup complete\.\s*$",
        "startup_complete",
    ),
    # Where uvicorn's own words are missing, these say the same.
    _rule(BootPhase.FIRST_TOKEN, "Uvicorn running", r"Uvicorn running on \S", "startup_complete"),
)

_GATE = tuple(
    (needle, tuple(rule for rule in _RULES if rule.needle == needle))
    for needle in dict.fromkeys(rule.needle for rule in _RULES)
)
"""Plain substrings first: they turn away nearly every line at about 50 ns each."""
