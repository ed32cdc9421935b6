"""What a preset of the person's own becomes when its original changed: values, no texts. Pure.

The text is made elsewhere and read again: only what reads as `Wanted.values` is written.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from studio.domain.errors import BadInput
from studio.domain.manifests import Preset
from studio.domain.presets import ChangeKind, ValueChange
from studio.domain.rules import Value
from studio.presets.compare import Values


class NotMeant(Exception):
    """A text does not read as what is wanted."""


class Texts(NamedTuple):
    """The two files, as they are."""

    mine: str
    theirs: str


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """The preset that is wanted."""

    values: Values
    """Every value by its place."""
    kept: tuple[str, ...] = ()
    """Places where it differs from the original, as that is now."""
    taken: tuple[str, ...] = ()
    """Places where it differs from what the person has."""

    def knobs_of(self, preset: Preset, names: Sequence[str]) -> dict[str, Value]:
        """Return those of the names that are knobs with a value."""
        return {
            name: self.values[name]
            for name in names
            if name in preset.knobs and isinstance(self.values.get(name), bool | int | float | str)
        }


def wanted(
    preset_id: str,
    mine: Mapping[str, object],
    changes: Sequence[ValueChange],
    take: Sequence[str] | None,
) -> Wanted:
    """Return what comes of the changes; `take` names those whose value is the original's.

    Raises: BadInput (`preset-change-unknown`).
    """
    differing = {one.name: one for one in changes if one.kind is not ChangeKind.BOTH}
    unknown = next((name for name in take or () if name not in differing), None)
    if unknown is not None:
        raise BadInput(
            "preset-change-unknown",
            f"`{unknown}` is nothing that `{preset_id}` and its original differ in.",
            hint=f"`weir presets diff {preset_id}` lists what they differ in.",
        )
    if take is None:
        take = [name for name, one in differing.items() if one.kind is ChangeKind.UPDATE]
    values = dict(mine)
    for name in take:
        if differing[name].theirs is None:
            values.pop(name, None)
        else:
            values[name] = differing[name].theirs
    return Wanted(
        values=values,
        kept=tuple(name for name in differing if name not in take),
        taken=tuple(take),
    )
