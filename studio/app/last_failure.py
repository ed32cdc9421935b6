"""What failed last, kept between services: a service that a terminal started ends with it."""

import contextlib
import logging
from pathlib import Path

import msgspec

from studio.domain.control import UpRequest
from studio.domain.errors import ErrorInfo, StudioError
from studio.domain.server import EngineSnapshot, EngineState
from studio.host.documents import read_json, write_json

logger = logging.getLogger(__name__)


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """A start or a run that failed, with what was asked for."""

    preset: str
    overrides: dict[str, str] = {}
    gpus: tuple[int, ...] | None = None
    allow_spill: bool = False
    error: ErrorInfo


class LastFailure:
    """The record and its file; one writer."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._written: Failure | None = None
        self._asked = UpRequest()

    def ask(self, request: UpRequest) -> None:
        """Note what is asked for and does not show in the engine: cards, the consent to spill."""
        self._asked = request

    def hear(self, engine: EngineSnapshot) -> None:
        """Keep a failure; forget it when an engine is ready."""
        if engine.state is EngineState.READY:
            self._written = None
            with contextlib.suppress(OSError):
                self._path.unlink(missing_ok=True)
            return
        if engine.error is None or engine.preset is None:
            return
        failure = Failure(
            preset=engine.preset,
            overrides=dict(engine.overrides),
            gpus=self._asked.gpus,
            allow_spill=self._asked.allow_spill,
            error=engine.error,
        )
        if failure == self._written:
            return
        self._written = failure
        try:
            write_json(self._path, failure, mode=0o600)
        except StudioError as error:
            logger.warning("what failed cannot be kept: %s", error)

    def read(self) -> Failure | None:
        """Return what failed last, if anything did; a damaged record is none."""
        with contextlib.suppress(StudioError):
            return read_json(self._path, Failure)
        return None
