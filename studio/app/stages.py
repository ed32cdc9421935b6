"""The stages of one `weir up`: what was announced last for each, in order."""

from collections.abc import Callable

import msgspec

from studio.domain.events import Event, Stage, StageProgress, StageState
from studio.domain.server import EngineSnapshot, EngineState
from studio.domain.units import duration_text

_TITLES = {
    Stage.DETECT: "Look at this machine",
    Stage.GATEWAY: "Open the address for clients",
    Stage.RUNTIME: "Install the runtime",
    Stage.MODEL: "Get the model",
    Stage.BOOT: "Start the engine",
}


class Stages:
    """Announces progress and remembers it for those who come later."""

    def __init__(self, publish: Callable[[Event], None]) -> None:
        self._publish = publish
        self._now: dict[Stage, StageProgress] = {}

    @property
    def now(self) -> tuple[StageProgress, ...]:
        """The newest progress of every stage begun, in order."""
        return tuple(self._now.values())

    @staticmethod
    def title_of(stage: Stage) -> str:
        """Return what a stage is called."""
        return _TITLES[stage]

    def clear(self) -> None:
        """Forget the last run."""
        self._now.clear()

    def report(self, progress: StageProgress) -> None:
        """Announce what a feature says of its stage, as a part of this start."""
        progress = msgspec.structs.replace(progress, of_up=True)
        self._now[progress.stage] = progress
        self._publish(progress)

    def begin(self, stage: Stage, note: str | None = None) -> None:
        """Announce that `stage` began."""
        self.report(
            StageProgress(stage=stage, state=StageState.RUNNING, title=_TITLES[stage], note=note)
        )

    def end(self, stage: Stage, note: str | None = None, *, skipped: bool = False) -> None:
        """Announce that `stage` is done, or had nothing to do."""
        state = StageState.SKIPPED if skipped else StageState.DONE
        last = self._now.get(stage)
        title = last.title if last else _TITLES[stage]
        done, total, unit = (last.done, last.total, last.unit) if last else (None, None, None)
        if unit == "s":  # a forecast of seconds says nothing once it is over
            done = total = unit = None
        self.report(
            StageProgress(
                stage=stage,
                state=state,
                title=title,
                note=note,
                done=total or done,
                total=total,
                unit=unit,
            )
        )

    def warn(self, stage: Stage, warnings: tuple[str, ...]) -> None:
        """Announce what was found out about a stage that is over."""
        last = self._now.get(stage)
        if last is not None and warnings:
            self.report(msgspec.structs.replace(last, warnings=warnings))

    def settle(self, engine: EngineSnapshot) -> None:
        """End the boot that a restart by itself began; nobody else is there to do it."""
        boot = self._now.get(Stage.BOOT)
        if boot is None or boot.state is not StageState.RUNNING:
            return
        if engine.state is EngineState.READY:
            self.end(Stage.BOOT, f"ready after {duration_text(engine.boot_s)}")
        elif engine.state in (EngineState.FAILED, EngineState.STOPPED):
            self.fail(engine.error.message if engine.error is not None else engine.state.value)

    def fail(self, note: str) -> None:
        """Mark the running stage as failed."""
        for progress in self.now:
            if progress.state is StageState.RUNNING:
                failed = msgspec.structs.replace(progress, state=StageState.FAILED, note=note)
                self.report(failed)
