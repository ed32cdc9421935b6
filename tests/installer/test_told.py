"""Translations of what the window shows of shipped data."""

from pathlib import Path

import pytest

from installer import told, words

LANGUAGES = sorted(path for path in words.LOCALES.iterdir() if path.is_dir())
PRESET = """\
title = "Chat, fast"
summary = "Answers."
[knobs.dtype]
meaning = "Number format."
[[warnings]]
sentence = "{count} are too many."
source = "nobody's business"
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a tree with one preset."""
    (tmp_path / "presets").mkdir()
    (tmp_path / "presets/mine.toml").write_text(PRESET)
    return tmp_path


@pytest.fixture
def language(tmp_path: Path) -> Path:
    """Return an empty Chinese folder."""
    folder = tmp_path / "zh_CN"
    folder.mkdir()
    return folder


@pytest.mark.parametrize("folder", LANGUAGES, ids=lambda path: path.name)
def test_all_shipped_data_is_translated(folder: Path) -> None:
    """A new preset, alarm or failure needs its words in every language."""
    assert told.faults(folder, told.collected()) == []


@pytest.mark.parametrize("folder", LANGUAGES, ids=lambda path: path.name)
def test_what_the_window_reads_is_what_the_catalogues_say(folder: Path) -> None:
    """`make words` was forgotten when this fails."""
    assert (folder / told.COMPILED).read_bytes() == told.compiled(folder)


def test_what_people_read_is_collected_and_sources_are_not(root: Path) -> None:
    """A citation stays as it was published."""
    assert told.collected(root) == {
        "Chat, fast": "presets",
        "Answers.": "presets",
        "Number format.": "presets",
        "{count} are too many.": "presets",
    }


def test_names_and_units_are_the_same_everywhere(root: Path) -> None:
    """Nobody translates `Cherry Studio`."""
    (root / "presets/mine.toml").write_text('title = "Cherry Studio"\nsummary = "{sentence}"\n')

    assert told.collected(root) == {}


def test_a_new_text_is_added_once_and_stands_as_missing_words(root: Path, language: Path) -> None:
    """`make words` says what is left to do."""
    texts = told.collected(root)

    assert told.add_missing(language, texts) == 4
    assert told.add_missing(language, texts) == 0
    assert len(told.faults(language, texts)) == 4
    assert told.translated(language) == {}


def test_wrong_places_lost_texts_and_doubles_are_faults(root: Path, language: Path) -> None:
    """A place that the English lacks would be shown as it is written."""
    folder = language / told.FOLDER
    folder.mkdir()
    (folder / "presets.po").write_text(
        'msgid "Answers."\nmsgstr "Says {what}."\n\nmsgid "Gone."\nmsgstr "Weg."\n'
    )
    (folder / "wsl.po").write_text('msgid "Answers."\nmsgstr "Antwortet."\n')

    said = told.faults(language, told.collected(root))

    assert any("has not the places" in one for one in said)
    assert any("“Gone.” is not used any more" in one for one in said)
    assert any("stands in presets.po too" in one for one in said)
    assert any("“Chat, fast” is missing" in one for one in said)
