"""What the person chose to follow a death, a standstill and an early request: read, and changed."""

import difflib
import enum
import logging
import os
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from studio.app.settings import SettingsFile
from studio.domain.errors import BadInput
from studio.domain.settings import CareChange, CareSettings, CheckUpdates, OnDeath, OnStall

logger = logging.getLogger(__name__)

Choice = TypeVar("Choice", bound=enum.StrEnum)

SHORTEST_WAIT_S = 60.0
"""How long early requests wait at least where nothing was chosen: most restarts of small models,
and what chat clients bear without a word."""
LONGEST_WAIT_S = 600.0
"""The default of the official clients for one request."""
_SLACK = 1.25
"""A boot may take so much longer than the last one."""
SAMPLE_S = 1.0
"""Between two looks of the monitor, where nothing was chosen."""
SAMPLE_VARIABLE = "WEIR_SAMPLE_S"
"""Takes the place of that default, for one run of the service."""
_RANGES_S = {"stall-s": (5.0, 86_400.0), "wait-s": (0.0, 3_600.0), "sample-s": (0.2, 10.0)}
_HISTORY_MIB = "history-mib"
_RANGE_MIB = (32, 16_384)
"""A week of one card needs about 30; 400 days of eight cards fit into less than the most."""
_CHOICES: Mapping[str, type[enum.StrEnum]] = {
    "on-death": OnDeath,
    "on-stall": OnStall,
    "check-updates": CheckUpdates,
}
NAMES = (*_CHOICES, *_RANGES_S, _HISTORY_MIB)


class Care:
    """The choices of one home."""

    def __init__(self, settings: SettingsFile, environ: Mapping[str, str] = os.environ) -> None:
        self._settings = settings
        self._sample_s = _given(environ)
        self.on_change: Callable[[], None] = lambda: None
        """Told after every change."""

    def now(self) -> CareSettings:
        """Return the choices as they hold; a word of a newer version is none."""
        kept = self._settings.now.care
        return CareSettings(
            on_death=_known(OnDeath, kept.get("on-death"), OnDeath.RESTART),
            on_stall=_known(OnStall, kept.get("on-stall"), OnStall.RESTART),
            stall_s=_seconds(kept, "stall-s"),
            wait_s=_seconds(kept, "wait-s"),
            sample_s=self.sample_s(),
            history_mib=self.history_mib(),
            check_updates=kept.get("check-updates") == CheckUpdates.ON,
            chosen=tuple(name for name in NAMES if name in kept),
        )

    async def report(self) -> CareSettings:
        """Return the choices."""
        return self.now()

    async def change(self, request: CareChange) -> CareSettings:
        """Set and forget; holds from now on, also for the engine that runs.

        Raises: BadInput (`setting-unknown`, `setting-value`), HostLacks (`not-writable`, …).
        """
        kept = dict(self._settings.now.care)
        for name in request.forget:
            kept.pop(_name(name), None)
        for name, text in request.values.items():
            known = _name(name)
            kept[known] = _value(known, text)
        self._settings.change(care=kept)
        self.on_change()
        return self.now()

    def sample_s(self) -> float:
        """Return how far two looks of the monitor are apart."""
        return _seconds(self._settings.now.care, "sample-s") or self._sample_s or SAMPLE_S

    def history_mib(self) -> int:
        """Return how large the history gets at most."""
        text = self._settings.now.care.get(_HISTORY_MIB, "")
        return _mib(text) or CareSettings().history_mib

    def history_bytes(self) -> int:
        """Return the same in bytes."""
        return self.history_mib() << 20

    def wait_s(self, remaining_s: Callable[[], float | None]) -> float:
        """Return how long a request may wait for an engine that should need `remaining_s`."""
        chosen = self.now().wait_s
        if chosen is not None:
            return chosen
        forecast_s = (remaining_s() or 0.0) * _SLACK
        return min(LONGEST_WAIT_S, max(SHORTEST_WAIT_S, forecast_s))


def _name(typed: str) -> str:
    name = typed.strip().lower().replace("_", "-")
    if name in NAMES:
        return name
    raise BadInput(
        "setting-unknown",
        f"There is no setting `{typed}`.",
        hint=_meant(name, NAMES),
    )


def _value(name: str, text: str) -> str:
    """Return the value as it is kept."""
    word = text.strip().lower()
    choices = _CHOICES.get(name)
    if choices is not None:
        if word in set(choices):
            return word
        known = ", ".join(f"`{one}`" for one in choices)
        raise BadInput("setting-value", f"`{name}` cannot be `{text}`.", hint=f"It can be {known}.")
    if name == _HISTORY_MIB:
        return _size(name, text)
    low, high = _RANGES_S[name]
    try:
        seconds = float(word.removesuffix("s"))
    except ValueError:
        seconds = -1.0
    if low <= seconds <= high:
        return f"{seconds:g}"
    raise BadInput(
        "setting-value",
        f"`{name}` cannot be `{text}`.",
        hint=f"It is a number of seconds from {low:g} to {high:g}.",
    )


def _size(name: str, text: str) -> str:
    mib = _mib(text.strip())
    if mib is None:
        low, high = _RANGE_MIB
        raise BadInput(
            "setting-value",
            f"`{name}` cannot be `{text}`.",
            hint=f"It is a whole number of MiB from {low} to {high:,}.",
        )
    return str(mib)


def _mib(text: str) -> int | None:
    """Return a size that may be chosen; None for anything else."""
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        return None
    low, high = _RANGE_MIB
    return int(text) if low <= int(text) <= high else None


def _seconds(kept: Mapping[str, str], name: str) -> float | None:
    try:
        seconds = float(kept[name])
    except (KeyError, ValueError):
        return None
    low, high = _RANGES_S[name]
    return seconds if low <= seconds <= high else None


def _given(environ: Mapping[str, str]) -> float | None:
    """Return the interval that the environment gives; what makes no sense is told and left out."""
    text = environ.get(SAMPLE_VARIABLE)
    if text is None:
        return None
    seconds = _seconds({"sample-s": text}, "sample-s")
    if seconds is None:
        low, high = _RANGES_S["sample-s"]
        logger.warning("%s should be %g to %g seconds, found %r", SAMPLE_VARIABLE, low, high, text)
    return seconds


def _known(kind: type[Choice], text: str | None, default: Choice) -> Choice:
    return next((one for one in kind if one == text), default)


def _meant(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, list(known), n=1)
    if close:
        return f"Did you mean `{close[0]}`?"
    return "Known: " + ", ".join(f"`{one}`" for one in known) + "."
