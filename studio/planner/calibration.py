"""What this machine's own boots were seen to hold, and what that says of the next one. Pure.

A boot is kept for each runtime id, preset and set of cards. The next forecast of the same settings
is what was seen; of other settings, what was seen, moved by what the change itself comes to.
"""

import json
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from studio.domain.hardware import Gpu
from studio.domain.manifests import KnobValue
from studio.domain.units import GIB

MOST_BOOTS = 128
"""The oldest are dropped: a person has a handful of presets and cards."""
ERROR_SHARE = 0.01
"""Of the KV bytes, when the same settings were seen on the same cards: kernels and allocator move
by so much from boot to boot."""
NO_CARD = "cpu"

SHAPING = (
    "gpu_memory_utilization", "kv_cache_memory_bytes", "max_num_batched_tokens", "max_num_seqs",
    "max_model_len", "kv_cache_dtype", "tensor_parallel_size", "draft_tokens", "speculative_config",
    "enforce_eager", "dtype", "quantization", "vision", "embed_uva", "int8_act", "prefill_attn",
    "spec_decode_attn", "language_model_only", "compilation_config", "enable_prefix_caching",
    "vision_cpu_offload_gb", "marlin_input_dtype", "kvarn_pool_mem_frac", "block_size",
    "mamba_ssm_cache_dtype", "mamba_cache_mode", "async_scheduling",
)  # fmt: skip
"""Settings that change what a boot holds; two boots that agree in these are of a kind."""


_LOADED = frozenset(
    {
        "dtype", "quantization", "tensor_parallel_size", "draft_tokens", "speculative_config",
        "vision", "vision_cpu_offload_gb", "language_model_only", "embed_uva", "int8_act",
        "marlin_input_dtype",
    }
)  # fmt: skip
"""Settings that decide which weights lie on a card, and in what form."""
_SHARED = frozenset({"tensor_parallel_size"})
"""Settings that decide what driver and libraries hold: cards that talk hold more."""
_POOL_ONLY = frozenset(
    {"gpu_memory_utilization", "kv_cache_memory_bytes", "enable_prefix_caching", "mamba_cache_mode"}
)
"""Settings that change the pool and nothing beside it."""


class Boot(msgspec.Struct, frozen=True, kw_only=True):
    """One boot that served; bytes are for each card, None where the engine did not say."""

    runtime_id: str
    preset: str
    cards: str
    """As `cards_key` writes them."""
    at: str
    """ISO 8601."""
    is_cold: bool
    """The first of its kind here: kernels were compiled."""
    boot_s: float | None = None
    settings: dict[str, KnobValue] = {}
    """Those of `SHAPING`."""
    card_bytes: int | None = None
    """Total of the smallest card."""
    weights_bytes: int | None = None
    activation_peak_bytes: int | None = None
    non_torch_bytes: int | None = None
    graph_pool_bytes: int | None = None
    kv_bytes: int | None = None
    kv_error_bytes: int | None = None
    """How far `kv_bytes` may be off, where the log rounds it."""
    pool_tokens: int | None = None


class Calibration(msgspec.Struct, frozen=True, kw_only=True):
    """`calibration.json` of the Studio's folder."""

    schema_version: int = 1
    boots: tuple[Boot, ...] = ()
    """Oldest first."""
    download_bytes_per_s: float | None = None
    """Of the last large download."""
    lines: dict[str, int] = {}
    """Card (UUID) to the bytes that it takes before anything spills, as measured here."""


def names_of(cards: Iterable[Gpu]) -> tuple[str, ...]:
    """Return the cards' own ids; a card that has none goes by name and number."""
    return tuple(card.uuid or f"{card.name} {card.index}" for card in cards)


def cards_key(uuids: Sequence[str]) -> str:
    """Return the key of a set of cards."""
    return "+".join(sorted(uuids)) or NO_CARD


def shaping(settings: Mapping[str, object]) -> dict[str, KnobValue]:
    """Return the part of `settings` that decides what a boot holds."""
    return {name: _kept(settings[name]) for name in SHAPING if settings.get(name) is not None}


def _kept(value: object) -> KnobValue:
    """Return a value as a document keeps it; what is structured as its JSON."""
    if isinstance(value, bool | int | float | str):
        return value
    return json.dumps(value, sort_keys=True, default=str)


def observed(
    facts: Mapping[str, int | float | str],
    *,
    runtime_id: str,
    preset: str,
    cards: Sequence[str],
    settings: Mapping[str, object],
    is_cold: bool,
    boot_s: float | None,
    card_bytes: int | None,
    at: str,
) -> Boot:
    """Return the boot that an engine's log tells of.

    `facts` are those of serving/phases.py: exact bytes, summed over the workers, when the engine
    prints its ledger; else GiB with two decimals, of one worker.
    """
    ranks = max(1, len(cards))

    def exact(name: str) -> int | None:
        value = facts.get(name)
        return round(value / ranks) if isinstance(value, int | float) else None

    kv_bytes, error = exact("kv_bytes"), 0
    if kv_bytes is None:
        kv_bytes, error = _gib(facts, "kv_gib"), round(0.005 * GIB)
    tokens = facts.get("pool_tokens")
    return Boot(
        runtime_id=runtime_id,
        preset=preset,
        cards=cards_key(cards),
        at=at,
        is_cold=is_cold,
        boot_s=boot_s,
        settings=shaping(settings),
        card_bytes=card_bytes,
        weights_bytes=exact("weights_bytes") or _gib(facts, "weights_gib"),
        activation_peak_bytes=exact("activation_peak_bytes"),
        non_torch_bytes=exact("non_torch_bytes"),
        graph_pool_bytes=exact("graph_pool_bytes") or _gib(facts, "graphs_gib"),
        kv_bytes=kv_bytes,
        kv_error_bytes=error if kv_bytes is not None else None,
        pool_tokens=tokens if isinstance(tokens, int) else None,
    )


def _gib(facts: Mapping[str, int | float | str], name: str) -> int | None:
    value = facts.get(name)
    return round(value * GIB) if isinstance(value, int | float) else None


def with_boot(known: Calibration, boot: Boot) -> Calibration:
    """Return `known` with `boot`, which replaces the last one of its kind and temperature."""
    kept = [one for one in known.boots if not (_alike(one, boot) and one.is_cold == boot.is_cold)]
    return msgspec.structs.replace(known, boots=(*kept, boot)[-MOST_BOOTS:])


def _alike(one: Boot, other: Boot) -> bool:
    return _same_place(one, other.runtime_id, other.preset, other.cards) and (
        one.settings == other.settings
    )


def _same_place(one: Boot, runtime_id: str, preset: str, cards: str) -> bool:
    return (one.runtime_id, one.preset, one.cards) == (runtime_id, preset, cards)


class Match(msgspec.Struct, frozen=True, kw_only=True):
    """What was seen that bears on a plan."""

    boot: Boot
    is_same: bool
    """Whether all settings that count were the same."""
    changed: tuple[str, ...] = ()

    def known(self) -> dict[str, int]:
        """Return the ledger's items that the boot was seen to hold and that nothing changed since.

        What a changed setting bears on is left out: it has to be forecast anew.
        """
        boot, changed = self.boot, frozenset(self.changed)
        is_step_same = changed <= _POOL_ONLY
        seen = {
            "weights": None if changed & _LOADED else boot.weights_bytes,
            "non-torch": None if changed & _SHARED else boot.non_torch_bytes,
            "activation-peak": boot.activation_peak_bytes if is_step_same else None,
            "graphs": boot.graph_pool_bytes if is_step_same else None,
        }
        return {name: size for name, size in seen.items() if size is not None}

    @property
    def source(self) -> str:
        """Return where its figures come from, in words."""
        others = "" if self.is_same else ", with other settings"
        return f"as seen here on {self.boot.at[:10]}{others}"


def is_first(
    known: Calibration,
    *,
    runtime_id: str,
    preset: str,
    cards: Sequence[str],
    settings: Mapping[str, object],
) -> bool:
    """Tell whether nothing of this kind has booted here yet, so that kernels will be compiled."""
    found = match(known, runtime_id=runtime_id, preset=preset, cards=cards, settings=settings)
    return found is None or not found.is_same


def match(
    known: Calibration,
    *,
    runtime_id: str | None,
    preset: str | None,
    cards: Sequence[str],
    settings: Mapping[str, object],
) -> Match | None:
    """Return the boot of this runtime, preset and cards that is nearest to `settings`.

    A warm one goes before a cold one, a newer one before an older one.
    """
    if runtime_id is None or preset is None:
        return None
    wanted, key = shaping(settings), cards_key(cards)
    best: tuple[tuple[int, bool, int], Match] | None = None
    for age, boot in enumerate(reversed(known.boots)):
        if not _same_place(boot, runtime_id, preset, key):
            continue
        names = {*wanted, *boot.settings}
        changed = tuple(sorted(n for n in names if wanted.get(n) != boot.settings.get(n)))
        rank = (len(changed), boot.is_cold, age)
        if best is None or rank < best[0]:
            best = rank, Match(boot=boot, is_same=not changed, changed=changed)
    return best[1] if best is not None else None


class BootTimes(msgspec.Struct, frozen=True, kw_only=True):
    """How long a boot takes, as seen here."""

    cold_s: float | None = None
    warm_s: float | None = None


def boot_times(
    known: Calibration, *, runtime_id: str | None, preset: str | None, cards: Sequence[str]
) -> BootTimes:
    """Return the newest cold and warm boot of this runtime, preset and cards."""
    cold = warm = None
    if runtime_id is not None and preset is not None:
        for boot in known.boots:
            if _same_place(boot, runtime_id, preset, cards_key(cards)) and boot.boot_s is not None:
                cold = boot.boot_s if boot.is_cold else cold
                warm = warm if boot.is_cold else boot.boot_s
    return BootTimes(cold_s=cold, warm_s=warm)
