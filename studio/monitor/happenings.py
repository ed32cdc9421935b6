"""Successive states of the engine → what happened, for the history. Pure."""

from collections.abc import Iterator
from typing import NamedTuple

from studio.domain.history import HistoryEventKind as Kind
from studio.domain.server import EngineSnapshot, EngineState
from studio.domain.units import duration_text, tokens_text

_ENDED = (EngineState.STOPPED, EngineState.GONE)
_SERVING = (EngineState.READY, EngineState.ADOPTED)
_WORKING = (*_SERVING, EngineState.DRAINING, EngineState.STOPPING)
_NO_NAME = "engine"


class Happening(NamedTuple):
    """One event, without its time."""

    kind: Kind
    name: str
    detail: str


class Happenings:
    """Hears every snapshot of the engine and says what is worth keeping of it."""

    def __init__(self) -> None:
        self._before = EngineSnapshot()
        self._served: str | None = None

    def hear(self, engine: EngineSnapshot) -> list[Happening]:
        """Return what happened between the last snapshot and this one."""
        before, self._before = self._before, engine
        if engine.state is before.state:
            return []
        found = list(self._of(before, engine))
        if engine.state in _SERVING:
            self._served = _name(engine)
        return found

    def _of(self, before: EngineSnapshot, engine: EngineSnapshot) -> Iterator[Happening]:
        name = _name(engine) if _name(engine) != _NO_NAME else _name(before)
        match engine.state:
            case EngineState.READY | EngineState.ADOPTED if before.state not in _SERVING:
                if self._served not in (None, name):
                    yield Happening(Kind.SWITCH, name, f"Served instead of `{self._served}`.")
                yield Happening(Kind.BOOT, name, _boot_text(engine))
            case EngineState.BACKING_OFF:
                yield Happening(Kind.DEATH, name, _why(engine))
            case EngineState.FAILED:
                kind = Kind.DEATH if before.state in _SERVING else Kind.FAILED
                yield Happening(kind, name, _why(engine))
            case EngineState.GONE:
                yield Happening(Kind.DEATH, name, "The adopted vLLM does not answer any more.")
            case EngineState.STOPPED if before.state in _WORKING:
                yield Happening(Kind.STOPPED, name, "")
            case _:
                return


def _name(engine: EngineSnapshot) -> str:
    if engine.adopted is not None:
        return engine.adopted.name
    return engine.preset or _NO_NAME


def _boot_text(engine: EngineSnapshot) -> str:
    if engine.adopted is not None:
        return f"Adopted at {engine.adopted.url}."
    pieces = []
    if engine.boot_s is not None:
        way = {True: ", cold", False: ", warm", None: ""}[engine.is_cold]
        pieces.append(f"Ready after {duration_text(engine.boot_s)}{way}")
    if engine.pool_tokens is not None:
        pieces.append(f"pool {tokens_text(engine.pool_tokens)}")
    return "; ".join(pieces) + "." if pieces else ""


def _why(engine: EngineSnapshot) -> str:
    if engine.error is not None:
        return f"{engine.error.message} ({engine.error.code})"
    return engine.died_of or ""
