"""Fields of requests, rule by rule; whole requests are tested in test_adjust.py."""

import json

import msgspec
import pytest

from studio.gateway import trap_fields
from studio.gateway.draft import Draft
from studio.gateway.traps import Cap, DropField, SchemaWords, Tools


def draft(body: dict) -> Draft:
    """Return a body under change."""
    raw = json.dumps(body).encode()
    return Draft(msgspec.json.decode(raw, type=dict[str, msgspec.Raw]), "/v1/chat/completions")


@pytest.mark.parametrize(
    ("body", "goes"),
    [
        ({"tool_choice": "auto"}, True),
        ({"tool_choice": "auto", "tools": []}, True),
        ({"tool_choice": "auto", "tools": None}, True),
        ({"tool_choice": "auto", "tools": [{}]}, False),
        ({"tool_choice": "required"}, False),
        ({"tool_choice": None}, False),
        ({"tools": []}, False),
    ],
)
def test_a_choice_goes_only_where_there_is_nothing_to_choose(body: dict, goes: bool) -> None:
    """Who requires a tool and sends none has made a mistake that the engine should name."""
    action = DropField(at=("tool_choice",), equals=("auto", "none"), unless_filled="tools")
    one = draft(body)

    assert bool(list(trap_fields.drop_field(one, action))) is goes
    assert one.is_changed is goes


@pytest.mark.parametrize(
    ("value", "expected"),
    [(100, None), (2_048, None), (2_049, 2_048), ("9999", None), (True, None), (9.5e3, None)],
)
def test_only_a_number_above_the_context_is_lowered(value: object, expected: int | None) -> None:
    """What is no number is the engine's to refuse."""
    one = draft({"max_tokens": value})

    notes = list(trap_fields.cap(one, Cap(at=("max_tokens",)), 2_048))

    assert one.get("max_tokens") == (value if expected is None else expected)
    assert bool(notes) is (expected is not None)
    assert list(trap_fields.cap(one, Cap(at=("max_tokens",)), None)) == []


def test_words_go_from_schemas_and_not_from_names() -> None:
    """A property may be called `contains`, and an example may hold anything."""
    schema = {
        "properties": {"contains": {"contains": {}, "default": {"contains": 1}}},
        "anyOf": [{"contains": {}}, {"items": {"contains": {}}}],
        "enum": [{"contains": 1}],
    }
    one = draft({"s": schema})

    notes = list(trap_fields.schema_words(one, SchemaWords(at=("s",), drop=("contains",))))

    assert notes == ["contains left out of the schema"]
    assert json.loads(one.body())["s"] == {
        "properties": {"contains": {"default": {"contains": 1}}},
        "anyOf": [{}, {"items": {}}],
        "enum": [{"contains": 1}],
    }


def test_a_schema_without_end_is_left_alone() -> None:
    """Nested deeper than any that means something."""
    schema: dict = {"contains": {}}
    for _ in range(200):
        schema = {"items": schema}
    one = draft({"s": schema})

    assert list(trap_fields.schema_words(one, SchemaWords(at=("s",), drop=("contains",)))) == []
    assert not one.is_changed


def test_tools_that_are_no_objects_are_the_engines_business() -> None:
    """It says what is wrong with them."""
    one = draft({"tools": ["f", 1]})

    assert list(trap_fields.tools(one, Tools(without="function"))) == []
    assert not one.is_changed
