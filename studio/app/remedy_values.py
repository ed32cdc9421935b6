"""The settings of a remedy, made fit for the preset that failed. Pure.

The catalogue of failures knows engines, not presets: it may name a knob that a preset lacks, and
say by how much to change a value that only the preset knows (`*0.5`, `-0.03`). What cannot be
applied stays as words.
"""

import math
import re
from collections.abc import Mapping

import msgspec

from studio.domain.errors import BadInput, ErrorInfo
from studio.domain.manifests import KnobKind, KnobValue, Preset
from studio.domain.remedies import Remedy, RemedyKind
from studio.presets import knobs

_CHANGE = re.compile(r"(?P<how>[*+-])(?P<by>\d+(?:\.\d+)?)")
_DIGITS = 4


def fitted(error: ErrorInfo, preset: Preset | None, overrides: Mapping[str, str]) -> ErrorInfo:
    """Return `error` with remedies that can be applied to `preset` as it was started."""
    made = tuple(fitted_one(one, preset, overrides) for one in error.remedies)
    return msgspec.structs.replace(error, remedies=made)


def plain(error: ErrorInfo) -> ErrorInfo:
    """Return `error` for a log that no preset of ours stands behind: values as far as known."""
    made = tuple(
        _words(one) if any(_CHANGE.fullmatch(value) for value in one.settings.values()) else one
        for one in error.remedies
    )
    return msgspec.structs.replace(error, remedies=made)


def fitted_one(remedy: Remedy, preset: Preset | None, overrides: Mapping[str, str]) -> Remedy:
    """Return `remedy` with values for `preset`; only words where it cannot take them."""
    if remedy.kind is not RemedyKind.RESTART_WITH:
        return remedy
    if preset is None or not remedy.settings.keys() <= preset.knobs.keys():
        return _words(remedy)
    settings: dict[str, str] = {}
    for name, value in remedy.settings.items():
        before = overrides.get(name)
        present = before if before is not None else _text(preset.knobs[name].default)
        made = _value(value, present, preset.knobs[name].kind)
        if made is None or made == present:
            return _words(remedy)
        settings[name] = made
    try:
        knobs.read_overrides(preset, settings)
    except BadInput:
        return _words(remedy)
    return msgspec.structs.replace(remedy, settings=settings)


def _value(value: str, present: str | None, kind: KnobKind) -> str | None:
    """Return the value to set; None where it depends on one that is not known."""
    change = _CHANGE.fullmatch(value)
    if change is None:
        return value
    try:
        before = float((present or "").replace("_", ""))
    except ValueError:
        return None
    by = float(change["by"])
    after = {"*": before * by, "+": before + by, "-": before - by}[change["how"]]
    if not math.isfinite(after) or after <= 0:
        return None
    if kind is KnobKind.INT:
        return str(max(1, math.floor(after)))
    return f"{round(after, _DIGITS):g}"


def _text(value: KnobValue | None) -> str | None:
    if isinstance(value, bool):
        return str(value).lower()
    return None if value is None else str(value)


def _words(remedy: Remedy) -> Remedy:
    return Remedy(kind=RemedyKind.ADVICE, text=remedy.text, command=remedy.command)
