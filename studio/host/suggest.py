"""From the sentence about a misspelt key in a document to the key that was meant. Pure."""

import difflib
import re
from collections.abc import Iterator

from msgspec import inspect

_UNKNOWN = re.compile(r"unknown field `(?P<field>[^`]*)`(?: - at `(?P<place>[^`]*)`)?")
_STEP = re.compile(r"\.(?P<name>[^.\[]+)|\[(?P<index>[^\]]*)\]")


def guess(message: str, kind: object) -> str | None:
    """Return a hint that names the likely key, when `message` is about an unknown one.

    `message` is msgspec's, about a document of the type `kind`.
    """
    found = _UNKNOWN.search(message)
    if found is None:
        return None
    # The decoder says where: `$.packages.wheels[0]`, and `[...]` for a key of the person's own.
    known: list[str] = []
    for struct in _structs_at(inspect.type_info(kind), found["place"] or "$"):
        known += [field.encode_name for field in struct.fields]
    close = difflib.get_close_matches(found["field"], known, n=1, cutoff=0.5)
    if close:
        return f"Did you mean `{close[0]}`?"
    return f"Known here: {', '.join(sorted(known))}." if known else None


def _structs_at(start: inspect.Type, place: str) -> list[inspect.StructType]:
    here = [start]
    for step in _STEP.finditer(place):
        here = [after for one in here for after in _stepped(one, step["name"])]
    return [
        one for each in here for one in _alternatives(each) if isinstance(one, inspect.StructType)
    ]


def _stepped(one: inspect.Type, name: str | None) -> Iterator[inspect.Type]:
    """Yield the types behind one step: a field, or (without a name) an item of a collection."""
    for kind in _alternatives(one):
        if isinstance(kind, inspect.StructType) and name is not None:
            yield from (field.type for field in kind.fields if field.encode_name == name)
        elif isinstance(kind, inspect.DictType) and name is None:
            yield kind.value_type
        elif isinstance(kind, inspect.VarTupleType | inspect.ListType) and name is None:
            yield kind.item_type


def _alternatives(kind: inspect.Type) -> tuple[inspect.Type, ...]:
    return kind.types if isinstance(kind, inspect.UnionType) else (kind,)
