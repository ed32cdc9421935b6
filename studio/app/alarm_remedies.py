"""The remedies of an alarm, made fit for what runs: computed values, and no offer that cannot be.

An alarm knows figures ("1.8 GB too much"), the preset knows its knobs, the engine what they are set
to; together they make "lower the KV pin to 3.40 GiB and restart". Pure.
"""

from collections.abc import Mapping

import msgspec

from studio.app import remedy_values
from studio.domain.alarms import Alarm
from studio.domain.manifests import Preset
from studio.domain.remedies import Remedy, RemedyKind
from studio.domain.units import bytes_text

_WANTS_ENGINE = (RemedyKind.RESTART, RemedyKind.RESTART_WITH, RemedyKind.REPAIR)


def fitted(alarm: Alarm, preset: Preset | None, present: Mapping[str, str]) -> Alarm:
    """Return `alarm` with the remedies that can be taken.

    `preset`: what the Studio's own engine serves; None for an adopted one, which it cannot restart.
    `present`: what each knob is set to, as typed.
    """
    kept: list[Remedy] = []
    for remedy in alarm.remedies:
        made = _fitted(remedy, preset, present)
        if made is not None and made not in kept:
            kept.append(made)
    return msgspec.structs.replace(alarm, remedies=tuple(kept))


def _fitted(remedy: Remedy, preset: Preset | None, present: Mapping[str, str]) -> Remedy | None:
    if preset is None and remedy.kind in _WANTS_ENGINE:
        return None
    if remedy.kind is not RemedyKind.RESTART_WITH:
        return remedy
    made = remedy_values.fitted_one(remedy, preset, present)
    if made.kind is not RemedyKind.RESTART_WITH:
        return None
    text = made.text
    for name, value in made.settings.items():
        text = text.replace(f"{{{name}}}", _shown(name, value))
    return msgspec.structs.replace(made, text=text)


def _shown(name: str, value: str) -> str:
    return bytes_text(int(value)) if name.endswith("_bytes") and value.isdecimal() else value
