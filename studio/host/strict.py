"""Finds a key that a document's type does not know. Pure.

For types that must stay open on the wire (an older client reads a newer service's answers), but
whose files a person may write: there a misspelt key would otherwise be silently unknown.
"""

import dataclasses
from collections.abc import Iterator

from msgspec import inspect


@dataclasses.dataclass(frozen=True, slots=True)
class UnknownKey:
    """A key that means nothing where it stands."""

    place: str
    """As msgspec writes it: `$.gpus[0]`."""
    key: str

    @property
    def sentence(self) -> str:
        """Return it in the words that msgspec would use."""
        return f"Object contains unknown field `{self.key}` - at `{self.place}`"


def unknown_key(raw: object, kind: object) -> UnknownKey | None:
    """Return the first key of `raw` (decoded JSON) that the type `kind` does not know."""
    return next(_unknown(raw, inspect.type_info(kind), "$"), None)


def _unknown(raw: object, kind: inspect.Type, place: str) -> Iterator[UnknownKey]:
    for one in kind.types if isinstance(kind, inspect.UnionType) else (kind,):
        if isinstance(one, inspect.StructType) and isinstance(raw, dict):
            fields = {field.encode_name: field.type for field in one.fields}
            for key, value in raw.items():
                if key not in fields:
                    yield UnknownKey(place, str(key))
                else:
                    yield from _unknown(value, fields[key], f"{place}.{key}")
        elif isinstance(one, inspect.DictType) and isinstance(raw, dict):
            for key, value in raw.items():
                yield from _unknown(value, one.value_type, f"{place}.{key}")
        elif isinstance(one, inspect.VarTupleType | inspect.ListType) and isinstance(raw, list):
            for index, value in enumerate(raw):
                yield from _unknown(value, one.item_type, f"{place}[{index}]")
