"""Where a figure of a plan comes from."""

import tomllib
from collections.abc import Iterator

import pytest

from studio.ui import language, told
from studio.ui.viewmodels.sources import source_words
from tests.ui.conftest import ASSETS

SEEN = "as seen here on 2026-11-30"
PLANNER = ASSETS.parent / "presets" / "planner"
_LISTS = {"memory": "terms", "processor": "parts", "boots": "rows"}


@pytest.fixture
def chinese() -> Iterator[None]:
    """Speak Chinese for one test."""
    language.speak("zh_CN", ASSETS)
    yield
    language.speak("en", ASSETS)


def shipped() -> Iterator[str]:
    """Yield every source that the planner's data name."""
    for name, rows in _LISTS.items():
        for row in tomllib.loads((PLANNER / f"{name}.toml").read_text("utf-8"))[rows]:
            yield row["source"]


def test_english_stays_as_it_is() -> None:
    """With one source, with several, and with none."""
    for source in ("", "the rest of the card", "one; another; and one more"):
        assert source_words(source) == source


@pytest.mark.usefixtures("chinese")
@pytest.mark.parametrize("source", sorted(set(shipped())))
def test_each_shipped_source_has_its_words_alone_and_beside_another(source: str) -> None:
    """Several terms of a ledger's row are one text; a mark inside one of them divides nothing."""
    said = language.told(source)
    assert source_words(source) == said
    other = language.told(SEEN)
    assert other != SEEN

    assert source_words(f"{SEEN}; {source}") == f"{other}；{said}"
    assert source_words(f"{source}; {SEEN}") == f"{said}；{other}"


@pytest.mark.usefixtures("chinese")
@pytest.mark.parametrize(
    "source",
    [
        "seen on this machine",
        "as seen here on 2026-11-30, with other settings",
        "the headers of the model's files, cast",
        "the sizes of the model's tensors",
        "92 % of the card, less all that lies beside it",
        "40 % of the memory, less what the worker holds",
        "92 % of the card, less all that lies beside it, moved by what was seen here on 2026-11-30",
        "what the rest leaves of them; 12.00 GiB lie in the machine's memory",
        "the experts that the cards have no room for",
        "`kv_cache_memory_bytes`; 2,912 blocks of 1.75 MiB",
        "what a machine that was tested had beside that",
        "what the preset asks for",
        "`kv_offloading_size`, over all ranks",
        "HyperQwen: 2.1 GiB of host memory with EMBED_UVA=1",
        "the tier's region is a file in /dev/shm",
        "what the recipe and the model's page say, less what is here",
        "what the driver reports of the card",
        "the rest of the card",
    ],
)
def test_each_source_that_the_planner_puts_together_has_its_words(source: str) -> None:
    """Nothing of it stays English but names, figures and settings."""
    said = source_words(source)

    assert said != source
    assert not {"the", "what", "less", "blocks", "over", "seen"} & set(said.split())


def test_a_preset_of_the_persons_own_keeps_its_words() -> None:
    """Its author wrote them."""
    assert told.NOTHING.say("as I measured") == "as I measured"
