"""What is known of a boot before it begins: its place, its card, its weights, what others say."""

import dataclasses
from collections.abc import Iterable, Mapping
from pathlib import Path

from studio.app.pin_overrides import PINNED
from studio.app.up import Choice
from studio.domain.hardware import Gpu
from studio.domain.manifests import Expected, KnobValue
from studio.domain.plans import Plan
from studio.planner import calibration
from studio.presets import resolve
from studio.serving.boots import TIMING, Place
from studio.serving.command import Launch

ESTIMATE = "VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS"
"""vLLM 0.21 to 0.32: `0` leaves what CUDA graphs will take out of the trial run's account
(v1/worker/gpu_worker.py). It is part of the key of what is compiled."""
OFF = "0"
_WEIGHTS = ("*.safetensors", "*.gguf", "*.bin", "*.pt")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """One start."""

    place: Place
    runtime: str
    settings: Mapping[str, KnobValue]
    """Those that decide what a boot holds."""
    can_pin: bool
    """It has cards, its pool is not pinned, and its preset has the knob for it."""
    is_pinned: bool
    uses_cards: bool
    without_graph_estimate: bool = False
    """The engine is told to set nothing aside for CUDA graphs."""
    card_names: tuple[str, ...] = ()
    card_bytes: int | None = None
    held_bytes: int | None = None
    driver: str | None = None
    checkpoint_bytes: int | None = None
    drafter_bytes: int | None = None
    cache: str
    """Where the engine keeps what later boots find ready."""
    plan: Plan | None = None
    knows_times: bool = True
    """The plan's boot times are of boots that do the same things."""
    expected: tuple[Expected, ...] = ()
    asked: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """The overrides without a pin of the pool."""

    def published_s(self, *, is_cold: bool) -> float | None:
        """Return how long a boot takes as the planner knows it, else as the preset says."""
        planned = None
        if self.plan is not None and self.knows_times:
            planned = self.plan.boot_cold_s if is_cold else self.plan.boot_warm_s
        both = [one for one in self.expected if one.boot_warm_s is not None]
        said = [one.boot_s if is_cold else one.boot_warm_s for one in both]
        return planned if planned is not None else next(iter(said), None)

    @property
    def rough_s(self) -> float | None:
        """How long a boot takes as the preset says, without saying of which kind of boot."""
        return next((one.boot_s for one in self.expected if one.boot_s is not None), None)


def about(
    launch: Launch, choice: Choice, models: Iterable[Path], plan: Plan | None, cache: Path
) -> About:
    """Return what is known of a boot; looks at the weights' files.

    `cache` is the folder of an engine that names none of its own.
    """
    resolved = resolve.resolve(choice.preset, choice.facts, choice.overrides)
    used = set(choice.facts.gpus)
    cards = tuple(card for card in choice.host.gpus if card.index in used)
    names = calibration.names_of(cards)
    settings = calibration.shaping(resolved.settings)
    plain = calibration.shaping(resolve.resolve(choice.preset, choice.facts).settings)
    # What others published is of the preset as it is: an engine that was told to compile, or not
    # to, takes another time.
    is_plain = all(settings.get(name) == plain.get(name) for name in TIMING)
    is_pinned = resolved.settings.get(PINNED) is not None
    sizes = [card.usable_bytes for card in cards if card.usable_bytes is not None]
    folders = list(models)
    return About(
        place=Place(
            preset=choice.preset.id,
            runtime_id=launch.runtime_id,
            cards=calibration.cards_key(names),
            settings=settings,
        ),
        runtime=launch.runtime,
        settings=settings,
        can_pin=bool(cards) and not is_pinned and PINNED in choice.preset.knobs,
        is_pinned=is_pinned,
        uses_cards=bool(cards),
        without_graph_estimate=launch.environment.get(ESTIMATE) == OFF,
        card_names=names,
        card_bytes=min(sizes, default=None),
        held_bytes=_held(cards),
        driver=choice.host.driver if cards else None,
        checkpoint_bytes=weights_in(folders[0]) if folders else None,
        drafter_bytes=weights_in(folders[1]) if len(folders) > 1 else None,
        cache=launch.environment.get("VLLM_CACHE_ROOT") or str(cache),
        plan=plan,
        knows_times=is_plain,
        expected=choice.preset.expected if is_plain else (),
        asked=dict(choice.asked),
    )


def weights_in(folder: Path) -> int | None:
    """Return the size of a model's weights; None when there are none to be seen."""
    for pattern in _WEIGHTS:
        try:
            sizes = [path.stat().st_size for path in folder.glob(pattern)]
        except OSError:
            return None
        if sizes:
            return sum(sizes)
    return None


def _held(cards: Iterable[Gpu]) -> int | None:
    """Return what is taken of the fullest card."""
    taken = [
        card.total_bytes - card.free_bytes
        for card in cards
        if card.total_bytes is not None and card.free_bytes is not None
    ]
    return max(taken, default=None)
