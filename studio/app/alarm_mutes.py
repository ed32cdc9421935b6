"""`alarms.json`: which alarms a person has silenced."""

import logging
from pathlib import Path

import msgspec

from studio.domain.alarms import Mute, MuteRequest
from studio.domain.errors import StudioError
from studio.host.documents import read_json, write_json

logger = logging.getLogger(__name__)


class _File(msgspec.Struct, frozen=True, kw_only=True):
    schema_version: int = 1
    mutes: tuple[Mute, ...] = ()


class Mutes:
    """The record and its file; one writer. A file that cannot be read mutes nothing."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[str, Mute] = {}
        try:
            file = read_json(path, _File) or _File()
            self._known = {one.code: one for one in file.mutes}
        except StudioError as error:
            logger.warning("what is muted is not known: %s", error.message)

    def now(self, at: float) -> tuple[Mute, ...]:
        """Return what is muted at `at`."""
        return tuple(one for one in self._known.values() if self.holds(one.code, at))

    def holds(self, code: str, at: float) -> bool:
        """Tell whether an alarm is muted at `at`."""
        mute = self._known.get(code)
        return mute is not None and (mute.until is None or at < mute.until)

    def add(self, code: str, request: MuteRequest, at: float) -> None:
        """Mute an alarm. Raises: HostLacks, when that cannot be written down."""
        until = None if request.for_s is None else at + request.for_s
        after = {**self._known, code: Mute(code=code, until=until, is_once=request.is_once)}
        self._write({name: one for name, one in after.items() if _is_left(one, at)})

    def remove(self, code: str) -> None:
        """Mute an alarm no more. Raises: HostLacks, when that cannot be written down."""
        if code in self._known:
            self._write({name: one for name, one in self._known.items() if name != code})

    def over(self, code: str) -> None:
        """Take up that an alarm is over: it was muted for this once, or still is."""
        mute = self._known.get(code)
        if mute is None or not mute.is_once:
            return
        try:
            self.remove(code)
        except StudioError as error:
            logger.warning("%s", error.message)
            del self._known[code]

    def _write(self, after: dict[str, Mute]) -> None:
        write_json(self._path, _File(mutes=tuple(after.values())), mode=0o600)
        self._known = after


def _is_left(mute: Mute, at: float) -> bool:
    return mute.until is None or at < mute.until
