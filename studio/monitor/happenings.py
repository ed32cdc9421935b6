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
        self._settings: dict[str, dict[str, str]] = {}
        """Of each that has served, what it was set to by hand when it served last."""
        self._badges: frozenset[str] = frozenset()

    def hear(self, engine: EngineSnapshot) -> list[Happening]:
        """Return what happened between the last snapshot and this one."""
        before, self._before = self._before, engine
        found = list(self._of_badges(engine))
        if engine.state is before.state:
            return found
        found += self._of(before, engine)
        if engine.state in _SERVING:
            self._served = _name(engine)
            self._settings[_name(engine)] = engine.overrides
        return found

    def _of_badges(self, engine: EngineSnapshot) -> Iterator[Happening]:
        """Yield each slow path once, until a boot begins without it."""
        for badge in engine.badges:
            if badge.code not in self._badges:
                detail = f"{badge.title}: {badge.cost} ({badge.evidence})"
                yield Happening(Kind.BADGE, badge.code, detail)
        self._badges = frozenset(badge.code for badge in engine.badges)

    def _of(self, before: EngineSnapshot, engine: EngineSnapshot) -> Iterator[Happening]:
        name = _name(engine) if _name(engine) != _NO_NAME else _name(before)
        match engine.state:
            case EngineState.READY | EngineState.ADOPTED if before.state not in _SERVING:
                if self._served not in (None, name):
                    yield Happening(Kind.SWITCH, name, f"Served instead of `{self._served}`.")
                yield Happening(Kind.BOOT, name, _boot_text(engine))
                changed = _changed_text(self._settings.get(name), engine.overrides)
                if changed:
                    yield Happening(Kind.SETTINGS, name, changed)
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


def _changed_text(before: dict[str, str] | None, now: dict[str, str]) -> str:
    """Return what is set to other values than last time; empty: nothing, or it never served."""
    if before is None:
        return ""
    pieces = [f"{name}={now[name]}" for name in sorted(now) if before.get(name) != now[name]]
    pieces += [f"{name} as the preset has it" for name in sorted(before) if name not in now]
    return ", ".join(pieces) + "." if pieces else ""


def _why(engine: EngineSnapshot) -> str:
    if engine.error is not None:
        return f"{engine.error.message} ({engine.error.code})"
    return engine.died_of or ""
