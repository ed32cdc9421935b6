"""The decoder's sentences in plain words: a person who wrote JSON by hand is no programmer."""

import msgspec
import pytest

from studio.domain.hardware import HostSnapshot
from studio.host.decoder_words import in_words, missing_keys, missing_sentence


@pytest.mark.parametrize(
    ("message", "said"),
    [
        (
            "Expected `str | null`, got `float` - at `$.kernel`",
            "`kernel` should be a text or left out, found a number with a point",
        ),
        ("Expected `int`, got `str` - at `$.gpus[0].index`",
         "`gpus[0].index` should be a whole number, found a text"),
        ("Expected `object`, got `array`",
         "The document should be an object in braces, found a list"),
        ("Expected `int` >= 0 - at `$.a`", "`a` should be a whole number"),
        ("Something else - at `$.a`", "Something else - at `$.a`"),
    ],
)  # fmt: skip
def test_types_have_everyday_names(message: str, said: str) -> None:
    """`str | null` is no word of a person's."""
    assert in_words(message) == said


def test_what_the_decoder_really_says_is_understood() -> None:
    """Its sentences may change with a release; then this fails."""
    raw = {"system": "l", "machine": "x", "os_name": "x", "kernel": 1.5}
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.convert(raw, HostSnapshot)

    assert in_words(str(caught.value)).startswith("`kernel` should be a text or left out")


def test_all_missing_keys_are_named_at_once() -> None:
    """One at a time is three tries."""
    found = missing_keys({"gpus": [{"name": "x"}]}, HostSnapshot)

    assert {"system", "machine", "os_name", "gpus[0].index"} <= set(found)
    assert missing_sentence(("a",)) == "`a` is missing"
    assert missing_sentence(("a", "b")) == "`a`, `b` are missing"
    assert missing_sentence(("a",) * 14).endswith("and 2 more are missing")
