"""Writes the JSON schemas of recipes, presets, their parts and models, for editors.

    python -m installer.schemas

They are made from the very types that the Studio reads the files with, so they cannot differ.
"""

import ast
import inspect
import itertools
import json
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import msgspec

from studio.domain.manifests import ModelSpec, PresetFile, PresetPart, RuntimeRecipe

ROOT = Path(__file__).resolve().parents[1]
KINDS: dict[str, type[msgspec.Struct]] = {
    "runtimes/schema.json": RuntimeRecipe,
    "presets/schema.json": PresetFile,
    "presets/parts/schema.json": PresetPart,
    "presets/models/schema.json": ModelSpec,
}


def text_of(kind: type[msgspec.Struct]) -> str:
    """Return the schema of a document type, each key with the sentence that stands below it."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": kind.__name__,
        **msgspec.json.schema(kind),
    }
    known = {one.__name__: one for one in _structs(msgspec.Struct)}
    for name, part in schema["$defs"].items():
        said = _sentences(known[name]) if name in known else {}
        for key, inner in part.get("properties", {}).items():
            if key in said:
                inner["description"] = said[key]
    return json.dumps(schema, indent=2, ensure_ascii=False, sort_keys=True) + "\n"


def _structs(base: type) -> Iterator[type]:
    for one in base.__subclasses__():
        if one.__module__.startswith("studio.domain."):
            yield one
        yield from _structs(one)


def _sentences(kind: type) -> dict[str, str]:
    """Return field to the docstring below it, those of base classes included."""
    found: dict[str, str] = {}
    for one in reversed(kind.__mro__):
        if not one.__module__.startswith("studio.domain."):
            continue
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(one))).body
        assert isinstance(tree, ast.ClassDef)
        for field, text in itertools.pairwise(tree.body):
            if (
                isinstance(field, ast.AnnAssign)
                and isinstance(field.target, ast.Name)
                and isinstance(text, ast.Expr)
                and isinstance(text.value, ast.Constant)
                and isinstance(text.value.value, str)
            ):
                found[field.target.id] = " ".join(text.value.value.split())
    return found


def main() -> int:
    """Write them all; return the exit status."""
    for name, kind in KINDS.items():
        (ROOT / name).write_text(text_of(kind), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
