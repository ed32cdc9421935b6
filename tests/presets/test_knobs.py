"""What people type after `--set`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.domain.errors import BadInput
from studio.domain.manifests import Knob, KnobKind
from studio.presets import knobs
from tests.presets.samples import knob, preset

CHOSEN = preset(
    knobs={
        "max_model_len": knob(default=2048, minimum=16, maximum=8192),
        "enforce_eager": knob("bool", default=True),
        "dtype": knob("str", default="auto", choices=["auto", "float32"]),
        "share": knob("float", default=0.9, minimum=0, maximum=1),
        "interval": knob(minimum=0, words={"dense": "None"}),
        "free": knob("str"),
    },
    fixed={"seed": 0},
)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("max_model_len", "4K", 4096),
        ("max_model_len", "4k", 4000),
        ("max_model_len", "4_096", 4096),
        ("max_model_len", " 4096 ", 4096),
        ("enforce_eager", "off", False),
        ("enforce_eager", "Yes", True),
        ("share", "0.5", 0.5),
        ("dtype", "float32", "float32"),
        ("interval", "dense", "None"),
        ("interval", "0", 0),
        ("free", "ü {x}", "ü {x}"),
    ],
)
def test_a_text_becomes_a_value(name: str, text: str, value: object) -> None:
    """`--set` is how a person changes anything."""
    assert knobs.read_overrides(CHOSEN, {name: text}) == {name: value}


@pytest.mark.parametrize(
    ("name", "text", "part"),
    [
        ("max_model_len", "many", "a whole number"),
        ("max_model_len", "8", "at least 16"),
        ("max_model_len", "9000", "at most 8,192"),
        ("max_model_len", "9" * 5000, "a whole number"),
        ("enforce_eager", "perhaps", "`true` or `false`"),
        ("dtype", "int3", "one of auto, float32"),
        ("share", "nan-ish", "a number"),
        ("share", "inf", "a number"),
        ("share", "1.5", "at most 1"),
        ("interval", "often", "or `dense`"),
        ("free", "a\0b", "fits a command line"),
    ],
)
def test_a_wrong_value_says_what_is_expected(name: str, text: str, part: str) -> None:
    """The person sees the knob, what it takes and what was typed."""
    with pytest.raises(BadInput, match=part) as caught:
        knobs.read_overrides(CHOSEN, {name: text})

    assert caught.value.code == "knob-value"
    assert text[:80] in caught.value.message


def test_a_misspelt_knob_is_told_its_neighbour() -> None:
    """People type hyphens where vLLM's own flags have them."""
    with pytest.raises(BadInput) as caught:
        knobs.read_overrides(CHOSEN, {"max-model-length": "1"})

    assert caught.value.code == "knob-unknown"
    assert "`max_model_len`" in (caught.value.hint or "")


def test_a_fixed_argument_says_how_it_can_be_changed() -> None:
    """It exists, so `there is no such knob` alone would puzzle."""
    with pytest.raises(BadInput) as caught:
        knobs.read_overrides(CHOSEN, {"seed": "1"})

    assert "weir presets copy test" in (caught.value.hint or "")


@given(st.sampled_from(sorted(CHOSEN.knobs)), st.text())
def test_any_text_is_a_value_or_an_error_of_ours(name: str, text: str) -> None:
    """What is typed never ends in a traceback."""
    code, value = None, None
    try:
        value = knobs.read_overrides(CHOSEN, {name: text})[name]
    except BadInput as error:
        code = error.code

    if value is None:
        assert code == "knob-value"
    else:
        assert knobs.fault_in(CHOSEN.knobs[name], value) is None


@pytest.mark.parametrize("text", ["5.2", "1.5.2G", "5,2 GiB", "10 apples"])
def test_a_size_that_cannot_be_read_says_how_sizes_are_written(text: str) -> None:
    """Sizes are copied from tables of every kind."""
    knob = Knob(kind=KnobKind.INT, default=1, meaning="Bytes.")

    said = knobs.fault_in(knob, text) or ""

    for way in ("`5GiB`", "`5500M`", "`32k`"):
        assert way in said
    assert knobs.fault_in(knob, "5500M") is None
    assert "GiB" not in (knobs.fault_in(knob, "many") or "")
