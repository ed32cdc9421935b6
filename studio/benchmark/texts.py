"""Prompts, made of data and numbers: the same ones in every run, without a tokenizer. Pure.

Sentences are put together by a checksum of their number, so that a text is plain English, never
repeats a sentence nearby, and can be made to any length.
"""

import zlib
from collections.abc import Sequence
from typing import TypedDict

from studio.benchmark.load import Texts

WORDS_PER_TOKEN = 0.78
"""English prose of this kind, until the engine has counted: 1.28 tokens a word."""


class Message(TypedDict):
    """One message of a conversation, as the engine takes it."""

    role: str
    content: str


def document(texts: Texts, words: int, seed: str) -> str:
    """Return prose of exactly `words` words (at least one)."""
    found: list[str] = []
    number = 0
    while len(found) < words:
        found += _sentence(texts, seed, number).split()
        number += 1
    return " ".join(found[: max(1, words)])


def _sentence(texts: Texts, seed: str, number: int) -> str:
    slots = (texts.who, texts.did, texts.what, texts.where, texts.when, texts.outcome)
    who, did, what, where, when, outcome = (
        _pick(choices, f"{seed}:{number}:{slot}") for slot, choices in enumerate(slots)
    )
    return f"{who} {did} {what} {where} {when}, {outcome}."


def _pick(choices: Sequence[str], key: str) -> str:
    return choices[zlib.crc32(key.encode()) % len(choices)]


def task(texts: Texts, number: int) -> list[Message]:
    """Return a question with a long answer."""
    return [_user(texts.tasks[number % len(texts.tasks)])]


def copying(texts: Texts, words: int) -> list[Message]:
    """Return the wish to have a text repeated."""
    return [_user(texts.copy.format(document=document(texts, words, "copy")))]


def reading(texts: Texts, words: int) -> list[Message]:
    """Return a long prompt with a short question."""
    return [_user(texts.prefill.format(document=document(texts, words, "prefill")))]


def turn(texts: Texts, words: int, number: int) -> list[Message]:
    """Return a conversation up to its turn `number`, counted from 0; answers are written here.

    The engine's own would make the next prompt depend on what it said.
    """
    first = texts.turns_first.format(document=document(texts, words, "turns"))
    messages = [_user(first)]
    for past in range(number):
        answer = texts.turns_answers[past % len(texts.turns_answers)]
        question = texts.turns_questions[past % len(texts.turns_questions)]
        messages += [Message(role="assistant", content=answer), _user(question)]
    return messages


def _user(content: str) -> Message:
    return Message(role="user", content=content)
