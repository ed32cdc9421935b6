"""The schemas beside the data: made from the types, and never older than these."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from installer import schemas


@pytest.mark.parametrize("name", list(schemas.KINDS))
def test_a_schema_is_not_stale(name: str) -> None:
    """An editor that follows an old schema marks good files as bad: run `make schema`."""
    assert (schemas.ROOT / name).read_text("utf-8") == schemas.text_of(schemas.KINDS[name])


def test_writing_them_changes_nothing_when_they_are_fresh() -> None:
    """Equal types give equal bytes."""
    before = {name: (schemas.ROOT / name).read_bytes() for name in schemas.KINDS}

    assert schemas.main() == 0

    assert {name: (schemas.ROOT / name).read_bytes() for name in schemas.KINDS} == before


def _faults(value: object, schema: dict[str, Any], root: dict[str, Any], place: str) -> list[str]:
    """Return where a document has a key that its schema does not know."""
    while "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rpartition("/")[2]]
    for one in schema.get("anyOf", ()):
        if one.get("type") != "null" and ("$ref" in one or one.get("type") in ("object", "array")):
            return _faults(value, one, root, place)
    if isinstance(value, list):
        return [
            fault
            for index, item in enumerate(value)
            for fault in _faults(item, schema["items"], root, f"{place}[{index}]")
        ]
    is_open = not {"properties", "additionalProperties"} & schema.keys()
    if not isinstance(value, dict) or is_open:
        return []
    faults = [
        f"{place}: {key} is missing" for key in schema.get("required", ()) if key not in value
    ]
    for key, item in value.items():
        inner = schema.get("properties", {}).get(key, schema.get("additionalProperties"))
        if not isinstance(inner, dict):
            faults.append(f"{place}.{key} is unknown")
        else:
            faults += _faults(item, inner, root, f"{place}.{key}")
    return faults


FILES = sorted(
    [
        *schemas.ROOT.glob("runtimes/*/runtime.toml"), *schemas.ROOT.glob("presets/*.toml"),
        *schemas.ROOT.glob("presets/parts/*.toml"), *schemas.ROOT.glob("presets/models/*.toml"),
    ]
)  # fmt: skip


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(schemas.ROOT)))
def test_every_shipped_file_follows_its_schema(path: Path) -> None:
    """What the Studio reads, an editor must not underline."""
    folder = path.parent.parent if path.name == "runtime.toml" else path.parent
    schema = json.loads((folder / "schema.json").read_text("utf-8"))

    assert _faults(tomllib.loads(path.read_text("utf-8")), schema, schema, "$") == []


def test_a_misspelt_key_does_not_follow_the_schema() -> None:
    """The check above can fail."""
    path = schemas.ROOT / "runtimes" / "cpu-vllm-0.31.0" / "runtime.toml"
    document = tomllib.loads(path.read_text("utf-8").replace("disk_bytes", "disc_bytes"))
    schema = json.loads((schemas.ROOT / "runtimes" / "schema.json").read_text("utf-8"))

    assert _faults(document, schema, schema, "$") == [
        "$.needs: disk_bytes is missing",
        "$.needs.disc_bytes is unknown",
    ]


def test_every_key_of_a_condition_is_explained() -> None:
    """Who writes a preset finds the whole language in the schema."""
    schema = json.loads((schemas.ROOT / "presets" / "schema.json").read_text("utf-8"))
    said = schema["$defs"]["Condition"]["properties"]

    assert "one of these counts" in said["cards"]["description"]
    assert "description" in schema["$defs"]["SettingTest"]["properties"]["above_default"]
    assert (
        "In the user's words" in schema["$defs"]["PresetFile"]["properties"]["title"]["description"]
    )
