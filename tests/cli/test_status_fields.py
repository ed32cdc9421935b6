"""`weir status --json` and docs/user/commands.md say the same."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import msgspec.inspect as types

from studio.domain.control import Status, UpResult

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "user" / "commands.md"

_SIMPLE = {
    types.IntType: "integer",
    types.FloatType: "number",
    types.StrType: "text",
    types.BoolType: "boolean",
    types.NoneType: "null",
    types.StructType: "object",
}


def _type_text(kind: types.Type) -> str:
    match kind:
        case types.UnionType(types=several):
            return " or ".join(_type_text(one) for one in several)
        case types.EnumType(cls=choices):
            return "one of " + " ".join(sorted(str(choice.value) for choice in choices))
        case types.DictType(value_type=value):
            return f"object of {_type_text(value)}"
        case types.VarTupleType(item_type=item):
            return f"list of {_type_text(item)}"
    return _SIMPLE[type(kind)]


def _records(kind: types.Type) -> Iterator[tuple[str, types.StructType]]:
    match kind:
        case types.StructType():
            yield "", kind
        case types.UnionType(types=several):
            for one in several:
                yield from _records(one)
        case types.VarTupleType(item_type=item):
            for prefix, record in _records(item):
                yield f"[]{prefix}", record


def _fields(record: types.StructType, prefix: str = "") -> Iterator[tuple[str, str]]:
    if record.tag_field:
        yield prefix + record.tag_field, "text"
    for field in record.fields:
        name = prefix + field.encode_name
        yield name, _type_text(field.type)
        for suffix, inner in _records(field.type):
            yield from _fields(inner, f"{name}{suffix}.")


def _fields_of(kind: type[msgspec.Struct]) -> dict[str, str]:
    record = types.type_info(kind)
    assert isinstance(record, types.StructType)
    return dict(_fields(record))


def _documented(begin: str, end: str) -> dict[str, str]:
    text = DOCUMENT.read_text(encoding="utf-8").split(begin, 1)[1].split(end, 1)[0]
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| `")]
    assert all(len(row) == 3 and row[2].endswith(".") for row in rows)
    return {row[0].strip("`"): row[1] for row in rows}


def test_every_status_field_is_documented_with_its_type() -> None:
    """Other people's scripts read this; a change has to be written down where they look."""
    documented = _documented("<!-- fields: begin -->", "<!-- fields: end -->")

    assert documented == _fields_of(Status)


def test_what_up_prints_is_documented() -> None:
    """The same promise for `weir up --json`, where a key that was not made is left out."""
    documented = _documented("### What `weir up --json` prints", "\n## ")

    assert documented == _fields_of(UpResult) | {"api_key": "text"}
