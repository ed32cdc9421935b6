"""The window's words in another language."""

from pathlib import Path

import pytest
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

from studio.ui import language

CATALOGUE = """\
msgid ""
msgstr ""
"Content-Type: text/plain; charset=utf-8\\n"
"Plural-Forms: nplurals=2; plural=(n != 1);\\n"

msgid "Serve"
msgstr "Servir"

msgid "{count} key"
msgid_plural "{count} keys"
msgstr[0] "{count} clé"
msgstr[1] "{count} clés"
"""


@pytest.fixture
def assets(tmp_path: Path):
    """Return assets with one French catalogue; English is spoken again afterwards."""
    folder = tmp_path / "locale/fr/LC_MESSAGES"
    folder.mkdir(parents=True)
    (tmp_path / "fr.po").write_text(CATALOGUE, encoding="utf-8")
    with (tmp_path / "fr.po").open("rb") as source, (folder / "weir.mo").open("wb") as target:
        write_mo(target, read_po(source))
    yield tmp_path
    language.speak("en", tmp_path)


def test_texts_and_plurals_come_in_the_language_spoken(assets: Path) -> None:
    """The same call, other words."""
    assert language.t("Serve") == "Serve"

    language.speak("fr", assets)

    assert language.t("Serve") == "Servir"
    assert language.nt("{count} key", "{count} keys", 1).format(count=1) == "1 clé"
    assert language.nt("{count} key", "{count} keys", 2).format(count=2) == "2 clés"


def test_what_has_no_words_there_stays_english(assets: Path) -> None:
    """An unknown language, an unknown text and nothing at all are no errors."""
    language.speak("fr", assets)
    assert language.t("Never translated") == "Never translated"
    assert language.t("") == ""

    language.speak("xx", assets)
    assert language.t("Serve") == "Serve"


def test_a_marked_text_waits_for_its_use(assets: Path) -> None:
    """A table at module level must not keep the language of its import."""
    table = {"serve": language.marked("Serve")}
    language.speak("fr", assets)

    assert table["serve"] == "Serve"
    assert language.t(table["serve"]) == "Servir"


@pytest.mark.parametrize(
    ("system", "expected"),
    [
        (["zh-Hans-CN", "zh-CN", "zh"], "zh_CN"),
        (["zh_CN"], "zh_CN"),
        (["zh"], "zh_CN"),
        (["zh-Hant-TW", "zh-TW", "en"], "en"),
        (["zh-TW", "zh-CN"], "zh_CN"),
        (["de-DE", "de"], "en"),
        (["de-DE", "zh-CN"], "zh_CN"),
        (["en-GB", "zh-CN"], "en"),
        (["C"], "en"),
        ([], "en"),
    ],
)
def test_the_systems_languages_choose_ours(system: list[str], expected: str) -> None:
    """The first one that we speak, in the system's order."""
    assert language.suited(system) == expected


def test_chinese_is_spoken_from_the_real_catalogue() -> None:
    """The compiled file is where the window looks for it."""
    assets = Path(__file__).resolve().parents[2] / "assets"
    try:
        language.speak("zh_CN", assets)
        assert language.t("Settings") == "设置"
        assert language.nt("request", "requests", 3) == "个请求"
    finally:
        language.speak("en", assets)
