"""The library in words."""

import msgspec
import pytest

from studio.domain.library import (
    CheckedResult,
    CheckState,
    Library,
    LostModel,
    ModelEntry,
    ModelFacts,
)
from studio.ui.viewmodels.models import (
    ModelDeed,
    ModelView,
    empty_words,
    found,
    lost_words,
    matching,
    model_rows,
    model_view,
    parameters_text,
    summary,
)
from studio.ui.viewmodels.words import Text
from tests.ui import pseudo
from tests.ui.fake_models import CHECKING, GGUF, MODELS, PARTLY, QWEN, TINY, FakeModels
from tests.ui.fake_service import FakeService

replace = msgspec.structs.replace
LIBRARY = FakeModels(FakeService()).library()


def shown(view: ModelView) -> list[ModelDeed]:
    """Return which buttons are there."""
    return [deed for deed, button in view.deeds if button.visible]


def test_a_row_tells_what_a_person_chooses_by() -> None:
    """State, size, weights, who uses it."""
    rows = {row.id: [cell.text for cell in row.cells] for row in model_rows(LIBRARY)}

    assert rows[QWEN.path] == [
        QWEN.name, "Ready", "27.4 B", "AWQ 4 bit", "17.00 GiB", "chat-fast, long, many",
    ]  # fmt: skip
    assert rows[TINY.path][1:] == [
        "Unproven", "135 M", "BF16", "257.5 MiB", "engine: cpu-demo",
    ]  # fmt: skip
    blank = replace(QWEN, facts=ModelFacts(), uses=("a", "b", "c", "d"))
    cells = model_rows(Library(models=(blank,)))[0].cells
    assert [cells[2].text, cells[3].text, cells[5].text] == ["–", "–", "a, b, c +1"]
    assert cells[2].value is None
    assert "Neither config nor headers" in cells[2].tooltip


@pytest.mark.parametrize(
    ("count", "words"),
    [(None, "–"), (134_515_008, "135 M"), (27_400_000_000, "27.4 B"), (999, "999"),
     (1_020_000_000_000, "1.02 T")],
)  # fmt: skip
def test_parameters_are_told_as_people_say_them(count: int | None, words: str) -> None:
    """27.4 B, not 27,400,000,000."""
    assert parameters_text(count) == words


def test_what_is_missing_damaged_or_twice_is_said_with_its_size() -> None:
    """A preset that will not start should be no surprise."""
    partly = model_view(PARTLY, (), is_live=True, is_busy=False)
    assert "Missing: model.safetensors, 1.40 GiB" in partly.reasons
    assert shown(partly) == [ModelDeed.FETCH, ModelDeed.CHECK, ModelDeed.REMOVE]
    broken = model_view(GGUF, (), is_live=True, is_busy=False)
    assert f"Damaged: {GGUF.name}" in broken.reasons
    assert any("mistral-copy" in one for one in broken.reasons)
    assert shown(broken) == [ModelDeed.CHECK, ModelDeed.REMOVE]
    assert model_view(QWEN, (), is_live=True, is_busy=False).reasons == ()


def test_a_check_under_way_shows_how_far_it_is_and_can_be_stopped() -> None:
    """It may take an hour."""
    view = model_view(TINY, (CHECKING,), is_live=True, is_busy=False)

    assert view.check is not None
    assert view.check.word == "Checking every byte"
    assert view.check.amount == "114.4 MiB of 257.5 MiB, 0.9 s left"
    assert ModelDeed.STOP in shown(view)
    over = replace(CHECKING, state=CheckState.DONE)
    assert model_view(TINY, (over,), is_live=True, is_busy=False).check is None


def test_who_holds_and_reads_a_model_is_not_known_while_nobody_tells() -> None:
    """What lies on the disk may stay; the engine may be gone."""
    held = replace(TINY, in_use_by="the engine of cpu-demo", check=CHECKING)
    assert "the engine" in model_rows(Library(models=(held,)))[0].cells[-1].text

    view = model_view(held, (CHECKING,), is_live=False, is_busy=False)

    assert view.check is None
    assert not any("the engine" in text.text for _name, text in view.facts)
    cells = model_rows(Library(models=(held,)), is_live=False)[0].cells
    assert "the engine" not in cells[-1].text


def test_facts_name_origin_proof_and_last_check() -> None:
    """What was compared with what, and when."""
    last = CheckedResult(at_s=1_796_000_000.0, files=14, compared=12)
    view = model_view(replace(QWEN, last_check=last), (), is_live=True, is_busy=False)

    facts = {name: text.text for name, text in view.facts}
    assert facts["Origin"] == "Qwen/Qwen3.8-27B-AWQ · c1899de289a0 (main)"
    assert facts["Proven"].endswith(", against Hugging Face")
    assert facts["Last check"].endswith("12 of 14 files compared")
    assert facts["Used by"] == "chat-fast, long, many"


def test_a_first_check_does_not_read_as_if_it_had_failed() -> None:
    """“0 of 6 files compared” stood beside “6 of 6 proven byte by byte”."""
    last = CheckedResult(at_s=1_796_000_000.0, files=6, compared=0)
    entry = replace(QWEN, last_check=last, proven_by="import")

    facts = {name: text.text for name, text in _facts_of(entry)}
    assert facts["Proven"].endswith(", against what it was at its first check")
    assert "0 of 6" not in facts["Last check"]
    damaged = replace(entry, last_check=replace(last, damaged=("a",)))
    facts = {name: text.text for name, text in _facts_of(damaged)}
    assert "0 of 6 files compared" in facts["Last check"]


def _facts_of(entry: ModelEntry) -> tuple[tuple[str, Text], ...]:
    return model_view(entry, (), is_live=True, is_busy=False).facts


def test_buttons_rest_without_a_service_and_say_why() -> None:
    """A dead button without a word is a riddle."""
    view = model_view(QWEN, (), is_live=False, is_busy=False)

    assert not any(button.enabled for _deed, button in view.deeds)
    assert all("service" in button.tooltip for _deed, button in view.deeds)


def test_a_model_that_another_hand_took_away_is_named_with_who_needs_it() -> None:
    """A preset that worked yesterday wants 20 GB today: nobody understands that without a word."""
    lost = LostModel(
        name="owner/name", path="/big/name", uses=("fast", "long"), size_bytes=7, seen_at_s=0.0
    )
    away = msgspec.structs.replace(lost, is_folder_gone=True)

    removed, unmounted = lost_words(Library(lost=(lost, away))).splitlines()

    assert removed.startswith("owner/name, which fast, long needs, was removed or moved from /big/")
    assert unmounted.endswith("lies in /big/name, and that folder is not there now.")
    assert lost_words(LIBRARY) == lost_words(None) == ""


def test_the_foot_counts_and_the_empty_page_says_the_next_step() -> None:
    """What lies here twice is room that could be free."""
    assert summary(LIBRARY) == "4 models · 32.37 GiB · 14.00 GiB of it lie here twice"
    assert summary(None) == ""
    assert "Get one from a hub" in empty_words(Library(), is_live=True)
    assert "when the service answers" in empty_words(None, is_live=False)
    assert empty_words(LIBRARY, is_live=True) == ""
    assert found(LIBRARY, MODELS[1].path) == MODELS[1]
    assert found(None, "x") is None


def test_every_word_that_is_sought_has_to_stand_somewhere() -> None:
    """State and weights count as much as the name."""
    rows = model_rows(LIBRARY)

    assert [row.id for row in matching(rows, " q4_K  damaged ")] == [GGUF.path]
    assert matching(rows, "") == rows
    assert matching(rows, "none") == ()
    assert "none" in empty_words(LIBRARY, is_live=True, sought=" none ")


def test_who_holds_a_model_and_what_is_wrong_with_it_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Both are sentences of the service, and went around its catalogue."""
    pseudo.speak(monkeypatch)
    held = replace(QWEN, in_use_by="the engine (chat, ready)", problems=("A file is empty.",))

    row = model_rows(Library(models=(held,)))[0]
    view = model_view(held, (), is_live=True, is_busy=False)

    assert row.cells[5].text == "××× ×××××× (××××, ×××××)"
    assert view.reasons[-1] == "× ×××× ×× ×××××."
    assert any("××× ××××××" in fact.text for _, fact in view.facts)
