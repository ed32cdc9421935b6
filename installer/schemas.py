"""Writes the JSON schemas of recipes and presets, for editors: runtimes/ and presets/schema.json.

    python -m installer.schemas

They are made from the very types that the Studio reads the files with, so they cannot differ.
"""

import json
import sys
from pathlib import Path

import msgspec

from studio.domain.manifests import Preset, RuntimeRecipe

ROOT = Path(__file__).resolve().parents[1]
KINDS = {"runtimes/schema.json": RuntimeRecipe, "presets/schema.json": Preset}


def text_of(kind: type[msgspec.Struct]) -> str:
    """Return the schema of a document type."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": kind.__name__,
        **msgspec.json.schema(kind),
    }
    return json.dumps(schema, indent=2, ensure_ascii=False, sort_keys=True) + "\n"


def main() -> int:
    """Write both; return the exit status."""
    for name, kind in KINDS.items():
        (ROOT / name).write_text(text_of(kind), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
