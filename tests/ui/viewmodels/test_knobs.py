"""Settings as rows: order, words, ranges, steps, search."""

import msgspec
import pytest

from studio.domain.manifests import Knob, KnobKind
from studio.ui.viewmodels.knobs import KnobView, defaults, knobs_view, stepped, value_text
from tests.ui.fake_planning import recorded_detail

DETAIL = recorded_detail()
CONTEXT = Knob(kind=KnobKind.INT, meaning="m", minimum=1_024, maximum=262_144)
SEATS = Knob(kind=KnobKind.INT, meaning="m", minimum=1, maximum=256)
SHARE = Knob(kind=KnobKind.FLOAT, meaning="m", minimum=0.3, maximum=0.98)
WORDS = Knob(kind=KnobKind.STR, meaning="m", words={"dense": "None"})


def row(name: str, typed: dict[str, str] | None = None) -> KnobView:
    """Return one row of the recorded preset."""
    view = knobs_view(DETAIL, typed or {}, unfolded=True)
    return next(one for one in (*view.rows, *view.rest) if one.name == name)


def test_what_decides_how_much_fits_stands_first_and_the_rest_is_folded() -> None:
    """Thirty rows at once are a wall."""
    view = knobs_view(DETAIL, {}, unfolded=False)

    assert [one.name for one in view.rows[:3]] == [
        "max_model_len",
        "max_num_seqs",
        "kv_cache_dtype",
    ]
    assert view.rest == ()
    assert view.fold.endswith("more settings")
    assert knobs_view(DETAIL, {}, unfolded=True).fold == "Fewer settings"


def test_a_changed_setting_is_never_folded_away() -> None:
    """A value that holds and cannot be seen is a trap."""
    view = knobs_view(DETAIL, {"attention_backend": "FLASHINFER"}, unfolded=False)

    changed = next(one for one in view.rows if one.name == "attention_backend")
    assert changed.is_changed
    assert changed.was == "before: FLASH_ATTN"
    assert view.note == "1 changed"


@pytest.mark.parametrize(
    ("name", "expert", "value"),
    [
        ("max_model_len", "max_model_len · 1,024 to 262,144 tokens", "65536"),
        ("kv_cache_memory_bytes", "kv_cache_memory_bytes · 256.0 MiB to 256.00 GiB", "5583457484"),
        ("gpu_memory_utilization", "gpu_memory_utilization · 0.3 to 0.98", "0.93"),
        ("enable_prefix_caching", "enable_prefix_caching", "true"),
        ("block_size", "block_size · 16 to 16,384 tokens", ""),
    ],
)
def test_name_range_and_value_are_said_as_people_read_them(
    name: str, expert: str, value: str
) -> None:
    """The name is what `--set` takes; what is left to the engine is empty and says so."""
    found = row(name)

    assert (found.expert, found.value) == (expert, value)
    assert found.placeholder == "left to the engine"


def test_bytes_are_said_in_a_unit_beside_the_field() -> None:
    """Nobody reads ten digits; what is typed with a unit is left to the service to read."""
    assert row("kv_cache_memory_bytes").size == "5.20 GiB"
    assert row("kv_cache_memory_bytes", {"kv_cache_memory_bytes": "6GiB"}).size == ""


def test_a_choice_that_may_be_left_to_the_engine_has_an_empty_line() -> None:
    """And one with a value has none."""
    assert row("dtype").choices[0] == ""
    assert row("kv_cache_dtype").choices[0] == "bfloat16"
    assert row("enable_prefix_caching").is_switch


@pytest.mark.parametrize(
    ("searched", "found"),
    [("context length", ["max_model_len"]), ("FLASHINFER", ["attention_backend"]), ("qqq", [])],
)
def test_a_search_looks_at_names_meanings_and_choices(searched: str, found: list[str]) -> None:
    """Whoever knows a word of it finds it; nothing found is said."""
    view = knobs_view(DETAIL, {}, searched=searched, unfolded=False)

    assert [one.name for one in view.rows] == found
    assert bool(view.empty) is not bool(found)


@pytest.mark.parametrize(
    ("knob", "text", "steps", "after"),
    [
        (SEATS, "8", 1, "9"),
        (SEATS, "1", -1, "1"),
        (SEATS, "255", 4, "256"),
        (CONTEXT, "65536", 1, "65537"),
        (SHARE, "0.93", 1, "0.94"),
        (SHARE, "0.98", 1, "0.98"),
        (SEATS, "many", 1, None),
        (WORDS, "dense", 1, None),
    ],
)
def test_arrow_keys_step_within_the_range(
    knob: Knob, text: str, steps: int, after: str | None
) -> None:
    """They never leave it, and words are not stepped."""
    assert stepped(knob, text, steps) == after


def test_a_range_of_bytes_is_doubled_and_halved() -> None:
    """One byte more is no step."""
    wide = msgspec.structs.replace(CONTEXT, minimum=1 << 28, maximum=1 << 40)

    assert stepped(wide, str(1 << 30), 1) == str(1 << 31)
    assert stepped(wide, str(1 << 28), -1) == str(1 << 28)


def test_values_are_written_as_they_are_typed() -> None:
    """The words that may stand for a value come back as words."""
    assert value_text(WORDS, "None") == "dense"
    assert value_text(SEATS, True) == "true"
    assert value_text(SEATS, None) == ""
    assert defaults(DETAIL)["max_num_seqs"] == "8"


def test_no_preset_says_what_to_do() -> None:
    """An empty card looks broken."""
    assert knobs_view(None, {}, unfolded=False).empty == "Choose a preset to see its settings."
    read = knobs_view(None, {}, unfolded=False, is_reading=True)
    assert read.empty == "Reading its settings."
