"""The words for engines that stand still or die too often. Pure."""

import msgspec

from studio.domain.errors import EngineFailed, ErrorInfo
from studio.domain.remedies import Remedy, RemedyKind
from studio.domain.server import EngineSnapshot, EngineState
from studio.domain.units import duration_text
from studio.serving import liveness as liveness_rules
from studio.serving.liveness import Liveness
from studio.serving.machine import CRASH_LIMIT, CRASH_WINDOW_S

STALLED = "engine-stalled"
CRASH_LOOP = "engine-crash-loop"

UNEXPLAINED = ErrorInfo(
    code="engine-died",
    message="The engine ended and left no word.",
    hint="The last lines of its log may say more: `weir logs`.",
    exit_status=EngineFailed.exit_status,
)

_WITHOUT_NAME = frozenset(
    {
        "worker-crashed",
        "engine-core-died",
        "engine-dead",
        "engine-killed",
        "engine-ended",
        "engine-segfault",
        "engine-illegal-instruction",
        "engine-bus-error",
        "engine-aborted",
    }
)
"""What is said when a process ended without a word: the echo or the signal, not who it was."""

_WORKER_ENDED = "worker-crashed"
"""Then the log says what kind of process it was, and it was no other."""

_RESTART = Remedy(kind=RemedyKind.RESTART, text="Start it again as it was.")


def with_standstill(snapshot: EngineSnapshot, liveness: Liveness) -> EngineSnapshot:
    """Return `snapshot` with how long a serving engine has stood still, where that is long."""
    still_s = liveness.pulse.still_s
    if snapshot.state is not EngineState.READY or still_s < liveness_rules.SHOWN_AFTER_S:
        return snapshot
    return msgspec.structs.replace(snapshot, stalled_s=round(still_s, 1), note=_note(liveness))


def standstill(preset: str, liveness: Liveness) -> ErrorInfo:
    """Return the error for an engine that takes no step."""
    return ErrorInfo(
        code=STALLED,
        message=f"`{preset}` stands still: {_note(liveness)[0].lower()}{_note(liveness)[1:]}",
        hint="`weir restart` starts it again; `weir settings --set on-stall=…` says what the "
        "Studio does about it by itself.",
        exit_status=EngineFailed.exit_status,
        data={"stalled_s": round(liveness.pulse.still_s, 1), "requests": liveness.requests},
        remedies=(_RESTART,),
    )


def with_end(error: ErrorInfo | None, part: str | None, lines: tuple[str, ...]) -> ErrorInfo | None:
    """Return `error` with what the log did not tell: who ended first, and what was said last."""
    if error is not None and not error.evidence:
        error = msgspec.structs.replace(error, evidence=lines)
    return _with_part(error, part)


def _with_part(error: ErrorInfo | None, part: str | None) -> ErrorInfo | None:
    if error is None or part is None or error.code not in _WITHOUT_NAME:
        return error
    if error.code == _WORKER_ENDED and "worker" not in part.lower():
        return error
    message = f"{error.message} The Studio saw {part} end first."
    return msgspec.structs.replace(error, message=message)


def brake(error: ErrorInfo) -> ErrorInfo:
    """Return the error for an engine that died once too often, whose last death was `error`."""
    minutes = round(CRASH_WINDOW_S / 60)
    return ErrorInfo(
        code=CRASH_LOOP,
        message=f"The engine died {CRASH_LIMIT} times within {minutes} minutes and is left down. "
        f"The last time: {error.message}",
        hint=error.hint,
        evidence=error.evidence,
        exit_status=EngineFailed.exit_status,
        data={**error.data, "deaths": CRASH_LIMIT, "cause": error.code},
        remedies=error.remedies,
    )


def counted(crashes: int, error: ErrorInfo | None) -> int:
    """Return how many deaths the brake has counted; it forgets them when it stops the loop."""
    if error is not None and error.code == CRASH_LOOP:
        return CRASH_LIMIT
    return max(1, crashes)


def _note(liveness: Liveness) -> str:
    still = duration_text(liveness.pulse.still_s)
    if liveness.requests:
        many = "1 request" if liveness.requests == 1 else f"{liveness.requests} requests"
        return f"It has {many} and has taken no step for {still}."
    return f"It has not answered for {still}."
