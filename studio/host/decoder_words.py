"""What the decoder of documents says, for people: types by their everyday names. Pure."""

import re
from collections.abc import Iterator

from msgspec import inspect

_EXPECTED = re.compile(r"Expected `(?P<wanted>[^`]*)`(?:, got `(?P<found>[^`]*)`)?")
_PLACE = re.compile(r" - at `\$\.?(?P<place>[^`]*)`$")
_TYPES = {
    "str": "a text",
    "int": "a whole number",
    "float": "a number",
    "bool": "`true` or `false`",
    "null": "`null`",
    "array": "a list",
    "object": "an object in braces",
}
_FOUND = {**_TYPES, "float": "a number with a point", "bool": "a truth value"}
_MOST_NAMED = 12


def in_words(message: str) -> str:
    """Return msgspec's sentence about a wrong type in plain words, the place first.

    `Expected `str | null`, got `float` - at `$.kernel`` is "`kernel` should be a text or left out,
    found a number with a point". Another sentence stays as it is.
    """
    found = _EXPECTED.match(message)
    if found is None:
        return message
    place = _PLACE.search(message)
    subject = f"`{place['place']}`" if place is not None and place["place"] else "The document"
    wanted = [_TYPES.get(one, f"`{one}`") for one in found["wanted"].split(" | ") if one != "null"]
    said = f"{subject} should be {' or '.join(wanted)}"
    if " | null" in found["wanted"]:
        said += " or left out"
    if found["found"]:
        said += f", found {_FOUND.get(found['found'], found['found'])}"
    return said


def missing_keys(raw: object, kind: object) -> tuple[str, ...]:
    """Return the places of all keys that `raw` (decoded JSON) lacks and `kind` requires."""
    return tuple(_missing(raw, inspect.type_info(kind), ""))


def missing_sentence(places: tuple[str, ...]) -> str:
    """Return which keys are missing, in words."""
    named = ", ".join(f"`{one}`" for one in places[:_MOST_NAMED])
    more = f" and {len(places) - _MOST_NAMED} more" if len(places) > _MOST_NAMED else ""
    return f"{named}{more} {'is' if len(places) == 1 else 'are'} missing"


def _missing(raw: object, kind: inspect.Type, place: str) -> Iterator[str]:
    for one in kind.types if isinstance(kind, inspect.UnionType) else (kind,):
        if isinstance(one, inspect.StructType) and isinstance(raw, dict):
            for field in one.fields:
                here = f"{place}.{field.encode_name}" if place else field.encode_name
                if field.encode_name in raw:
                    yield from _missing(raw[field.encode_name], field.type, here)
                elif field.required:
                    yield here
        elif isinstance(one, inspect.DictType) and isinstance(raw, dict):
            for key, value in raw.items():
                yield from _missing(value, one.value_type, f"{place}.{key}")
        elif isinstance(one, inspect.VarTupleType | inspect.ListType) and isinstance(raw, list):
            for index, value in enumerate(raw):
                yield from _missing(value, one.item_type, f"{place}[{index}]")
