"""Prompts that are the same in every run."""

from studio.benchmark import texts
from tests.benchmark.samples import LOAD

TEXTS = LOAD.texts


def test_a_document_has_the_words_that_were_asked_for() -> None:
    """Its length in tokens is made of them."""
    for words in (1, 7, 500, 4_000):
        assert len(texts.document(TEXTS, words, "x").split()) == words


def test_a_document_is_the_same_each_time_and_another_for_another_seed() -> None:
    """A run can only be compared with one that asked the same."""
    assert texts.document(TEXTS, 300, "a") == texts.document(TEXTS, 300, "a")
    assert texts.document(TEXTS, 300, "a") != texts.document(TEXTS, 300, "b")


def test_a_long_document_does_not_repeat_itself() -> None:
    """A drafter that looks words up would guess a text of repetitions right."""
    sentences = texts.document(TEXTS, 5_000, "copy").split(". ")

    assert len(set(sentences)) == len(sentences)


def test_a_longer_document_begins_like_a_shorter_one() -> None:
    """So that a length can be found by making it longer."""
    assert texts.document(TEXTS, 400, "a").startswith(texts.document(TEXTS, 200, "a"))


def test_each_turn_begins_with_all_of_the_turn_before() -> None:
    """That is what the prefix cache can find."""
    for number in range(4):
        before, after = texts.turn(TEXTS, 50, number), texts.turn(TEXTS, 50, number + 1)
        assert after[: len(before)] == before
        assert [one["role"] for one in after[len(before) :]] == ["assistant", "user"]


def test_the_text_to_copy_stands_in_the_prompt() -> None:
    """Else there is nothing to quote."""
    prompt = texts.copying(TEXTS, 60)[0]["content"]

    assert prompt.endswith(texts.document(TEXTS, 60, "copy"))
    assert texts.document(TEXTS, 60, "prefill") in texts.reading(TEXTS, 60)[0]["content"]
    assert texts.task(TEXTS, 0) == texts.task(TEXTS, len(TEXTS.tasks))
