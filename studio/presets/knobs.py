"""What a person typed after `--set`, as values: checked for name, kind and range. Pure."""

import difflib
import re
from collections.abc import Mapping

from studio.domain.errors import BadInput
from studio.domain.manifests import Knob, KnobKind, Preset
from studio.domain.quantities import whole_number
from studio.domain.rules import Value

_TEXT_LIMIT_BYTES = 120_000
"""Linux takes 131,071 bytes for one argument or variable."""
_SHOWN_LENGTH = 100
_YES = {"1": True, "true": True, "yes": True, "on": True}
_NO = {"0": False, "false": False, "no": False, "off": False}
_UNIT = re.compile(r"\s*-?\d[\d_.,]*(?:[.,]\d|\s*[a-z])", re.IGNORECASE)
_SIZES = " (`5GiB`, `5500M` and `32k` work)"


def read_overrides(preset: Preset, overrides: Mapping[str, str]) -> dict[str, Value]:
    """Return the overridden knobs' values.

    Raises: BadInput (`knob-unknown`, `knob-value`).
    """
    values: dict[str, Value] = {}
    for name, text in overrides.items():
        knob = preset.knobs.get(name)
        if knob is None:
            raise _unknown_knob(preset, name)
        values[name] = _read(preset, name, knob, text)
    return values


def fault_in(knob: Knob, value: Value) -> str | None:
    """Return what a value of a knob should be, or None when it is as it should be."""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    if isinstance(value, str) and value in knob.words.values():
        return None
    found, expected = _checked(knob, text)
    return expected if found is None else None


def _unknown_knob(preset: Preset, name: str) -> BadInput:
    close = difflib.get_close_matches(name.replace("-", "_"), preset.knobs, n=1)
    known = ", ".join(sorted(preset.knobs)) or "none"
    if name in preset.fixed or name in preset.structured:
        hint = f"`{name}` is fixed in this preset; a copy of your own can change it: "
        hint += f"`weir presets copy {preset.id} NAME`."
    else:
        hint = f"Did you mean `{close[0]}`?" if close else f"Its knobs: {known}."
    return BadInput(
        "knob-unknown", f"The preset `{preset.id}` has no knob `{_shown(name)}`.", hint=hint
    )


def _read(preset: Preset, name: str, knob: Knob, text: str) -> Value:
    value, expected = _checked(knob, text)
    if value is None:
        raise BadInput(
            "knob-value",
            f"`{name}` of the preset `{preset.id}` should be {expected}, found `{_shown(text)}`.",
            hint=knob.meaning,
        )
    return value


def _checked(knob: Knob, text: str) -> tuple[Value | None, str]:
    """Return the value, or None, and what was expected."""
    if text in knob.words:
        return knob.words[text], ""
    value, expected = _parse(knob, text)
    if value is not None and not isinstance(value, bool | str):
        if knob.minimum is not None and value < knob.minimum:
            value, expected = None, f"at least {knob.minimum:,.12g}"
        elif knob.maximum is not None and value > knob.maximum:
            value, expected = None, f"at most {knob.maximum:,.12g}"
    if knob.words:
        expected += f", or {' or '.join(f'`{word}`' for word in knob.words)}"
    return value, expected


def _shown(text: str) -> str:
    """Return `text`, cut where nobody reads on."""
    return text if len(text) <= _SHOWN_LENGTH else f"{text[:_SHOWN_LENGTH]}…"


def _parse(knob: Knob, text: str) -> tuple[Value | None, str]:
    if knob.choices and text not in knob.choices:
        return None, "one of " + ", ".join(knob.choices)
    match knob.kind:
        case KnobKind.STR:
            is_fit = "\0" not in text and len(text.encode()) <= _TEXT_LIMIT_BYTES
            return (text if is_fit else None), "text that fits a command line"
        case KnobKind.BOOL:
            return {**_YES, **_NO}.get(text.lower()), "`true` or `false`"
        case KnobKind.INT:
            return whole_number(text), "a whole number" + (_SIZES if _UNIT.match(text) else "")
        case KnobKind.FLOAT:
            return _number(text), "a number"


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if abs(number) < float("inf") else None
