"""The window's texts and their catalogues."""

from pathlib import Path

import pytest

from installer import words

LANGUAGES = sorted(path for path in words.LOCALES.iterdir() if path.is_dir())
PO = """\
msgid ""
msgstr ""
"Content-Type: text/plain; charset=utf-8\\n"

msgid "Serve {name}"
msgstr "{translated}"
"""


@pytest.fixture
def language(tmp_path: Path) -> Path:
    """Return an empty Chinese folder."""
    folder = tmp_path / "zh_CN"
    folder.mkdir()
    return folder


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """Return sources with a text of each sort."""
    folder = tmp_path / "ui"
    (folder / "pages").mkdir(parents=True)
    (folder / "pages/keys.py").write_text(
        't("Serve {name}").format(name=1)\nplural(n, "key", "keys")\nmarked("Stop")\n'
    )
    return folder


@pytest.mark.parametrize("folder", LANGUAGES, ids=lambda path: path.name)
def test_every_language_is_complete_and_true_to_the_english(folder: Path) -> None:
    """Half a translation reads like a fault; a wrong place is a crash."""
    assert words.faults(folder, words.collected()) == []


@pytest.mark.parametrize("folder", LANGUAGES, ids=lambda path: path.name)
def test_the_compiled_catalogue_is_the_one_of_its_sources(folder: Path) -> None:
    """`make words` was forgotten when this fails."""
    assert (folder / words.COMPILED).read_bytes() == words.compiled(folder)


def test_texts_of_all_sorts_are_collected(sources: Path) -> None:
    """A text that is not collected is never translated."""
    found = words.collected(sources)

    assert set(found) == {"Serve {name}", "key", "Stop"}
    assert found["key"].identity == ("key", "keys")
    assert {text.area for text in found.values()} == {"keys"}


def test_new_texts_are_added_once_and_stand_as_missing_words(sources: Path, language: Path) -> None:
    """The file of an area is made by the first text of it."""
    texts = words.collected(sources)

    assert words.add_missing(language, texts) == 3
    assert words.add_missing(language, texts) == 0
    assert [path.name for path in language.glob("*.po")] == ["keys.po"]
    assert len(words.faults(language, texts)) == 3


@pytest.mark.parametrize(
    ("translated", "fault"),
    [
        ("提供 {name}", None),
        ("提供", "has other places than the English."),
        ("提供 {names}", "has other places than the English."),
        ("", "has no words."),
    ],
)
def test_faults_of_a_translation_are_named(
    language: Path, translated: str, fault: str | None
) -> None:
    """Each would be seen by a person otherwise."""
    (language / "keys.po").write_text(PO.replace("{translated}", translated), encoding="utf-8")
    texts = {"Serve {name}": words.Text("Serve {name}", None, "keys")}

    found = words.faults(language, texts)

    assert found[0].endswith(fault) if fault else found == [], found


def test_what_is_fuzzy_unused_or_there_twice_is_told(language: Path) -> None:
    """Three ways in which catalogues rot."""
    text = PO.replace("{translated}", "提供 {name}")
    (language / "keys.po").write_text(text.replace('msgid "S', '#, fuzzy\nmsgid "S'), "utf-8")
    (language / "logs.po").write_text(text, "utf-8")

    said = " ".join(words.faults(language, {}))

    assert "is fuzzy" in said
    assert "is not used any more" in said
    assert "stands in keys.po too" in said
