"""What is known of the engine that runs, for whoever judges it: its preset, settings and cards."""

from collections.abc import Callable, Mapping

from studio.domain.errors import StudioError
from studio.domain.manifests import KnobValue, Preset
from studio.domain.server import EngineSnapshot, EngineState
from studio.serving.command import Launch

_PIN = "kv_cache_memory_bytes"
_RETURNING = frozenset(
    (EngineState.BACKING_OFF, EngineState.PREPARING, EngineState.STARTING, EngineState.FAILED)
)


class RunFacts:
    """One per service; told of each launch and of each second."""

    def __init__(self, preset: Callable[[str], Preset], *, is_wsl: bool) -> None:
        """`preset` looks one up by its id; raises StudioError when it is gone."""
        self._lookup = preset
        self._is_wsl = is_wsl
        self._launch: Launch | None = None
        self._is_adopted = False
        self._own_preset: Preset | None = None
        self._has_served = False
        self.serving_since_s: float | None = None
        """On the monotonic clock; None: it does not serve."""
        self.death: str | None = None
        """Of what the engine died, while it does not serve again."""

    def begin(self, launch: Launch) -> None:
        """Take up what a new engine is started with."""
        self._launch = launch
        self._own_preset = None
        self.serving_since_s = None
        try:
            self._own_preset = self._lookup(launch.preset)
        except StudioError:  # taken away meanwhile: then nothing of it can be changed
            return

    def hear(self, engine: EngineSnapshot, monotonic_s: float) -> None:
        """Take up a second."""
        self._is_adopted = engine.state is EngineState.ADOPTED
        if engine.is_serving:
            if self.serving_since_s is None:
                self.serving_since_s = monotonic_s
            self._has_served, self.death = True, None
            return
        self.serving_since_s = None
        if engine.state is EngineState.STOPPED:
            self._has_served, self.death = False, None
        elif self._has_served and engine.state in _RETURNING:
            said = engine.error.message if engine.error is not None else engine.died_of
            self.death = said or self.death

    @property
    def preset(self) -> Preset | None:
        """Return what the Studio's own engine serves; None: somebody else's, or none."""
        return None if self._is_adopted else self._own_preset

    @property
    def present(self) -> Mapping[str, str]:
        """Return what each knob is set to, as typed."""
        launch = self._launch
        if launch is None or self._is_adopted:
            return {}
        return {name: _typed(value) for name, value in launch.knobs.items()}

    @property
    def cards(self) -> frozenset[int] | None:
        """Return the numbers of the engine's cards; None: not known."""
        launch = self._launch
        if launch is None or self._is_adopted:
            return None
        named = launch.environment.get("CUDA_VISIBLE_DEVICES")
        if named is None:
            return frozenset()
        parts = [part.strip() for part in named.split(",") if part.strip()]
        if not all(part.isdecimal() for part in parts):
            return None
        return frozenset(int(part) for part in parts)

    @property
    def max_num_seqs(self) -> int | None:
        """Return how many requests are admitted at a time."""
        value = self.present.get("max_num_seqs", "")
        return int(value) if value.isdecimal() else None

    @property
    def flags(self) -> frozenset[str]:
        """Return what remedies depend on."""
        found = {"wsl"} if self._is_wsl else set()
        if self._launch is not None and not self._is_adopted:
            found |= {"pinned"} if _PIN in self.present else set()
            found |= set() if self.cards != frozenset() else {"processor"}
        return frozenset(found)


def _typed(value: KnobValue) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
