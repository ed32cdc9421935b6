"""What differs between presets: two of them, or a copy, its original then and now. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from studio.domain.manifests import Preset
from studio.domain.presets import ChangeKind, ValueChange

Values = dict[str, Any]
_ASIDE = (
    "schema_version", "id", "title", "expert", "summary", "origin", "is_own", "rank", "expected",
    "unverified",
)  # fmt: skip
"""What says who a preset is, and not what it serves."""
_SAID = frozenset(("meaning", "why", "source", "sentence", "hint", "title", "note", "what"))
"""Words for people, inside of what is compared."""


def values_of(preset: Preset) -> Values:
    """Return every value of a preset by its place; a knob's default by the knob's name alone."""
    document = msgspec.to_builtins(preset)
    kept = {name: value for name, value in document.items() if name not in _ASIDE}
    return dict(_leaves(kept, ""))


def two_way(mine: Values, theirs: Values) -> tuple[ValueChange, ...]:
    """Return what differs between two presets."""
    return tuple(
        ValueChange(
            name=name, kind=ChangeKind.DIFFERS, mine=mine.get(name), theirs=theirs.get(name)
        )
        for name in _names(mine, theirs)
        if mine.get(name) != theirs.get(name)
    )


def three_way(base: Values, mine: Values, theirs: Values) -> tuple[ValueChange, ...]:
    """Return what you and the update changed since the copy was made."""
    changes = []
    for name in _names(base, mine, theirs):
        was, yours, now = base.get(name), mine.get(name), theirs.get(name)
        kind = _kind(was, yours, now)
        if kind is not None:
            changes.append(ValueChange(name=name, kind=kind, base=was, mine=yours, theirs=now))
    return tuple(changes)


def _kind(was: object, yours: object, now: object) -> ChangeKind | None:
    if yours == now:
        return None if yours == was else ChangeKind.BOTH
    if yours == was:
        return ChangeKind.UPDATE
    return ChangeKind.YOURS if now == was else ChangeKind.CONFLICT


def _names(*sides: Values) -> list[str]:
    return list(dict.fromkeys(name for side in sides for name in side))


def _leaves(value: object, place: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, one in value.items():
            if key in _SAID:
                continue
            yield from _leaves(one, f"{place}.{key}" if place else str(key))
    elif isinstance(value, list | tuple) and value and all(_has_name(one) for one in value):
        for one in value:
            rest = {key: inner for key, inner in one.items() if key != "name"}
            yield from _leaves(rest, f"{place}.{one['name']}")
    elif value is not None and value not in ({}, [], ()):
        yield _short(place), value


def _has_name(one: object) -> bool:
    return isinstance(one, Mapping) and isinstance(one.get("name"), str)


def _short(place: str) -> str:
    if place.startswith("knobs.") and place.endswith(".default"):
        return place.removeprefix("knobs.").removesuffix(".default")
    return place
