"""Is it as fast as it should be, and if not: the drafter or the steps? Pure.

Speed is tokens per step over step time. So a speed that is too low has one of two causes, which
people mend in different ways; product.md D12 and HyperQwen issue 156 tell both apart by hand.
It never speaks where the load is another than the figure's: then it says what is missing.
Where nobody published the two parts, they are held against this machine's own past, and then the
speed that belongs to them is said too: no part is held against another yardstick than its speed.
"""

from collections.abc import Iterator

from studio.domain.speed import (
    PROCESSOR,
    SpeedCause,
    SpeedFigure,
    SpeedMeasured,
    SpeedSteps,
    SpeedVerdict,
    SpeedVerdictKind,
)
from studio.domain.units import rate_text

LEAST_S = 10.0
"""Less steady decoding than this says more about one answer than about the machine."""
SHORT_TOKENS = 8_192
"""Published figures of one stream are of short conversations; long ones cost more attention."""
TOLERANCE = 0.07
"""Runs of one machine differ by so much (HyperQwen, speed: repeated runs)."""
_HINTS = {
    SpeedCause.DRAFTER: (
        "The text may be hard to guess; if all are, look at the preset's sampling and drafter."
    ),
    SpeedCause.STEP_TIME: (
        "Look for spill, a lowered power limit, heat, or another program on the card."
    ),
}
_HINT_OF_PROCESSOR = "Look for other programs that use the processor, for swap, and for heat."


def verdict(
    measured: SpeedMeasured, figure: SpeedFigure | None, drafts: int | None = None
) -> SpeedVerdict:
    """Return what is to be thought of a speed; `drafts` is how many tokens are guessed a step."""
    missing = tuple(_missing(measured, figure))
    if missing or figure is None or measured.decode_tokens_per_s is None:
        return SpeedVerdict(
            sentence="No verdict: " + "; ".join(missing) + ".", missing=missing, figure=figure
        )
    ratio = measured.decode_tokens_per_s / figure.decode_tokens_per_s
    head = _head(measured.decode_tokens_per_s, figure)
    if ratio >= 1 - TOLERANCE:
        kind = SpeedVerdictKind.AS_EXPECTED
        tail = f"as {_was(figure)}."
        if ratio > 1 + TOLERANCE:
            kind = SpeedVerdictKind.FASTER
            tail = f"{(ratio - 1) * 100:.0f} % faster than {_was(figure)}."
        return SpeedVerdict(kind=kind, sentence=f"{head}: {tail}", ratio=ratio, figure=figure)
    cause = _cause(measured, figure)
    return SpeedVerdict(
        kind=SpeedVerdictKind.SLOWER,
        cause=cause,
        sentence=f"{head}{_past(figure)}: {_why(cause, measured, figure, drafts)}",
        ratio=ratio,
        figure=figure,
    )


def _missing(measured: SpeedMeasured, figure: SpeedFigure | None) -> Iterator[str]:
    """Yield what it would take to compare."""
    if figure is None:
        yield "no figure is published for this machine, and it has none of its own yet"
    if measured.decode_tokens_per_s is None or measured.seconds < LEAST_S:
        yield (
            f"{LEAST_S:.0f} s of steady generating are needed, {measured.seconds:.0f} s were seen"
            " in the last minute"
        )
        return
    if measured.requests != 1:
        yield f"{measured.requests} requests run, and figures are of one alone"
    if measured.context_tokens is None:
        yield "how long the conversation is, is not known"
    elif measured.context_tokens > SHORT_TOKENS:
        yield (
            f"the conversation holds about {measured.context_tokens:,} tokens, and figures are of"
            f" at most {SHORT_TOKENS:,}"
        )


def _cause(measured: SpeedMeasured, figure: SpeedFigure) -> SpeedCause:
    """Return what of the two falls short of the figure."""
    if measured.tokens_per_step is None:
        # Without speculation a step makes one token, so only steps can be slow; against a figure
        # with speculation nothing can be told apart.
        is_plain = figure.tokens_per_step is None
        return SpeedCause.STEP_TIME if is_plain and not _drafts(figure) else SpeedCause.UNKNOWN
    if figure.tokens_per_step is None or figure.step_s is None or measured.step_s is None:
        return SpeedCause.UNKNOWN
    is_drafter = measured.tokens_per_step < figure.tokens_per_step * (1 - TOLERANCE)
    is_step = measured.step_s > figure.step_s * (1 + TOLERANCE)
    if is_drafter and is_step:
        return SpeedCause.BOTH
    if is_drafter == is_step and figure.steps_of is SpeedSteps.PAST:
        return SpeedCause.UNKNOWN  # as it always was here
    if is_drafter == is_step:
        # Each is within what runs differ by, both together are not: the larger part is named.
        lost_tokens = figure.tokens_per_step / measured.tokens_per_step
        is_drafter = lost_tokens > measured.step_s / figure.step_s
    return SpeedCause.DRAFTER if is_drafter else SpeedCause.STEP_TIME


def _drafts(figure: SpeedFigure) -> bool:
    return figure.is_published and figure.tokens_per_step is not None


def _why(
    cause: SpeedCause, measured: SpeedMeasured, figure: SpeedFigure, drafts: int | None
) -> str:
    steps, tokens = _steps_text(measured, figure), _tokens_text(measured, figure, drafts)
    same = f"as {_were(figure)}"
    match cause:
        case SpeedCause.DRAFTER:
            return (
                f"step time is {same}, the drafter's guesses are taken less often ({tokens})."
                f" {_HINTS[cause]}"
            )
        case SpeedCause.STEP_TIME:
            has_drafter = measured.tokens_per_step is not None
            drafter = f"the drafter's guesses are taken {same}, " if has_drafter else ""
            return f"{drafter}steps take longer ({steps}). {_steps_hint(figure)}"
        case SpeedCause.BOTH:
            return (
                f"steps take longer ({steps}), and the drafter's guesses are taken less often"
                f" ({tokens}). {_steps_hint(figure)}"
            )
        case _ if _is_as_always(measured, figure):
            return (
                "drafter and steps are as before on this machine, which has been slower all along:"
                " its power limit, its driver, or WSL2."
            )
        case _:
            return (
                "whether the drafter or the steps are slow cannot be told, because the figure does"
                " not say how many tokens a step made."
            )


def _steps_hint(figure: SpeedFigure) -> str:
    return _HINT_OF_PROCESSOR if figure.card == PROCESSOR else _HINTS[SpeedCause.STEP_TIME]


def _steps_text(measured: SpeedMeasured, figure: SpeedFigure) -> str:
    ours = measured.step_s
    theirs = figure.step_s or 1 / figure.decode_tokens_per_s
    if ours is None:
        return "not known"
    about = "about " if figure.steps_of is SpeedSteps.COMPUTED else ""
    return f"{ours * 1e3:.0f} ms instead of {about}{theirs * 1e3:.0f}"


def _tokens_text(measured: SpeedMeasured, figure: SpeedFigure, drafts: int | None) -> str:
    if measured.tokens_per_step is None or figure.tokens_per_step is None:
        return "not known"
    ours, theirs = measured.tokens_per_step - 1, figure.tokens_per_step - 1
    of = "" if drafts is None else f" of {drafts}"
    return f"{ours:.1f}{of} a step instead of {theirs:.1f}"


def _head(decode: float, figure: SpeedFigure) -> str:
    ours, theirs = rate_text(decode), rate_text(figure.decode_tokens_per_s)
    if not figure.is_published:
        return f"{ours}, {theirs} before on this machine"
    power = "" if figure.power_w is None else f" at {figure.power_w:.0f} W"
    what = PROCESSOR if figure.card == PROCESSOR else "card"
    return f"{ours}, published {theirs} on this {what}{power}"


def _past(figure: SpeedFigure) -> str:
    """Return the speed that belongs to the compared parts, where it is not the figure's."""
    if figure.steps_of is not SpeedSteps.PAST or figure.before_tokens_per_s is None:
        return ""
    return f"; {rate_text(figure.before_tokens_per_s)} before on this machine"


def _is_as_always(measured: SpeedMeasured, figure: SpeedFigure) -> bool:
    has_steps = measured.tokens_per_step is not None and figure.tokens_per_step is not None
    return has_steps and figure.steps_of is SpeedSteps.PAST


def _were(figure: SpeedFigure) -> str:
    """Say what drafter and steps are held against."""
    return "before" if figure.steps_of is SpeedSteps.PAST else _was(figure)


def _was(figure: SpeedFigure) -> str:
    return "published" if figure.is_published else "before"
