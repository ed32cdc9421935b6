"""What is changed in the fields of a request beside its messages. Each returns what it did.

A note says what changed in words and numbers of the rule's own, never in words of a prompt.
"""

from collections.abc import Iterator

from studio.gateway.draft import MISSING, Draft
from studio.gateway.traps import (
    Cap,
    DropField,
    MapValue,
    SchemaWords,
    StopWords,
    ToolFormats,
    Tools,
)

_DEEPEST = 40
"""A schema nested deeper than this is left to the engine."""
_TRUE = (True, 1, "true")
_NAMED = ("properties", "$defs", "definitions", "patternProperties")
"""Whose keys are names of a person's own."""
_PLAIN = ("const", "enum", "default", "examples")
"""What holds values, not schemas."""


def map_value(draft: Draft, action: MapValue) -> Iterator[str]:
    """Put the neighbour of a word that is not known."""
    for path in action.at:
        value = draft.get(path)
        if isinstance(value, str) and value in action.values:
            draft.set(path, action.values[value])
            yield f"{path} {value} → {action.values[value]}"


def drop_field(draft: Draft, action: DropField) -> Iterator[str]:
    """Take away a field that is refused as it is."""
    if action.unless_true is not None and _is_true(draft.get(action.unless_true)):
        return
    filled = action.unless_filled
    if filled is not None and draft.get(filled) not in (MISSING, None, []):
        return
    for path in action.at:
        value = draft.get(path)
        if value is MISSING:
            continue
        if not action.equals or any(_is_same(value, one) for one in action.equals):
            draft.drop(path)
            yield f"{path} left out"


def cap(draft: Draft, action: Cap, context_tokens: int | None) -> Iterator[str]:
    """Ask for no longer answer than the engine's context; what has to be shorter follows."""
    if context_tokens is None:
        return
    for path in action.at:
        value = draft.get(path)
        if not isinstance(value, int) or isinstance(value, bool) or value <= context_tokens:
            continue
        draft.set(path, context_tokens)
        yield f"{path} {value} → {context_tokens}"
        for lower in action.below:
            bound = draft.get(lower)
            if isinstance(bound, int) and bound >= context_tokens:
                draft.set(lower, context_tokens - 1)
                yield f"{lower} {bound} → {context_tokens - 1}"


def tools(draft: Draft, action: Tools) -> Iterator[str]:
    """Give tools the route's shape, and leave out those that this engine cannot run."""
    given = draft.get("tools")
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        return
    shaped = [_nested(one) if action.nest else one for one in given]
    kept = [one for one in shaped if _can_run(one, action)]
    nested = sum(one is not other for one, other in zip(given, shaped, strict=True))
    dropped = len(shaped) - len(kept)
    if not nested and not dropped:
        return
    draft.set("tools", kept)
    if nested:
        yield f"{nested} of the tools in the route's own shape"
    if dropped:
        yield f"{dropped} of the tools left out"
    if not kept:
        draft.drop("tools")
        draft.drop("tool_choice")


def _nested(tool: dict[str, object]) -> dict[str, object]:
    """Return a function that is written the way of responses the way of chats."""
    is_flat = tool.get("type") == "function" and isinstance(tool.get("name"), str)
    if not is_flat or "function" in tool:
        return tool
    inner = {name: value for name, value in tool.items() if name != "type"}
    return {"type": "function", "function": inner}


def _can_run(tool: dict[str, object], action: Tools) -> bool:
    is_other = action.type is not None and tool.get("type", action.type) != action.type
    return action.without in tool and not is_other


def tool_formats(draft: Draft, action: ToolFormats) -> Iterator[str]:
    """Leave away grammars of tools that the engine refuses."""
    given = draft.get("tools")
    count = 0
    for tool in given if isinstance(given, list) else []:
        form = tool.get("format") if isinstance(tool, dict) else None
        if isinstance(form, dict) and form.get("type") in action.drop:
            del tool["format"]
            count += 1
    if count:
        draft.touched()
        yield f"the grammar of {count} of the tools left out"


def stop_words(draft: Draft, action: StopWords) -> Iterator[str]:
    """Leave out stop words that are empty."""
    for path in action.at:
        value = draft.get(path)
        if value == "":
            draft.drop(path)
        elif isinstance(value, list) and "" in value:
            draft.set(path, [one for one in value if one != ""])
        else:
            continue
        yield f"empty words of {path} left out"


def schema_words(draft: Draft, action: SchemaWords) -> Iterator[str]:
    """Leave out what the engine's grammar refuses; the answer is bound a little less."""
    for path in action.at:
        found: set[str] = set()
        _strip(draft.get(path), action.drop, found, 0)
        if found:
            draft.touched()
            yield f"{', '.join(sorted(found))} left out of the schema"


def _strip(schema: object, words: tuple[str, ...], found: set[str], depth: int) -> None:
    """Take words out of a schema, but not out of the names of its properties."""
    if depth > _DEEPEST:
        return
    if isinstance(schema, list):
        for one in schema:
            _strip(one, words, found, depth + 1)
    if not isinstance(schema, dict):
        return
    for word in _used(schema, words):
        del schema[word]
        found.add(word)
    for name, value in schema.items():
        if name in _NAMED and isinstance(value, dict):
            _strip(list(value.values()), words, found, depth + 1)
        elif name not in _PLAIN:
            _strip(value, words, found, depth + 1)


def _used(schema: dict[str, object], words: tuple[str, ...]) -> list[str]:
    """Return those of the words that a schema uses."""
    return [word for word in words if word in schema]


def _is_true(value: object) -> bool:
    return any(_is_same(value, one) for one in _TRUE)


def _is_same(value: object, other: object) -> bool:
    """Tell whether two values of JSON are the same; true is not 1."""
    return type(value) is type(other) and value == other
