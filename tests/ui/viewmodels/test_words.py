"""Words and the splitting of numbers."""

from pathlib import Path

import pytest

from studio.domain.server import BootPhase
from studio.ui.language import speak
from studio.ui.viewmodels.charts import unit_words
from studio.ui.viewmodels.words import (
    PHASE_WORDS,
    listed,
    named,
    number,
    number_and_unit,
    plural,
)

ASSETS = Path(__file__).resolve().parents[3] / "assets"


def test_every_boot_phase_has_words() -> None:
    """A phase without words would be a crash in the middle of a boot."""
    assert set(PHASE_WORDS) == set(BootPhase)


@pytest.mark.parametrize(
    ("text", "parts"),
    [("68,605 tokens", ("68,605", "tokens")), ("0 B", ("0", "B")), ("–", ("–", ""))],
)
def test_a_number_and_its_unit_come_apart(text: str, parts: tuple[str, str]) -> None:
    """Big figure, small unit; an unknown has none."""
    assert number_and_unit(text) == parts
    assert number(text) == parts[0]


def test_one_is_not_many() -> None:
    """`1 keys` reads like a machine."""
    assert plural(1, "key", "keys") == "1 key"
    assert plural(1_200, "key", "keys") == "1,200 keys"


def test_marks_and_units_are_those_of_the_language() -> None:
    """“正常：系统, 内存” and “失败: x” are Chinese words with English marks."""
    assert listed(["a", "b"]) == "a, b"
    assert named("Failed", "x") == "Failed: x"
    speak("zh_CN", ASSETS)
    try:
        assert listed(iter(["内存", "磁盘"])) == "内存、磁盘"
        assert named("失败", "x") == "失败：x"
        assert unit_words("requests") == "个请求"
    finally:
        speak("en", ASSETS)
