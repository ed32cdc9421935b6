"""Changes to a preset's text: comments stay, nothing else changes, keys are refused."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.domain.errors import BadInput
from studio.host.paths import bundled_root
from studio.presets import text

BUNDLED = sorted((bundled_root() / "presets").glob("*.toml"))
ORIGIN = {"id": "a", "digest": "0" * 64, "program": "0.1"}
SMALL = """\
# Mine.
id = "a"   # the name
title = "A"

[values]
length = 5 # short

[knobs.length]
kind = "int"
"""


@pytest.mark.parametrize("path", BUNDLED, ids=lambda path: path.stem)
def test_every_shipped_preset_can_be_copied_and_changed(path: object) -> None:
    """With its comments, which explain it."""
    assert path in BUNDLED
    before = next(one for one in BUNDLED if one == path).read_text(encoding="utf-8")

    after = text.renamed(before, "mine", 'Mine "ü" \\', ORIGIN)
    after = text.with_values(after, {"max_model_len": 1234, "max_num_seqs": 3})

    document = tomllib.loads(after)
    assert document["id"] == "mine"
    assert document["title"] == 'Mine "ü" \\'
    assert document["values"]["max_model_len"] == 1234
    assert document["origin"] == ORIGIN
    assert before.splitlines()[0] in after


def test_a_value_is_changed_in_its_place_and_a_new_one_stands_beside() -> None:
    """The file stays the person's own."""
    after = text.with_values(SMALL, {"length": 7, "flag": True})

    assert "length = 7\nflag = true\n\n[knobs.length]" in after
    assert "# the name" in after
    assert tomllib.loads(text.with_values('id = "a"\n', {"x": 1.5}))["values"] == {"x": 1.5}


def test_a_copy_of_a_copy_has_one_origin() -> None:
    """Two tables of one name are no TOML."""
    once = text.renamed(SMALL, "b", None, ORIGIN)
    twice = text.renamed(once, "c", None, {**ORIGIN, "id": "b"})

    assert tomllib.loads(twice)["origin"]["id"] == "b"
    assert tomllib.loads(twice)["title"] == "A"


def test_a_text_that_cannot_be_changed_line_by_line_is_left_alone() -> None:
    """A value over several lines, for example."""
    odd = 'id = "a"\n[values]\nname = """\none\ntwo"""\n'

    with pytest.raises(BadInput) as caught:
        text.with_values(odd, {"name": "x"})

    assert caught.value.code == "preset-not-editable"


@given(st.text(st.characters(blacklist_categories=("Cs",))))
def test_any_text_can_be_a_value(value: str) -> None:
    """Quotes, control characters, other alphabets."""
    after = text.with_values("", {"x": value})

    assert tomllib.loads(after)["values"]["x"] == value


@pytest.mark.parametrize(
    ("document", "place"),
    [
        ({"environment": {"VLLM_API_KEY": "abc"}}, "environment.VLLM_API_KEY"),
        ({"environment": {"HF_TOKEN": "x"}}, "environment.HF_TOKEN"),
        ({"fixed": {"api_key": "x"}}, "fixed.api_key"),
        ({"structured": {"api_key": ["x"]}}, "structured.api_key"),
        ({"arguments": ["--api-key", "x"]}, "arguments[0]"),
        ({"arguments": ["--x", "--api-key=x"]}, "arguments[1]"),
        ({"summary": "use sk-weir-0123456789abcdef"}, "summary"),
        ({"rules": [{"environment": {"A": "hf_ABCDEFGHIJKLMNOPQ"}}]}, "rules[0].environment.A"),
    ],
)
def test_a_literal_key_is_found(document: dict[str, object], place: str) -> None:
    """Presets are copied and passed on."""
    with pytest.raises(BadInput) as caught:
        text.require_no_secret(document, "mine.toml")

    assert caught.value.code == "preset-secret"
    assert place in caught.value.message
    assert "abc" not in caught.value.message.replace("abcdef", "")


def test_shipped_presets_hold_no_key_and_are_not_taken_for_one() -> None:
    """`max_num_batched_tokens` is no token."""
    for path in BUNDLED:
        assert text.secret_in(tomllib.loads(path.read_text(encoding="utf-8"))) is None
