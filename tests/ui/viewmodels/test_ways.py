"""Commands in sentences of the service, told as the window's own pages and buttons."""

from pathlib import Path

import pytest

from studio.ui import language
from studio.ui.viewmodels.ways import Ways, read


@pytest.fixture(scope="module")
def ways() -> Ways:
    """Return the shipped places."""
    return read(Path(__file__).resolve().parents[3] / "assets/ways.toml")


def plain(text: str) -> str:
    """Say English."""
    return text


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (
            "It goes on; `weir runtime updates` says why.",
            "It goes on; `Runtimes › Update` says why.",
        ),
        ("`weir plan 27b-huge` says what fits here.", "`Plan` says what fits here."),
        ("If it is private, `weir models login`.", "If it is private, `Models › Hubs…`."),
        ("`weir runtime install cpu-vllm` first.", "`Runtimes › Install` first."),
        ("Type `weir service run --autostart`.", "Type `weir service run --autostart`."),
        ("`weir plan --model` or `weir up`.", "`weir plan --model` or `weir up`."),
        ("No command at all.", "No command at all."),
    ],
)
def test_a_command_with_a_button_becomes_the_button(ways: Ways, said: str, shown: str) -> None:
    """Whoever sits in the window is not sent to a terminal for what stands in front of them."""
    assert ways.here(said, plain) == shown


def test_every_place_is_called_as_it_is_in_both_languages(ways: Ways, assets: Path) -> None:
    """The words are those of rail and buttons: one that is none of them has no translation."""
    language.speak("zh_CN", assets)
    try:
        unknown = {
            part
            for parts in (*ways.plain.values(), *ways.named.values())
            for part in parts
            if language.t(part) == part
        }
        assert unknown == set()
        assert language.told("See what fits with `weir presets`.") == "用 `运行` 看看哪些适合。"
    finally:
        language.speak("en", assets)


def test_without_the_file_sentences_stay(tmp_path: Path) -> None:
    """A window without its data says what the service said."""
    assert (
        read(tmp_path / "ways.toml").here("`weir plan` says it.", plain) == "`weir plan` says it."
    )
