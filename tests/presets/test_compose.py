"""A file, its parts and its models as one preset; mistakes say where."""

from typing import Any

import msgspec
import pytest

from studio.domain.errors import BadInput
from studio.domain.manifests import ModelSpec, Preset, PresetFile, PresetPart
from studio.presets.compose import compose
from tests.presets.samples import knob

MODEL = {
    "id": "tiny", "title": "Tiny", "licence": "none", "origin": "here", "disk_bytes": 1,
    "files": ["config.json"],
}  # fmt: skip
FILE: dict[str, Any] = {
    "schema_version": 1, "id": "test", "title": "T", "expert": "e", "summary": "s",
    "runtime": "rt", "served_name": "tiny", "model": "tiny", "uses": ["a", "b"],
}  # fmt: skip
A = {
    "schema_version": 1,
    "title": "A",
    "knobs": {"length": knob(default=1, minimum=1, maximum=9), "gap": knob(words={"all": "None"})},
    "environment": {"X": "a", "Y": "a"},
    "structured": {"config": {"one": 1, "two": 2}},
    "rules": [{"name": "r", "why": "a"}, {"name": "s", "why": "a"}],
}
B = {
    "schema_version": 1,
    "title": "B",
    "environment": {"X": "b"},
    "structured": {"config": {"two": 3}},
    "rules": [{"name": "r", "why": "b"}, {"name": "t", "why": "b"}],
}


def made(a: dict[str, Any] | None = None, **parts: Any) -> Preset:
    """Compose the file with these parts of it."""
    return compose(
        msgspec.convert({**FILE, **parts}, PresetFile),
        {
            "a": msgspec.convert({**A, **(a or {})}, PresetPart),
            "b": msgspec.convert(B, PresetPart),
        },
        {"tiny": msgspec.convert(MODEL, ModelSpec)},
        where="presets/test.toml",
    )


def test_later_parts_win_and_the_preset_wins_over_all() -> None:
    """A value stands in one place, and the nearest counts."""
    preset = made(environment={"Z": "own"}, values={"length": 5})

    assert preset.environment == {"X": "b", "Y": "a", "Z": "own"}
    assert preset.structured == {"config": {"one": 1, "two": 3}}
    assert [(rule.name, rule.why) for rule in preset.rules] == [("r", "b"), ("s", "a"), ("t", "b")]
    assert preset.knobs["length"].default == 5
    assert preset.model.id == "tiny"
    assert preset.drafter is None


def test_a_word_stands_for_its_value() -> None:
    """`dense` is what people write, `None` what the engine reads."""
    assert made(values={"gap": "all"}).knobs["gap"].default == "None"


def test_a_model_may_be_described_on_the_spot() -> None:
    """That is how a preset of any folder is made."""
    preset = made(model={**MODEL, "id": "other"}, drafter="tiny")

    assert [spec.id for spec in preset.models] == ["other", "tiny"]


def test_several_runtimes_are_a_knob() -> None:
    """`--set runtime=NAME` chooses; one alone is nothing to choose."""
    preset = made(other_runtimes=["rt2"])

    assert preset.knobs["runtime"].choices == ("rt", "rt2")
    assert preset.runtimes == ("rt", "rt2")
    assert "runtime" not in made().knobs


@pytest.mark.parametrize(
    ("parts", "fault", "hint"),
    [
        ({"uses": ["x"]}, "no part `x`", "There are: a, b."),
        ({"model": "tinny"}, "no model `tinny`", "Did you mean `tiny`?"),
        ({"drafter": "x"}, "no model `x`", "There are: tiny."),
        ({"values": {"length_": 1}}, "`values.length_`", "Did you mean `length`?"),
        ({"values": {"length": 10}}, "the value of `length` should be at most 9", None),
        ({"values": {"length": "x"}}, "should be a whole number", None),
        ({"rules": [{"name": "q", "why": "", "set": {"length": 0}}]}, "`rules.q` sets", None),
        (
            {"rules": [{"name": "q", "why": "", "when": {"settings": {"length_": {}}}}]},
            "`rules.q` names the setting `length_`",
            "Did you mean `length`?",
        ),
        (
            {"warnings": [{"name": "q", "when": {}, "sentence": "{length_}"}]},
            "`warnings.q` uses the placeholder {length_}",
            "Did you mean `length`?",
        ),
        (
            {
                "refusals": [
                    {
                        "name": "q", "sentence": "",
                        "when": {"settings": {"length": {"no_multiple_of": "block"}}},
                    }
                ]
            },
            "the setting `block`",
            None,
        ),
        ({"knobs": {"k": knob(within="config")}}, "`knobs.k.within`", None),
        ({"derived": {"d": {"of": ["nothing"]}}}, "`derived.d` names", None),
        ({"environment": {"V": "{moon}"}}, "placeholder {moon}", None),
        ({"rules": [{"name": "q", "why": "", "unset": ["moon"]}]}, "leaves out `moon`", None),
    ],
)  # fmt: skip
def test_what_nobody_defines_is_named_with_its_place(
    parts: dict[str, Any], fault: str, hint: str | None
) -> None:
    """People write these files by hand."""
    with pytest.raises(BadInput) as caught:
        made(**parts)

    assert caught.value.code == "document-invalid"
    assert caught.value.message.startswith("presets/test.toml: ")
    assert fault in caught.value.message
    if hint is not None:
        assert caught.value.hint == hint
