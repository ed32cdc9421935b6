"""The settings of a preset as rows: meaning first, name and range beside it, and what is typed."""

from collections.abc import Iterable, Mapping

import msgspec

from studio.domain.manifests import Knob, KnobKind
from studio.domain.presets import PresetDetail
from studio.domain.rules import Value
from studio.domain.units import bytes_text
from studio.ui.language import nt, t, told

FIRST = (
    "max_model_len", "max_num_seqs", "kv_cache_dtype", "kv_cache_memory_bytes",
    "gpu_memory_utilization", "draft_tokens", "enable_prefix_caching", "max_num_batched_tokens",
    "tensor_parallel_size", "kv_offload_gib", "vision",
)  # fmt: skip
"""What decides how much fits stands first, in this order; the rest follows as the preset says."""
_WIDE = 1_000
"""A range so many times as wide is stepped by doubling."""


class KnobView(msgspec.Struct, frozen=True, kw_only=True):
    """One setting as a row."""

    name: str
    meaning: str
    expert: str
    """Name, range and unit in quiet words."""
    choices: tuple[str, ...] = ()
    """What may be chosen; empty: it is typed."""
    is_switch: bool = False
    value: str
    """As it is typed or chosen now; empty: left to the engine."""
    default: str
    placeholder: str
    is_changed: bool
    was: str
    """What it would be untouched; empty while it is untouched."""
    size: str = ""
    """Bytes in a unit that people read."""
    spoken: str


class KnobsView(msgspec.Struct, frozen=True, kw_only=True):
    """All settings of a preset."""

    rows: tuple[KnobView, ...]
    rest: tuple[KnobView, ...]
    """Folded behind one button."""
    fold: str
    """The words of that button; empty: there is nothing behind it."""
    empty: str
    note: str
    """How many were changed."""


def value_text(knob: Knob, value: Value | None) -> str:
    """Return a value as a person would type it; a value that is not there is empty."""
    if value is None:
        return ""
    for word, meant in knob.words.items():
        if value == meant:
            return word
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def defaults(detail: PresetDetail) -> dict[str, str]:
    """Return every setting as it would be on that host, untouched."""
    return {
        name: value_text(knob, detail.default_values.get(name, knob.default))
        for name, knob in detail.preset.knobs.items()
    }


def knobs_view(
    detail: PresetDetail | None,
    typed: Mapping[str, str],
    *,
    searched: str = "",
    unfolded: bool,
    is_reading: bool = False,
    is_live: bool = True,
) -> KnobsView:
    """Return the rows; `typed` is what was changed, `searched` leaves out what does not match."""
    if detail is None:
        empty = t("Choose a preset to see its settings.")
        if not is_live:
            empty = t("The settings appear when the service answers.")
        elif is_reading:
            empty = t("Reading its settings.")
        return KnobsView(rows=(), rest=(), fold="", empty=empty, note="")
    rows = [_row(name, knob, detail, typed) for name, knob in _ordered(detail.preset.knobs)]
    words = searched.casefold().split()
    if words:
        found = tuple(row for row in rows if all(word in _said(row) for word in words))
        empty = "" if found else t("No setting has these words.")
        return KnobsView(rows=found, rest=(), fold="", empty=empty, note=_note(typed))
    front = tuple(row for row in rows if row.name in FIRST or row.is_changed)
    if not front:
        front = tuple(rows)
    rest = tuple(row for row in rows if row not in front)
    fold = t("Fewer settings") if unfolded else _more(len(rest))
    return KnobsView(
        rows=front,
        rest=rest if unfolded else (),
        fold=fold if rest else "",
        empty="" if rows else t("This preset has no settings."),
        note=_note(typed),
    )


def stepped(knob: Knob, text: str, steps: int) -> str | None:
    """Return a typed number some steps further; None where that cannot be said.

    A wide range is doubled and halved: contexts and bytes are thought of so.
    """
    if knob.choices or knob.kind not in (KnobKind.INT, KnobKind.FLOAT):
        return None
    try:
        now = float(text)
    except ValueError:
        return None
    low, high = knob.minimum, knob.maximum
    is_wide = low is not None and high is not None and high > max(1.0, low) * _WIDE
    if is_wide:
        after = now * 2.0**steps if now else float(max(0, steps))
    else:
        after = now + steps * (1 if knob.kind is KnobKind.INT else 0.01)
    after = min(after if low is None else max(after, low), float("inf") if high is None else high)
    return str(round(after)) if knob.kind is KnobKind.INT else f"{after:.2f}"


def _ordered(knobs: Mapping[str, Knob]) -> Iterable[tuple[str, Knob]]:
    first = [name for name in FIRST if name in knobs]
    return [(name, knobs[name]) for name in (*first, *(n for n in knobs if n not in first))]


def _row(name: str, knob: Knob, detail: PresetDetail, typed: Mapping[str, str]) -> KnobView:
    default = value_text(knob, detail.default_values.get(name, knob.default))
    value = typed.get(name, default)
    is_changed = name in typed and value != default
    left = t("left to the engine")
    expert = " · ".join(part for part in (name, _range(knob)) if part)
    meaning = told(knob.meaning)
    return KnobView(
        name=name,
        meaning=meaning,
        expert=expert,
        choices=_choices(knob, default),
        is_switch=knob.kind is KnobKind.BOOL and default != "",
        value=value,
        default=default,
        placeholder=left,
        is_changed=is_changed,
        was=t("before: {value}").format(value=default or left) if is_changed else "",
        size=_size(knob, value),
        spoken=t("{name}. {meaning}").format(name=name, meaning=meaning),
    )


def _choices(knob: Knob, default: str) -> tuple[str, ...]:
    if knob.kind is KnobKind.BOOL:
        return () if default else ("", "true", "false")
    if not knob.choices:
        return ()
    return knob.choices if default else ("", *knob.choices)


def _range(knob: Knob) -> str:
    unit = told(knob.unit or "")
    if knob.choices or knob.kind in (KnobKind.BOOL, KnobKind.STR):
        return unit
    low, high = _limit(knob, knob.minimum), _limit(knob, knob.maximum)
    if low and high:
        limits = t("{low} to {high}").format(low=low, high=high)
    elif low:
        limits = t("at least {low}").format(low=low)
    elif high:
        limits = t("at most {high}").format(high=high)
    else:
        limits = ""
    return f"{limits} {unit}".strip() if not _is_bytes(knob) else limits


def _limit(knob: Knob, value: float | None) -> str:
    if value is None:
        return ""
    return bytes_text(value) if _is_bytes(knob) else f"{value:,g}" if value < 1 else f"{value:,.0f}"


def _is_bytes(knob: Knob) -> bool:
    return knob.unit is not None and knob.unit.startswith("bytes")


def _size(knob: Knob, value: str) -> str:
    return bytes_text(int(value)) if _is_bytes(knob) and value.isdecimal() else ""


def _said(row: KnobView) -> str:
    return f"{row.expert} {row.meaning} {' '.join(row.choices)}".casefold()


def _more(count: int) -> str:
    return nt("{n} more setting", "{n} more settings", count).format(n=count)


def _note(typed: Mapping[str, str]) -> str:
    count = len(typed)
    return nt("{n} changed", "{n} changed", count).format(n=count) if count else ""
