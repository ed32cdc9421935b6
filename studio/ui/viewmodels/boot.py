"""The way from Start to ready: stages of `up`, and the phases of the engine's boot."""

import msgspec

from studio.domain.events import Stage, StageProgress, StageState
from studio.domain.server import BootPhase, EngineState, PhaseTime
from studio.domain.units import UNKNOWN, bytes_text, duration_text
from studio.ui.language import marked, t, told
from studio.ui.state import Known, elapsed_s
from studio.ui.viewmodels.words import PHASE_WORDS, Role, Shape

_TITLES: dict[Stage, str] = {
    Stage.DETECT: marked("Look at this machine"),
    Stage.RUNTIME: marked("Install the runtime"),
    Stage.MODEL: marked("Get the model"),
    Stage.BOOT: marked("Boot the engine"),
    Stage.GATEWAY: marked("Open the gateway"),
}

_SIGNS: dict[StageState, tuple[str, Role, Shape]] = {
    StageState.RUNNING: (marked("Under way"), Role.WATER, Shape.HALF),
    StageState.DONE: (marked("Done"), Role.OK, Shape.TICK),
    StageState.SKIPPED: (marked("Already here"), Role.OK, Shape.TICK),
    StageState.FAILED: (marked("Failed"), Role.HARM, Shape.CROSS),
}


class StageView(msgspec.Struct, frozen=True, kw_only=True):
    """One stage; `share` is None where the end is not known."""

    stage: Stage
    title: str
    word: str
    role: Role
    shape: Shape
    note: str
    share: float | None
    running: bool
    amount: str
    rate: str


class PhaseView(msgspec.Struct, frozen=True, kw_only=True):
    """One boot phase on the timeline; seconds since the process was started."""

    words: str
    started_s: float
    ended_s: float
    running: bool
    duration: str


class TimelineView(msgspec.Struct, frozen=True, kw_only=True):
    """The boot as a line from 0 to `span_s`."""

    phases: tuple[PhaseView, ...]
    span_s: float
    elapsed_s: float | None
    forecast_s: float | None
    elapsed: str
    forecast: str
    now: str


class BootView(msgspec.Struct, frozen=True, kw_only=True):
    """The progress panel."""

    heading: str
    stages: tuple[StageView, ...]
    timeline: TimelineView | None


def boot_view(known: Known, now_s: float) -> BootView:
    """Return the progress panel as of `now_s`."""
    timeline = _timeline(known, now_s)
    known_stages = {progress.stage: progress for progress in known.stages if progress.of_up}
    return BootView(
        heading=_heading(known),
        stages=tuple(
            _with_forecast(_stage(stage, known_stages.get(stage)), timeline) for stage in Stage
        ),
        timeline=timeline,
    )


def stage_view(progress: StageProgress) -> StageView:
    """Return one stage as it stands, for a page that shows it alone."""
    return _stage(progress.stage, progress)


def _heading(known: Known) -> str:
    match known.engine.state:
        case EngineState.DRAINING | EngineState.STOPPING:
            return t("Stopping the engine")
        case EngineState.BACKING_OFF:
            return t("Waiting before the next try")
        case _:
            return t("Getting ready")


def _stage(stage: Stage, progress: StageProgress | None) -> StageView:
    if progress is None:
        return StageView(
            stage=stage,
            title=t(_TITLES[stage]),
            word=t("Waits"),
            role=Role.QUIET,
            shape=Shape.RING,
            note="",
            share=0.0,
            running=False,
            amount="",
            rate="",
        )
    word, role, shape = _SIGNS[progress.state]
    running = progress.state is StageState.RUNNING
    return StageView(
        stage=stage,
        title=told(progress.title) or t(_TITLES[stage]),
        word=t(word),
        role=role,
        shape=shape,
        note=told(progress.note or ""),
        share=_share(progress),
        running=running,
        amount=_amount(progress),
        rate=_rate(progress) if running else "",
    )


def _with_forecast(view: StageView, timeline: TimelineView | None) -> StageView:
    """Return the boot's stage with its share of the forecast, where there is one."""
    if view.stage is not Stage.BOOT or not view.running or timeline is None:
        return view
    view = msgspec.structs.replace(view, note="")  # the timeline says it, in words
    if view.share is not None:
        return view
    if not timeline.forecast_s or timeline.elapsed_s is None:
        return view
    return msgspec.structs.replace(view, share=min(1.0, timeline.elapsed_s / timeline.forecast_s))


def _share(progress: StageProgress) -> float | None:
    if progress.state in (StageState.DONE, StageState.SKIPPED):
        return 1.0
    if progress.done is None or not progress.total:
        return None
    return min(1.0, max(0.0, progress.done / progress.total))


def _amount(progress: StageProgress) -> str:
    if progress.unit is None or progress.done is None:
        return ""
    finished = progress.state in (StageState.DONE, StageState.SKIPPED)
    done = _quantity(progress.done, progress.unit)
    if finished and progress.total in (None, progress.done):
        return done
    if progress.total is None and progress.unit == "s":
        return done  # a boot that takes longer than its forecast; the sentence below says so
    total = UNKNOWN if progress.total is None else _quantity(progress.total, progress.unit)
    if progress.unit == "packages":
        return t("{done:,.0f} of {total}").format(done=progress.done, total=total)
    return t("{done} of {total}").format(done=done, total=total)


def _quantity(amount: float, unit: str) -> str:
    match unit:
        case "bytes":
            return bytes_text(amount)
        case "s":
            return duration_text(amount)
        case _:
            return f"{amount:,.0f} {unit}"


def _rate(progress: StageProgress) -> str:
    if progress.unit not in ("bytes", "packages"):
        return ""
    if progress.rate is None:
        return f"{UNKNOWN}/s"
    rate = f"{_quantity(progress.rate, progress.unit)}/s"
    if progress.left_s is None:
        return rate
    return t("{rate}, {left} left").format(rate=rate, left=duration_text(progress.left_s))


def _timeline(known: Known, now_s: float) -> TimelineView | None:
    engine = known.engine
    if not engine.phases:
        return None
    elapsed = elapsed_s(known, now_s)
    end_s = elapsed if elapsed is not None else engine.phases[-1].started_s
    forecast = engine.expected_boot_s
    phases = tuple(_phase(time, end_s) for time in engine.phases)
    span = max(end_s, forecast or 0.0, phases[-1].ended_s, 1.0)
    return TimelineView(
        phases=phases,
        span_s=span,
        elapsed_s=elapsed,
        forecast_s=forecast,
        elapsed=duration_text(elapsed),
        forecast=_forecast(elapsed, forecast),
        now=_said(engine.note) or _now(engine.phase, engine.phase_share),
    )


def _phase(time: PhaseTime, now_s: float) -> PhaseView:
    ended_s = time.ended_s if time.ended_s is not None else max(now_s, time.started_s)
    return PhaseView(
        words=t(PHASE_WORDS[time.phase]),
        started_s=time.started_s,
        ended_s=ended_s,
        running=time.ended_s is None,
        duration=duration_text(ended_s - time.started_s),
    )


def _forecast(elapsed: float | None, forecast: float | None) -> str:
    if forecast is None:
        return t("No forecast: this preset has not booted here yet")
    if elapsed is not None and elapsed > forecast:
        return t("{over} over the forecast of {forecast}").format(
            over=duration_text(elapsed - forecast), forecast=duration_text(forecast)
        )
    return t("forecast {forecast}").format(forecast=duration_text(forecast))


def _said(note: str | None) -> str | None:
    """Return the service's own sentence about the boot, as one that stands alone."""
    if note is None:
        return None
    words = told(note)
    return words[:1].upper() + words[1:]


def _now(phase: BootPhase | None, share: float | None) -> str:
    if phase is None:
        return ""
    words = t(PHASE_WORDS[phase])
    return words if share is None else f"{words}, {share * 100:.0f} %"
