"""Days and moments in the window's language."""

from pathlib import Path

import pytest

from studio.ui.language import speak
from studio.ui.viewmodels.dates import day_text, epoch_text, instant_text, recent_text

ASSETS = Path(__file__).resolve().parents[3] / "assets"


@pytest.mark.parametrize("text", [None, "", "yesterday", "2026-13-45"])
def test_an_instant_that_is_none_is_a_dash(text: str | None) -> None:
    """Never used is not the same as used in 1970."""
    assert instant_text(text) == "–"
    assert day_text(text) == "–"
    assert recent_text(text) == "–"
    assert epoch_text(None) == "–"


def test_instants_are_local_and_have_a_year() -> None:
    """Without a zone the text is taken as it stands."""
    assert instant_text("2026-11-09T05:07:00") == "9 Nov 2026, 05:07"
    assert day_text("2026-01-31T05:07:00") == "31 Jan 2026"
    assert recent_text("2026-01-31T05:07:00") == "31 Jan, 05:07"
    assert len(epoch_text(1_796_000_000.0)) >= len("1 Nov 2026, 05:07")


def test_a_chinese_day_is_written_as_one() -> None:
    """The year comes first there, and months are numbers."""
    speak("zh_CN", ASSETS)
    try:
        assert day_text("2026-11-09T05:07:00") == "2026年11月9日"
        assert instant_text("2026-11-09T05:07:00") == "2026年11月9日 05:07"
        assert recent_text("2026-01-31T05:07:00") == "1月31日 05:07"
    finally:
        speak("en", ASSETS)
