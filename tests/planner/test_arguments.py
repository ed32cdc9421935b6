"""The engine's own names, typed by people."""

import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.domain.errors import BadInput
from studio.host.documents import read_toml
from studio.planner.arguments import Arguments, read

ROOT = Path(__file__).resolve().parents[2]
KNOWN = read_toml(ROOT / "runtimes" / "arguments.toml", Arguments)


def test_the_words_of_the_manual_are_read() -> None:
    """The line that people copy from a recipe."""
    found = read(
        {
            "kv_cache_memory_bytes": "5583457484",
            "max_model_len": "65536",
            "kv_cache_dtype": "auto",
            "enable_prefix_caching": "true",
            "gpu_memory_utilization": "0.93",
            "speculative_config": '{"method": "mtp", "num_speculative_tokens": 3}',
        },
        KNOWN,
    )

    assert found == {
        "kv_cache_memory_bytes": 5_583_457_484,
        "max_model_len": 65_536,
        "kv_cache_dtype": "auto",
        "enable_prefix_caching": True,
        "gpu_memory_utilization": 0.93,
        "speculative_config": {"method": "mtp", "num_speculative_tokens": 3},
    }


@pytest.mark.parametrize(
    ("text", "value"),
    [("64k", 64_000), ("64K", 65_536), ("5.2G", 5_583_457_485), ("4_096", 4096), ("1g", 10**9)],
)
def test_suffixes_mean_what_they_mean_to_the_engine(text: str, value: int) -> None:
    """A small letter is thousands there; a plan with another meaning would be of another pool."""
    assert read({"kv_cache_memory_bytes": text}, KNOWN) == {"kv_cache_memory_bytes": value}


@pytest.mark.parametrize(
    ("typed", "full"),
    [
        ("--max-model-len", "max_model_len"),
        ("kv_cache_memory", "kv_cache_memory_bytes"),
        ("tp", "tensor_parallel_size"),
        ("max_num_batched", "max_num_batched_tokens"),
    ],
)
def test_short_forms_become_the_full_name(typed: str, full: str) -> None:
    """Launch scripts in the wild use them all."""
    assert list(read({typed: "2"}, KNOWN)) == [full]


def test_a_misspelt_name_is_told_what_was_meant() -> None:
    """Silently ignored, the plan would be of the default."""
    with pytest.raises(BadInput) as caught:
        read({"max_modle_len": "4096"}, KNOWN)

    assert caught.value.code == "knob-unknown"
    assert caught.value.hint == "Did you mean `max_model_len`?"


def test_a_name_like_no_other_is_told_where_names_stand() -> None:
    """No guess is better than a wild one."""
    with pytest.raises(BadInput) as caught:
        read({"zzzzqqqq": "1"}, KNOWN)

    assert "vllm serve --help=all" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("max_model_len", "many"),
        ("max_model_len", "1.5"),
        ("enable_prefix_caching", "perhaps"),
        ("gpu_memory_utilization", "nan%"),
        ("gpu_memory_utilization", "inf"),
        ("speculative_config", "{method: mtp}"),
        ("max_num_seqs", ""),
        ("max_num_seqs", "0"),
        ("tensor_parallel_size", "-1"),
        ("kv_cache_memory_bytes", "-5"),
        ("gpu_memory_utilization", "5"),
    ],
)
def test_a_value_of_another_kind_is_refused_by_name(name: str, text: str) -> None:
    """The engine would refuse it too, minutes later."""
    with pytest.raises(BadInput) as caught:
        read({name: text}, KNOWN)

    assert caught.value.code == "knob-value"
    assert f"`{name}` should be" in caught.value.message


def test_one_setting_under_two_names_is_a_contradiction() -> None:
    """Which of the two should count?"""
    with pytest.raises(BadInput) as caught:
        read({"kv_cache_memory": "1", "kv_cache_memory_bytes": "2"}, KNOWN)

    assert caught.value.code == "knob-twice"


def test_the_engine_s_own_choice_of_context_is_taken() -> None:
    """`-1` and `auto` let the engine take the longest that fits."""
    assert read({"max_model_len": "auto"}, KNOWN) == {"max_model_len": -1}
    assert read({"max_model_len": "-1"}, KNOWN) == {"max_model_len": -1}


@given(st.dictionaries(st.text(max_size=30), st.text(max_size=30), max_size=3))
def test_anything_typed_is_read_or_refused(texts: dict[str, str]) -> None:
    """Hostile input ends with a sentence, never with a traceback."""
    with contextlib.suppress(BadInput):
        assert set(read(texts, KNOWN)) <= set(KNOWN.kinds())
