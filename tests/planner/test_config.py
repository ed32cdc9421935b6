"""Reading a `config.json` by kinds."""

import pytest

from studio.domain.errors import BadInput
from studio.planner.config import Config, overridden, text_config


def test_the_first_name_that_is_there_wins() -> None:
    """Families spell one thing differently, and null means absent."""
    found = Config({"a": None, "b": 4, "c": 5})

    assert found.whole("a", "b", "c") == 4
    assert found.whole("z") is None


@pytest.mark.parametrize("value", ["4", 4.5, True, -1, [4]])
def test_another_kind_is_refused_by_name(value: object) -> None:
    """A damaged file is told from an unknown model."""
    with pytest.raises(BadInput) as refused:
        Config({"num_hidden_layers": value}).whole("num_hidden_layers")

    assert "num_hidden_layers" in refused.value.message


def test_texts_flags_and_objects_ignore_other_kinds() -> None:
    """They decide less, so another kind counts as absent."""
    found = Config({"text": 1, "flag": "yes", "list": "abc", "inner": [1], "ok": ["a", 1]})

    assert found.text("text") is None
    assert found.flag("flag") is None
    assert found.texts("list") is None
    assert found.inner("inner") is None
    assert found.texts("list", "ok") == ("a", "1")


def test_a_wrapper_is_opened_and_its_word_on_numbers_kept() -> None:
    """Two wrappers deep, as omni models are."""
    outer = Config(
        {
            "torch_dtype": "bfloat16",
            "thinker_config": {"text_config": {"num_hidden_layers": 4, "model_type": "x_text"}},
        }
    )

    found = text_config(outer)

    assert found.whole("num_hidden_layers") == 4
    assert found.text("model_type") == "x_text"
    assert found.text("torch_dtype") == "bfloat16"


def test_a_model_that_states_its_layers_is_no_wrapper() -> None:
    """Some language models carry a nested object for another purpose."""
    outer = Config({"num_hidden_layers": 4, "text_config": {"vocab_size": 9}})

    assert text_config(outer) is outer


@pytest.mark.parametrize(
    ("overrides", "expected"),
    [
        (None, {"n": 1, "text_config": {"a": 1, "b": 2}, "rope_scaling": {"f": 4}}),
        ({"n": 2}, {"n": 2, "text_config": {"a": 1, "b": 2}, "rope_scaling": {"f": 4}}),
        (
            '{"text_config": {"a": 9}, "rope_scaling": {"g": 1}}',
            {"n": 1, "text_config": {"a": 9, "b": 2}, "rope_scaling": {"g": 1}},
        ),
    ],
)
def test_overrides_change_a_configuration_as_the_engine_does(
    overrides: object, expected: dict[str, object]
) -> None:
    """A person who serves half of the layers asks about half of the layers."""
    stored = {"n": 1, "text_config": {"a": 1, "b": 2}, "rope_scaling": {"f": 4}}

    assert overridden(stored, overrides) == expected
    assert stored["n"] == 1


@pytest.mark.parametrize("overrides", ["[1]", "no", 5])
def test_overrides_that_are_no_object_are_refused(overrides: object) -> None:
    """The engine would refuse them with a traceback."""
    with pytest.raises(BadInput) as caught:
        overridden({}, overrides)

    assert caught.value.code == "knob-value"
