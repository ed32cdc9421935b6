"""One boot while it lasts: cold or warm, what is left of it, and the sentence about it."""

from collections.abc import Mapping

import msgspec

from studio.domain.boots import BootTry
from studio.domain.server import BootPhase, EngineSnapshot
from studio.serving import forecast, phases
from studio.serving.boot_words import Scene, note
from studio.serving.boots import Outlook

Facts = Mapping[str, int | float | str]
_TRY_WORDS = {
    BootTry.WARM: "second try, warm: ",
    BootTry.WITHOUT_GRAPH_ESTIMATE: "third try, without the graph estimate: ",
    BootTry.RESTART: "after a death: ",
}


class BootUnderWay:
    """What is known of one boot; told by `learn`, asked by `complete`."""

    def __init__(
        self,
        *,
        began: float | None,
        attempt: BootTry,
        outlooks: Mapping[bool, Outlook],
        guess: bool,
    ) -> None:
        """`outlooks` are those of a cold and of a warm boot; `guess` says which one this is."""
        self.began = began
        self.attempt = attempt
        self.last = EngineSnapshot()
        self.forecast_s = outlooks[guess].whole_s
        """What was said before it began."""
        self.is_cold = guess
        self.is_certain = False
        self._outlooks = outlooks

    def learn(self, engine: EngineSnapshot, facts: Facts) -> None:
        """Take up where the engine is, and what its log says of its cache."""
        self.last = engine
        said = phases.is_cold(facts)
        if said is not None:
            self.is_cold, self.is_certain = said, True
        elif facts.get("is_eager"):
            self.is_certain = True  # nothing is compiled: cold is the first boot of its kind here

    @property
    def outlook(self) -> Outlook:
        """How long a boot of this kind takes."""
        return self._outlooks[self.is_cold]

    def complete(
        self, engine: EngineSnapshot, *, loaded_bytes: int | None, to_load_bytes: int | None
    ) -> EngineSnapshot:
        """Return the engine with forecast and sentence as of now."""
        engine = msgspec.structs.replace(
            engine, is_cold=self.is_cold, is_cold_certain=self.is_certain
        )
        if not engine.phases or engine.elapsed_s is None:
            return engine
        is_loading = engine.phase is BootPhase.WEIGHTS
        share = engine.phase_share
        if is_loading and loaded_bytes is not None and to_load_bytes:
            share = min(1.0, loaded_bytes / to_load_bytes)
        progress = forecast.Progress(
            phases=engine.phases,
            elapsed_s=engine.elapsed_s,
            share=share if is_loading else None,  # graphs make two passes
        )
        left = forecast.left(self.outlook, progress)
        scene = Scene(
            phase=progress.phase,
            spent_s=progress.spent_s,
            left=left,
            is_cold=self.is_cold,
            share=share,
            loaded_bytes=loaded_bytes if is_loading else None,
            to_load_bytes=to_load_bytes,
        )
        return msgspec.structs.replace(
            engine,
            phase_share=share,
            forecast=forecast.per_phase(self.outlook, engine.phases),
            expected_boot_s=self._expected_s(engine.elapsed_s, left),
            remaining_s=left.remaining_s,
            loaded_bytes=loaded_bytes if is_loading else None,
            to_load_bytes=to_load_bytes if is_loading else None,
            note=self._said(note(scene)),
        )

    def _expected_s(self, elapsed_s: float, left: forecast.Left) -> float | None:
        if left.remaining_s is not None:
            return elapsed_s + left.remaining_s
        return self.outlook.whole_s

    def _said(self, sentence: str) -> str:
        words = _TRY_WORDS.get(self.attempt)
        return sentence if words is None else f"{words}{sentence}"
